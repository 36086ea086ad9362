// Package script runs test scenarios that are written as text: the actions of an agent on a page, one step per line.
//
//	click, dblclick, rightclick, hover, check, uncheck, scroll NAME
//	fill, type NAME = TEXT       \n in TEXT is a line break
//	select NAME = LABEL | LABEL
//	press KEY [NAME]
//	upload NAME = FILE
//	drag NAME -> NAME, drag NAME by X,Y, scroll NAME by X,Y
//	scroll by X,Y                scrolls the page
//	wait TEXT                    waits until the page shows TEXT
//	accept [TEXT], dismiss       answers a dialog
//	back, newtab, oldtab
//	refused NAME                 clicks NAME, which must be refused as not actionable
//	try NAME                     clicks NAME, which may be refused
//	text TEXT, unclear TEXT      clicks the element with the text; for unclear, the text must be ambiguous
//	point X,Y, missed X,Y        clicks at a point; for missed, the click must not reach the element there
//	note NAME                    stores the ref of NAME for "click noted" and "stale noted"; the latter must be refused as stale
//
// The player's Find defines the notation of a NAME.
package script

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// Limit limits each call, so that a scenario that cannot proceed fails instead of hanging.
const Limit = 30 * time.Second

// Player runs a scenario on a tab. Any failure immediately fails the test T.
type Player struct {
	T      testing.TB
	Daemon *testenv.Daemon
	// Tab is the tab to act on.
	Tab string
	// Client is the client_id of all calls. If empty, the connection identifies the client.
	Client string
	// Find returns the element named at the beginning of words, and the remaining words.
	Find func(words string) (target *domtapv1.Target, rest string)
	// Acted, if not nil, is called with each answer to an action.
	Acted func(*domtapv1.InteractResponse)
	// Popup is the tab that was opened last. opener is the tab that "oldtab" returns to.
	Popup, opener string
	noted         *domtapv1.Target
	// Calls counts the calls. Tokens counts the tokens of their answers as MCP prints them.
	Calls, Tokens int
}

// Do performs the step of a line.
func (p *Player) Do(line string) {
	p.T.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "note":
		p.noted, _ = p.Find(rest)
	case "refused":
		p.refused(rest, "NOT_ACTIONABLE")
	case "stale":
		p.refused(rest, "STALE_REF")
	case "try":
		_, _ = p.Act(p.click(rest))
	case "text", "unclear":
		p.named(&domtapv1.Target{Text: rest}, map[string]string{"unclear": "AMBIGUOUS_TARGET"}[verb])
	case "point", "missed":
		var x, y float64
		if _, err := fmt.Sscanf(rest, "%f,%f", &x, &y); err != nil {
			p.T.Fatalf("%s: %v", line, err)
		}
		p.named(&domtapv1.Target{X: &x, Y: &y}, map[string]string{"missed": "NOT_DELIVERED"}[verb])
	case "wait":
		p.wait(strings.Trim(rest, `"`))
	case "accept", "dismiss":
		p.answer(verb == "accept", rest)
	case "newtab":
		p.opener, p.Tab = p.Tab, p.Popup
	case "oldtab":
		p.Tab = p.opener
	default:
		if reason, err := p.Act(p.step(verb, rest)); reason != "" || err != nil {
			p.T.Fatalf("%s: %s %v", line, reason, err)
		}
	}
}

// refused clicks an element and fails the test unless the click fails with the reason wantReason.
func (p *Player) refused(words, wantReason string) {
	p.T.Helper()
	if reason, err := p.Act(p.click(words)); reason != wantReason {
		p.T.Fatalf("click %s: refused with %q (%v), want %s", words, reason, err, wantReason)
	}
}

// named clicks a target that is not a ref. The click must fail with the reason want. If want is empty, it must succeed.
func (p *Player) named(target *domtapv1.Target, want string) {
	p.T.Helper()
	reason, err := p.Act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}})
	if reason != want || err != nil && want == "" {
		p.T.Fatalf("click %v: got %q (%v), want %q", target, reason, err, want)
	}
}

// Act performs a step in a separate call, and returns the reason if it failed.
func (p *Player) Act(step *domtapv1.Step) (reason string, err error) {
	p.T.Helper()
	p.Calls++
	got, err := p.Daemon.Actions.Interact(testenv.Within(p.T, Limit), &domtapv1.InteractRequest{
		TabId: p.Tab, Steps: []*domtapv1.Step{step}, Format: domtapv1.Format_FORMAT_DENSE_DIFF, ClientId: p.Client})
	if err != nil {
		return testenv.Reason(err), err
	}
	p.Tokens += tokens.Count(Answer(got))
	if p.Acted != nil {
		p.Acted(got)
	}
	if got.GetNewTabId() != "" {
		p.Popup = got.GetNewTabId()
	}
	if result := got.GetResults()[0]; !result.GetOk() {
		return result.GetReason(), fmt.Errorf("%s", result.GetError())
	}
	return "", nil
}

// Answer returns the text of an answer to actions, as MCP prints it.
func Answer(a *domtapv1.InteractResponse) string {
	verdict := ""
	switch a.GetVerdict() {
	case domtapv1.Verdict_VERDICT_NO_CHANGE:
		verdict = "no change\n"
	case domtapv1.Verdict_VERDICT_DIALOG:
		verdict = text.Dialog(a.GetTab().GetDialog()) + "\n"
	case domtapv1.Verdict_VERDICT_NEW_TAB:
		verdict = "opened tab " + a.GetNewTabId() + "\n"
	}
	return verdict + text.Outcome(a.GetOutcome(), a.GetTab().GetTitle()) + text.Results(a.GetResults()) + text.Changes(a.GetDiffText())
}

func (p *Player) wait(text string) {
	p.T.Helper()
	p.Calls++
	_, err := p.Daemon.Dom.WaitFor(testenv.Within(p.T, Limit), &domtapv1.WaitForRequest{
		TabId: p.Tab, Until: &domtapv1.WaitCondition{Text: text}, Timeout: durationpb.New(Limit)})
	if err != nil {
		p.T.Fatalf("wait for %q: %v", text, err)
	}
}

func (p *Player) answer(accept bool, text string) {
	p.T.Helper()
	p.Calls++
	request := &domtapv1.AnswerDialogRequest{TabId: p.Tab, Accept: accept}
	if text != "" {
		request.PromptText = &text
	}
	if _, err := p.Daemon.Tabs.AnswerDialog(testenv.Within(p.T, Limit), request); err != nil {
		p.T.Fatal(err)
	}
}
