package tools

import (
	"context"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/text"
)

// interactArgs are the arguments of browser_interact.
type interactArgs struct {
	Tab         string                           `json:"tab"`
	URL         string                           `json:"url"`
	Steps       args.List[args.Object[stepArgs]] `json:"steps"`
	StopOnError args.Bool                        `json:"stop_on_error"`
}

func interact(ctx context.Context, c *Call) error {
	a, err := read[interactArgs](c)
	if err != nil {
		return err
	}
	request := &domtapv1.InteractRequest{
		Url: a.URL, StopOnError: a.StopOnError.Pointer(), ClientId: c.Session.ClientID, Format: domtapv1.Format_FORMAT_DENSE_DIFF,
	}
	for i, one := range a.Steps {
		step, err := one.V.step(c)
		if err != nil {
			return inputf("steps[%d]: %w", i, err)
		}
		request.Steps = append(request.Steps, step)
	}
	if request.TabId, err = c.tabFor(ctx, a.Tab, a.URL); err != nil {
		return err
	}
	ctx, cancel := withPatience(ctx, lasts(request.GetSteps()))
	defer cancel()
	answer, err := c.Daemon.Actions.Interact(ctx, request)
	if err != nil {
		return err
	}
	c.outcome(answer)
	return nil
}

// lasts is how long steps may take: the time of any call, and the timeouts of their waits.
func lasts(steps []*domtapv1.Step) time.Duration {
	const call, wait = 30 * time.Second, 10 * time.Second // the defaults of the daemon
	total := call
	for _, one := range steps {
		if w := one.GetWait(); w != nil {
			total += max(wait, w.GetTimeout().AsDuration())
		}
	}
	return total
}

// tabFor returns the tab for an action, and opens one if the action has a URL and no tab is open.
func (c *Call) tabFor(ctx context.Context, named, url string) (string, error) {
	if named == "" && url != "" && c.Session.Current() == "" {
		now, err := c.open(ctx, &domtapv1.NavigateRequest{})
		return now.GetId(), err
	}
	return c.tab(named)
}

// outcome shows what an action did.
func (c *Call) outcome(answer *domtapv1.InteractResponse) {
	now := answer.GetTab()
	switch answer.GetVerdict() {
	case domtapv1.Verdict_VERDICT_NO_CHANGE:
		if now.GetStatus() == domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE {
			c.note("the page does not answer: what changed is unknown")
		} else {
			c.note("no change")
		}
	case domtapv1.Verdict_VERDICT_CHANGED:
		c.note("changed")
	case domtapv1.Verdict_VERDICT_NAVIGATED:
		c.note("navigated")
		if !text.IsPage(answer.GetDiffText()) { // which has the same line
			c.show(text.Page(now))
		}
	case domtapv1.Verdict_VERDICT_DIALOG:
		c.note("a dialog is open: answer it with browser_tab, accept or dismiss")
		c.show(text.Dialog(now.GetDialog()) + "\n")
	case domtapv1.Verdict_VERDICT_NEW_TAB:
		c.Session.addOpened(answer.GetNewTabId())
		c.note("opened tab %s; browser_tab selects it", answer.GetNewTabId())
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
		c.note("%d of %d steps failed", failed, len(answer.GetResults()))
	}
	c.noticed(answer.GetOutcome(), now)
	c.show(text.Results(answer.GetResults()) + text.Changes(answer.GetDiffText()))
}

// noticed shows what a person would have noticed, before anything else that an answer says of the page.
func (c *Call) noticed(all []*domtapv1.Outcome, now *domtapv1.Tab) {
	c.show(text.Outcome(all, now.GetTitle()))
}

// stepArgs are the arguments of one step. The action decides which of them apply.
type stepArgs struct {
	Action      string                `json:"action"`
	Ref         args.Ref              `json:"ref"`
	Role        string                `json:"role"`
	Name        args.Text             `json:"name"`
	Text        args.Text             `json:"text"`
	Label       args.Text             `json:"label"`
	Placeholder args.Text             `json:"placeholder"`
	TestID      string                `json:"test_id"`
	Selector    string                `json:"selector"`
	Within      args.Text             `json:"within"`
	X           args.Number           `json:"x"`
	Y           args.Number           `json:"y"`
	Value       args.Words            `json:"value"`
	Values      args.Words            `json:"values"`
	Key         args.Words            `json:"key"`
	Waypoints   args.List[args.Place] `json:"waypoints"`
	Submit      args.Bool             `json:"submit"`
	Gone        args.Bool             `json:"gone"`
	URL         string                `json:"url"`
	NetworkIdle args.Bool             `json:"network_idle"`
	Timeout     args.Seconds          `json:"timeout"`
	Button      string                `json:"button"`
	Modifiers   args.List[string]     `json:"modifiers"`
	MaxTokens   args.Number           `json:"max_tokens"`
	FullPage    args.Bool             `json:"full_page"`
	Marks       args.Bool             `json:"marks"`
}

// target returns the target of the step; nil: it names none.
func (s *stepArgs) target() *domtapv1.Target {
	t := &domtapv1.Target{
		Ref: s.Ref.Pointer(), Role: s.Role, Name: string(s.Name), Text: string(s.Text), Label: string(s.Label), Placeholder: string(s.Placeholder),
		TestId: s.TestID, Selector: s.Selector, Within: string(s.Within),
	}
	if s.X.Set || s.Y.Set {
		t.X, t.Y = proto.Float64(s.X.Value), proto.Float64(s.Y.Value)
	}
	if proto.Equal(t, &domtapv1.Target{}) {
		return nil
	}
	return t
}

// several returns values, or else value.
func (s *stepArgs) several() []string {
	if s.Values != nil {
		return s.Values
	}
	return s.Value
}

// stepMakers convert arguments to steps, by action.
var stepMakers = map[string]func(s *stepArgs, c *Call) (*domtapv1.Step, error){
	"click": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: s.target(), Button: s.Button, Modifiers: s.Modifiers}}}, nil
	},
	"double_click": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: s.target()}}}, nil
	},
	"hover": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: s.target()}}}, nil
	},
	"type": (*stepArgs).typing,
	"fill": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: s.target(), Text: s.Value.First()}}}, nil
	},
	"press": (*stepArgs).press,
	"select": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: s.target(), Values: s.several()}}}, nil
	},
	"check": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: s.target()}}}, nil
	},
	"uncheck": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: s.target()}}}, nil
	},
	"scroll": (*stepArgs).scroll,
	"drag":   (*stepArgs).drag,
	"upload": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: s.target(), Paths: s.several()}}}, nil
	},
	"wait": (*stepArgs).wait,
	"read": func(s *stepArgs, c *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{
			MaxTokens: c.Int32("max_tokens", s.MaxTokens, budget), Format: domtapv1.Format_FORMAT_DENSE}}}, nil
	},
	"screenshot": func(s *stepArgs, _ *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{FullPage: s.FullPage.Value, Marks: s.Marks.Value}}}, nil
	},
	"back": func(*stepArgs, *Call) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}, nil
	},
}

// step converts the arguments to a step.
func (s *stepArgs) step(c *Call) (*domtapv1.Step, error) {
	if s.Action == "" {
		return nil, inputf("action is required: one of %s", strings.Join(words(stepMakers), ", "))
	}
	maker, err := pick("action", s.Action, stepMakers)
	if err != nil {
		return nil, err
	}
	s.settle()
	return maker(s, c)
}

// settle moves arguments that can mean one thing only to where they belong: the key of press, and the text to type
// or fill next to another target.
func (s *stepArgs) settle() {
	if s.Value != nil {
		return
	}
	switch strings.ToLower(s.Action) {
	case "press":
		s.Value = s.Key
	case "type":
		if s.Text != "" { // nothing is typed without a value; without a target it goes to what has the focus
			s.Value, s.Text = args.Words{string(s.Text)}, ""
		}
	case "fill":
		if other := s.Ref.Set || s.Role+string(s.Label+s.Placeholder)+s.TestID+s.Selector != ""; other && s.Text != "" {
			s.Value, s.Text = args.Words{string(s.Text)}, ""
		}
	}
}

// typing types the value into the target, or else into what has the focus.
func (s *stepArgs) typing(*Call) (*domtapv1.Step, error) {
	return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: s.target(), Text: s.Value.First(), Submit: s.Submit.Value}}}, nil
}

// press presses a key. The keys of a text are those that type it.
func (s *stepArgs) press(c *Call) (*domtapv1.Step, error) {
	if s.Value == nil && s.Text != "" {
		s.Value, s.Text = args.Words{string(s.Text)}, ""
		return s.typing(c)
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: s.target(), Key: s.Value.First()}}}, nil
}

// scroll scrolls the target into view, or scrolls by a distance.
func (s *stepArgs) scroll(c *Call) (*domtapv1.Step, error) {
	step := &domtapv1.ScrollStep{Target: s.target()}
	if word := s.Value.First(); word != "" {
		distance, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, inputf("value must be how many pixels to scroll down, or absent to scroll the target into view; not %q", word)
		}
		step.DeltaY = c.Float("value", args.Number{Set: true, Value: distance}, args.Range{Low: -100_000, High: 100_000})
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: step}}, nil
}

// drag drops the target on the element or the point that the value names.
func (s *stepArgs) drag(*Call) (*domtapv1.Step, error) {
	var to args.Place
	if err := to.UnmarshalJSON([]byte(s.Value.First())); err != nil {
		return nil, inputf("value must be the ref or the point \"x,y\" to drop on, not %q", s.Value.First())
	}
	step := &domtapv1.DragStep{Target: s.target(), To: place(to)}
	for _, waypoint := range s.Waypoints {
		step.Waypoints = append(step.Waypoints, place(waypoint))
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: step}}, nil
}

func place(p args.Place) *domtapv1.Target {
	if p.Ref.Set {
		return &domtapv1.Target{Ref: p.Ref.Pointer()}
	}
	return &domtapv1.Target{X: proto.Float64(p.X), Y: proto.Float64(p.Y)}
}

// wait waits for a target, a URL or an idle network.
func (s *stepArgs) wait(c *Call) (*domtapv1.Step, error) {
	step := &domtapv1.WaitStep{Target: s.target(), Gone: s.Gone.Value, Timeout: c.timeout(s.Timeout, maxTimeout)}
	if s.URL != "" || s.NetworkIdle.Value {
		step.Until = &domtapv1.WaitCondition{Url: s.URL}
		if s.NetworkIdle.Value {
			step.Until.NetworkIdle = durationpb.New(0)
		}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: step}}, nil
}

// formArgs are the arguments of browser_fill_form.
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

// kind returns the type that the field must have. Playwright's names of kinds mean several types, or another one.
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

// waitArgs are the arguments of browser_wait.
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

// condition converts the arguments to a condition. A text alone may be anywhere; with a state it belongs to an
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

// maxQuiet is the longest time without changes that the daemon waits for.
const maxQuiet = time.Minute

// quiet reads seconds. More than maxQuiet can only mean milliseconds, the unit of earlier versions and other servers.
func (c *Call) quiet(seconds float64) time.Duration {
	if seconds > maxQuiet.Seconds() {
		seconds /= 1000
		c.note("quiet: read as milliseconds, %g s", min(seconds, maxQuiet.Seconds()))
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
		TabId: id, Until: until, Timeout: c.timeout(a.Timeout, maxTimeout),
		Format: domtapv1.Format_FORMAT_DENSE_DIFF, ClientId: c.Session.ClientID,
	}
	ctx, cancel := withPatience(ctx, request.GetTimeout().AsDuration())
	defer cancel()
	answer, err := c.Daemon.Dom.WaitFor(ctx, request)
	if err != nil {
		return err
	}
	c.note("waited %s", answer.GetElapsed().AsDuration().Round(10*time.Millisecond))
	now := &domtapv1.Tab{Url: answer.GetUrl(), Title: answer.GetTitle()}
	c.noticed(answer.GetOutcome(), now)
	if !text.IsPage(answer.GetDiffText()) { // which has the same line
		c.show(text.Page(now))
	}
	if answer.GetLine() != "" {
		c.show("found " + answer.GetLine() + "\n")
	}
	c.show(text.Changes(answer.GetDiffText()))
	return nil
}
