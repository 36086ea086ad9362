package tools

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/deadline"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/steps"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/plural"
)

// interactArgs holds the arguments of browser_interact.
type interactArgs struct {
	Tab         string                                  `json:"tab"`
	URL         string                                  `json:"url"`
	Steps       args.List[args.Object[steps.Arguments]] `json:"steps"`
	StopOnError args.Bool                               `json:"stop_on_error"`
	Each        args.Bool                               `json:"each"`
}

func interact(ctx context.Context, c *Call) error {
	a, err := read[interactArgs](c)
	if err != nil {
		return err
	}
	request := &domtapv1.InteractRequest{
		Url: a.URL, StopOnError: a.StopOnError.Pointer(), ClientId: c.Session.ClientID, Format: domtapv1.Format_FORMAT_DENSE_DIFF,
		Brief: !a.Each.Value,
	}
	for i, one := range a.Steps {
		step, err := one.V.Step(&c.Clamps)
		if err != nil {
			return inputf("steps[%d]: %w", i, err)
		}
		request.Steps = append(request.Steps, step)
	}
	if request.TabId, err = c.tabFor(ctx, a.Tab, a.URL); err != nil {
		return err
	}
	ctx, cancel := withTimeout(ctx, deadline.Steps(callTime, request.GetSteps()))
	defer cancel()
	answer, err := c.Daemon.Actions.Interact(ctx, request)
	if err != nil {
		return err
	}
	c.outcome(answer)
	return nil
}

// tabFor returns the tab for an action. It opens one if the action has a URL and no tab is open.
func (c *Call) tabFor(ctx context.Context, named, url string) (string, error) {
	if named == "" && url != "" && c.Session.Current() == "" {
		now, err := c.open(ctx, &domtapv1.NavigateRequest{})
		return now.GetId(), err
	}
	return c.tab(named)
}

// outcome prints the results of an action.
func (c *Call) outcome(answer *domtapv1.InteractResponse) {
	now := answer.GetTab()
	var printed *domtapv1.Tab // the tab whose title the answer prints
	switch answer.GetVerdict() {
	case domtapv1.Verdict_VERDICT_NO_CHANGE:
		if now.GetStatus() == domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE {
			c.addLine("the page does not answer: what changed is unknown")
		} else {
			c.addLine("no change")
		}
	case domtapv1.Verdict_VERDICT_CHANGED:
		c.addLine("changed")
	case domtapv1.Verdict_VERDICT_NAVIGATED:
		c.addLine("navigated")
		printed = now
		if !text.IsPage(answer.GetDiffText()) { // the page text already contains that line
			c.addPageText(text.Page(now))
		}
	case domtapv1.Verdict_VERDICT_DIALOG:
		c.addLine("a dialog is open; answer it with browser_tab, accept or dismiss")
		c.addPageText(text.Dialog(now.GetDialog()) + "\n")
	case domtapv1.Verdict_VERDICT_NEW_TAB:
		c.Session.AddOpened(answer.GetNewTabId())
		c.addLine("opened tab %s; browser_tab selects it", answer.GetNewTabId())
	}
	failed := 0
	for _, r := range answer.GetResults() {
		if !r.GetOk() {
			failed++
		}
		if image := r.GetImage(); len(image) > 0 {
			c.Images = append(c.Images, Image{Data: image, MIMEType: "image/png"})
		}
	}
	if failed > 0 {
		c.Failed = true
		c.addLine("%d of %s failed", failed, plural.Of(len(answer.GetResults()), "step"))
	}
	c.printOutcome(answer.GetOutcome(), printed)
	c.addPageText(text.BriefResults(answer.GetResults()) + text.Changes(answer.GetDiffText()))
}

// printOutcome prints the outcome before all other text about the page. It omits a heading that equals the title of the printed tab, if any.
func (c *Call) printOutcome(all []*domtapv1.Outcome, printed *domtapv1.Tab) {
	c.addPageText(text.Outcome(all, printed.GetTitle()))
}

// formArgs holds the arguments of browser_fill_form.
type formArgs struct {
	Tab    string                            `json:"tab"`
	URL    string                            `json:"url"`
	Fields args.List[args.Object[fieldArgs]] `json:"fields"`
	Submit args.Bool                         `json:"submit"`
}

type fieldArgs struct {
	Label    args.Text  `json:"label"`
	Ref      args.Ref   `json:"ref"`
	Selector string     `json:"selector"`
	Within   args.Text  `json:"within"`
	Value    args.Words `json:"value"`
	Values   args.Words `json:"values"`
	Type     string     `json:"type"`
}

// kind returns the required type of the field. Playwright's names differ: some stand for several types, and slider stands for range.
func (f *fieldArgs) kind() string {
	switch f.Type {
	case "textbox", "combobox":
		return ""
	case "slider":
		return "range"
	}
	return f.Type
}

func fillForm(ctx context.Context, c *Call) error {
	a, err := read[formArgs](c)
	if err != nil {
		return err
	}
	request := &domtapv1.FillFormRequest{
		Url: a.URL, Submit: a.Submit.Value, ClientId: c.Session.ClientID, Format: domtapv1.Format_FORMAT_DENSE_DIFF,
		Brief: true,
	}
	for _, one := range a.Fields {
		field := &domtapv1.FormField{Label: string(one.V.Label), Selector: one.V.Selector, Ref: one.V.Ref.Pointer(), Type: one.V.kind(), Within: string(one.V.Within)}
		switch {
		case one.V.Values != nil:
			field.Values = one.V.Values
		case len(one.V.Value) > 1:
			field.Values = one.V.Value
		default:
			field.Value = one.V.Value.First()
		}
		request.Fields = append(request.Fields, field)
	}
	if request.TabId, err = c.tabFor(ctx, a.Tab, a.URL); err != nil {
		return err
	}
	answer, err := c.Daemon.Actions.FillForm(ctx, request)
	if err != nil {
		return err
	}
	c.outcome(&domtapv1.InteractResponse{
		Results: answer.GetResults(), Diff: answer.GetDiff(), Verdict: answer.GetVerdict(), Tab: answer.GetTab(), NewTabId: answer.GetNewTabId(),
		DiffText: answer.GetDiffText(), Outcome: answer.GetOutcome(),
	})
	return nil
}

var states = map[string]domtapv1.ElementState{
	"present": domtapv1.ElementState_ELEMENT_STATE_PRESENT,
	"gone":    domtapv1.ElementState_ELEMENT_STATE_GONE,
	"visible": domtapv1.ElementState_ELEMENT_STATE_VISIBLE,
	"enabled": domtapv1.ElementState_ELEMENT_STATE_ENABLED,
}

// waitArgs holds the arguments of browser_wait.
type waitArgs struct {
	Tab         string       `json:"tab"`
	Text        args.Text    `json:"text"`
	Role        string       `json:"role"`
	Name        args.Text    `json:"name"`
	Selector    string       `json:"selector"`
	Ref         args.Ref     `json:"ref"`
	Within      args.Text    `json:"within"`
	State       string       `json:"state"`
	URL         string       `json:"url"`
	NetworkIdle args.Bool    `json:"network_idle"`
	Quiet       args.Seconds `json:"quiet"`
	Change      args.Bool    `json:"change"`
	Timeout     args.Seconds `json:"timeout"`
}

// condition converts the arguments to a condition. Without a state, a text may be anywhere on the page. With a state, it identifies an
// element.
func (a *waitArgs) condition(c *Call) (*domtapv1.WaitCondition, error) {
	state, err := pick("state", a.State, states)
	if err != nil {
		return nil, err
	}
	until := &domtapv1.WaitCondition{Url: a.URL, Change: a.Change.Value}
	if a.Role != "" || a.Name != "" || a.Selector != "" || a.Ref.Set || a.Text != "" && a.State != "" || a.Within != "" {
		until.Element = &domtapv1.ElementCondition{
			Role: a.Role, Name: string(a.Name), Text: string(a.Text), Selector: a.Selector, Ref: a.Ref.Pointer(), State: state, Within: string(a.Within),
		}
	} else {
		until.Text = string(a.Text)
	}
	if a.NetworkIdle.Value {
		until.NetworkIdle = durationpb.New(0)
	}
	if a.Quiet.Set {
		until.Quiet = durationpb.New(c.quiet(a.Quiet.Value))
	}
	return until, nil
}

// maxQuiet is the maximum time without changes that the daemon waits for.
const maxQuiet = time.Minute

// quiet converts seconds to a duration. A value above maxQuiet must be in milliseconds, the unit of earlier versions and other servers.
func (c *Call) quiet(seconds float64) time.Duration {
	if seconds > maxQuiet.Seconds() {
		seconds /= 1000
		c.addLine("quiet: read as milliseconds, %g s", min(seconds, maxQuiet.Seconds()))
	}
	return time.Duration(min(max(seconds, 0.001), maxQuiet.Seconds()) * float64(time.Second))
}

func wait(ctx context.Context, c *Call) error {
	a, err := read[waitArgs](c)
	if err != nil {
		return err
	}
	id, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	until, err := a.condition(c)
	if err != nil {
		return err
	}
	request := &domtapv1.WaitForRequest{
		TabId: id, Until: until, Timeout: c.Timeout(a.Timeout, maxTimeout),
		Format: domtapv1.Format_FORMAT_DENSE_DIFF, ClientId: c.Session.ClientID, Brief: true,
	}
	ctx, cancel := withTimeout(ctx, request.GetTimeout().AsDuration())
	defer cancel()
	answer, err := c.Daemon.Dom.WaitFor(ctx, request)
	if err != nil {
		return err
	}
	c.addLine("waited %s", answer.GetElapsed().AsDuration().Round(10*time.Millisecond))
	now := &domtapv1.Tab{Url: answer.GetUrl(), Title: answer.GetTitle()}
	c.printOutcome(answer.GetOutcome(), now)
	if !text.IsPage(answer.GetDiffText()) { // the page text already contains that line
		c.addPageText(text.Page(now))
	}
	if answer.GetLine() != "" {
		c.addPageText("found " + answer.GetLine() + "\n")
	}
	c.addPageText(text.Changes(answer.GetDiffText()))
	return nil
}
