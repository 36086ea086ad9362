package pages

import (
	"context"
	"fmt"
	"strings"

	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/audit"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

const (
	// defaultAudit and defaultFindings are the defaults of max_tokens and max_findings.
	defaultAudit    = 2000
	defaultFindings = 200
	// leastAudit is the minimum of max_tokens.
	leastAudit = 200
)

// Audit searches the page for accessibility barriers.
func (s *Service) Audit(ctx context.Context, r *domtapv1.AuditRequest) (*domtapv1.AuditResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	got, err := query.FindBarriers(ctx, tab)
	if err != nil {
		return nil, err
	}
	var facts []audit.Facts
	missing := got.Missing
	for _, one := range got.Found {
		f, err := audit.Read(one.Frame, one.Data)
		if err != nil { // the page has replaced built-in functions that the script needs
			if one.Frame == "" {
				return nil, fmt.Errorf("auditing tab %s: %w", tab.ID(), err)
			}
			missing++
			continue
		}
		facts = append(facts, f)
	}
	page := got.Reading.Head.Snapshot
	report := audit.Make(page.Elements.Slice(), facts)
	if r.GetErrorsOnly() {
		report.Findings = report.Findings[:report.Errors]
	}
	seen := tabview.State{Snapshot: page, Mark: got.Reading.Mark}
	s.Views.Of(tab).SetState(connections.Caller(ctx, ""), seen) // a caller may act on a ref that it has received
	return auditMessage(r, page, report, missing), nil
}

func auditMessage(r *domtapv1.AuditRequest, page *dom.Snapshot, report audit.Report, missing int) *domtapv1.AuditResponse {
	most, budget := defaultFindings, defaultAudit
	if r.MaxFindings != nil {
		most = int(r.GetMaxFindings())
	}
	if r.MaxTokens != nil {
		budget = int(r.GetMaxTokens())
	}
	resp := &domtapv1.AuditResponse{Errors: int32(report.Errors), Warnings: int32(report.Warnings), Vitals: vitalsMessage(report.Vitals), Tokenizer: tokens.Name,
		Url: page.URL, Title: page.Title, FramesMissing: int32(missing), ContrastUnknown: int32(report.UnknownTexts), Truncated: report.Truncated || page.Limited}
	shown := report.Findings[:min(len(report.Findings), most)]
	lines := elementLines(page, shown)
	for i, f := range shown {
		one := &domtapv1.AuditFinding{Rule: f.Rule.Name, Level: domtapv1.AuditLevel(f.Rule.Level), Criterion: f.Rule.Criterion, Conformance: f.Rule.Conformance,
			FrameId: string(f.Frame), Element: lines[i], Message: f.Message}
		if f.Ref != dom.NoRef {
			ref := uint32(f.Ref)
			one.Ref = &ref
		}
		resp.Findings = append(resp.Findings, one)
	}
	header := compact.Lines(compact.Header{URL: page.URL, Title: page.Title}.Within(leastAudit/2, tokens.Count), view.View{})
	resp.Text = audit.Text(header, report, lines, budget, tokens.Count)
	resp.Tokens = int32(tokens.Count(resp.Text))
	return resp
}

// elementLines returns the elements of findings, each as one line. The line is the element's compact text, or else the finding's
// description of the element in the document.
func elementLines(page *dom.Snapshot, found []audit.Finding) []string {
	wanted := map[dom.Ref]string{}
	for _, f := range found {
		wanted[f.Ref] = ""
	}
	base := compact.NewBase(page.URL)
	for e := range page.Elements.All() {
		if _, asked := wanted[e.Ref]; asked {
			wanted[e.Ref] = strings.TrimSpace(string(compact.AppendLine(nil, e, base)))
		}
	}
	lines := make([]string, len(found))
	for i, f := range found {
		if lines[i] = wanted[f.Ref]; lines[i] == "" && f.At != "" {
			lines[i] = "<" + f.At + ">"
		}
	}
	return lines
}

func vitalsMessage(v audit.Vitals) *domtapv1.WebVitals {
	return &domtapv1.WebVitals{TtfbMs: v.TTFB, FcpMs: v.FCP, LcpMs: v.LCP, Cls: v.CLS, InpMs: v.INP, InpBelowMs: v.INPBelow, FidMs: v.FID, LcpElement: v.LCPElement}
}
