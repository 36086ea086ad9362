package render

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
)

// Tools returns the list of the tools that a page offers.
func Tools(r *domtapv1.ListToolsResponse) string {
	if len(r.GetTools()) == 0 {
		return "The page offers no tools.\n"
	}
	list := text.Tools(r.GetTools(), Line)
	if r.GetIncomplete() {
		list += "… and more\n"
	}
	return list
}

// ToolAnswer returns what a tool claims, whether that agrees with what was observed, and what changed.
func ToolAnswer(r *domtapv1.CallToolResponse) string {
	observed := r.GetObserved()
	answer := ""
	for _, result := range observed.GetResults() {
		answer += Line(result.GetSummary()) + "\n"
	}
	answer += Clean(text.Claim(r.GetClaim()))
	if r.GetClaim().GetOutputCut() {
		answer += "… cut: --max-tokens prints more\n"
	}
	if words := text.Agreement(r.GetAgreement()); words != "" {
		answer += words + "\n"
	}
	return answer + text.Requests(r.GetRequests(), Line) + Outcome(&domtapv1.InteractResponse{
		Verdict: observed.GetVerdict(), Tab: observed.GetTab(), NewTabId: observed.GetNewTabId(), Diff: observed.GetDiff(), DiffText: observed.GetDiffText(),
		Outcome: observed.GetOutcome(),
	})
}
