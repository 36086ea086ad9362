package input

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
)

// resolveRequest is the argument of the command "waitActionable".
type resolveRequest struct {
	Ref      uint32 `json:"ref"`
	Patience int64  `json:"patience"`
	// Need is "point", "view", "drop", "focus" or "node".
	Need string `json:"need"`
	// Words is the text inside the element that the point must hit.
	Words string `json:"words,omitzero"`
	// Passive accepts a disabled element.
	Passive bool `json:"passive,omitzero"`
	// Dragged is the ref of the element that is dragged to this one, if it is in the same document.
	Dragged *uint32 `json:"dragged,omitzero"`
	// Still waits until the element is stable, even if no animation is known to move it.
	Still bool `json:"still,omitzero"`
	// Edit selects how text is entered: "replace", "append", or "keep", which leaves the caret where it is.
	Edit string `json:"edit,omitzero"`
	// Text is the value of inputs whose value is set as a whole.
	Text string `json:"text,omitzero"`
	// Tag refuses a field without signs that it takes tags.
	Tag bool `json:"tag,omitzero"`
	// Values are the options to select. If nil, nothing is selected.
	Values []string `json:"values,omitzero"`
	// Clicks arms the guard for this number of clicks if the element needs no scrolling.
	Clicks int `json:"clicks,omitzero"`
	// Want is the wanted checked state.
	Want *bool `json:"want,omitzero"`
	// Known describes the element as the caller saw it. The action is refused if the element no longer matches.
	Known *expectedElement `json:"known,omitzero"`
}

// expectedElement is driver.ExpectedElement in the observer's encoding.
type expectedElement struct {
	Name  string `json:"name"`
	Seen  uint64 `json:"seen"`
	Start uint64 `json:"start"`
	// Doubtful is as in driver.ExpectedElement.
	Doubtful bool `json:"doubtful"`
}

func expectedElementOf(s driver.Location) *expectedElement {
	if s.Expected == nil {
		return nil
	}
	return &expectedElement{Name: s.Expected.Name, Seen: s.Expected.Seen, Start: s.Expected.Start, Doubtful: s.Expected.Doubtful}
}

// step is a frame on the way from an element to the top, with the point in that frame's own viewport.
type step struct {
	frame dom.FrameID
	agent Agent
	at    driver.Point
}

// path leads from an element's frame to the main frame.
type path struct {
	location driver.Location
	steps    []step
	found    outcome.Element
	// at is the point in the top-level viewport.
	at driver.Point
	// pressed is answered when the press is complete, and down at its mousedown. Both are nil until awaitPress.
	pressed, down *devtools.Call
	// ahead means that the pointer moves to the point together with the press. The guards are already armed.
	ahead bool
	// armed applies to a path to a point. It is set if the guard remembers the element there as the target of the press.
	armed bool
}

// isUnguarded reports whether a path leads to a point whose element is unknown, as in a frame.
func (p *path) isUnguarded() bool { return p.location.Ref == dom.NoRef && !p.armed }

func (p *path) leaf() Agent { return p.steps[0].agent }

// agents returns the observers on the path.
func (p *path) agents() []Agent {
	list := make([]Agent, len(p.steps))
	for i, s := range p.steps {
		list[i] = s.agent
	}
	return list
}

func (p *path) frames() []dom.FrameID {
	list := make([]dom.FrameID, len(p.steps))
	for i, s := range p.steps {
		list[i] = s.frame
	}
	return list
}

// awaitPress makes the document report the next press on its own, because it may be gone before it can be queried.
func (p *path) awaitPress(ctx context.Context) (err error) {
	if p.pressed, err = p.leaf().Send(ctx, "awaitPress", nil); err == nil {
		p.down, err = p.leaf().Send(ctx, "awaitDown", nil)
	}
	return err
}

// refusal returns the task's error for an error that the script reported at a location.
func (t *task) refusal(s driver.Location, e outcome.Element) error { return e.Refusal(s, t.action) }

// agentOf returns the observer of a location's document. It fails if the frame shows another document than the ref belongs to.
func (t *task) agentOf(ctx context.Context, s driver.Location) (Agent, error) {
	a, err := t.page.Agent(ctx, s.Frame)
	if err != nil {
		return nil, err
	}
	if s.Document != "" && a.Document() != s.Document {
		return nil, t.refusal(s, outcome.Element{Error: "stale"})
	}
	return a, nil
}

// ready waits until an element is actionable. It determines no point in the top-level viewport.
func (t *task) ready(ctx context.Context, s driver.Location, req resolveRequest) (Agent, outcome.Element, error) {
	a, err := t.agentOf(ctx, s)
	if err != nil {
		return nil, outcome.Element{}, err
	}
	req.Ref, req.Patience, req.Known = uint32(s.Ref), t.left(), expectedElementOf(s)
	if s.Ref == t.action.Ref {
		req.Words = t.action.Words
	}
	var found outcome.Element
	if err := call(ctx, a, "waitActionable", req, &found); err != nil {
		if ctx.Err() != nil {
			disarm(ctx, []Agent{a})
		}
		return nil, outcome.Element{}, err
	}
	if found.Error != "" {
		return nil, outcome.Element{}, t.refusal(s, found)
	}
	return a, found, nil
}

// resolve returns a point of an element in the top-level viewport, mapped frame by frame. If req.Need is "point", nothing may cover it.
func (t *task) resolve(ctx context.Context, s driver.Location, req resolveRequest) (*path, error) {
	if s.Ref == dom.NoRef {
		return t.resolvePoint(ctx, s)
	}
	a, found, err := t.ready(ctx, s, req)
	if err != nil {
		return nil, err
	}
	p := &path{location: s, found: found, at: driver.Point{X: found.X, Y: found.Y}}
	p.steps = append(p.steps, step{frame: s.Frame, agent: a, at: p.at})
	for frame := s.Frame; frame != ""; {
		up, there := t.page.Parent(frame)
		if !there {
			return nil, t.refusal(s, outcome.Element{Error: "stale"})
		}
		parent, err := t.page.Agent(ctx, up)
		if err != nil {
			return nil, err
		}
		var moved outcome.Element
		if err := call(ctx, parent, "mapFramePoint", t.passage(frame, p.at, req.Need == "point"), &moved); err != nil {
			return nil, err
		}
		if moved.Error != "" {
			return nil, t.refusal(s, moved)
		}
		p.at = driver.Point{X: moved.X, Y: moved.Y}
		p.steps = append(p.steps, step{frame: up, agent: parent, at: p.at})
		frame = up
	}
	t.record(p)
	return p, nil
}

// record records where the pointer goes. It does not account for scaled frames when it computes the element's box.
func (t *task) record(p *path) {
	t.pointerAt = &driver.PointerPosition{Point: p.at}
	if f := p.found; f.Width > 0 && f.Height > 0 {
		t.pointerAt.Box = dom.Box{X: f.Left + p.at.X - f.X, Y: f.Top + p.at.Y - f.Y, Width: f.Width, Height: f.Height}
	}
}

// frameMapping is the argument of the command "mapFramePoint".
type frameMapping struct {
	Frame    string  `json:"frame"`
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Patience int64   `json:"patience"`
	// Open requires that nothing covers the frame there. Scroll brings the point into view. Arm blocks events to the document around the
	// frame.
	Open   bool `json:"open"`
	Scroll bool `json:"scroll"`
	Arm    bool `json:"arm"`
}

func (t *task) passage(frame dom.FrameID, at driver.Point, open bool) frameMapping {
	return frameMapping{Frame: string(frame), X: at.X, Y: at.Y, Patience: t.left(), Open: open, Scroll: true}
}

// resolvePoint checks that a point is in the viewport.
func (t *task) resolvePoint(ctx context.Context, s driver.Location) (*path, error) {
	if s.Point == nil {
		return nil, apierr.Errorf(apierr.Invalid, "%s needs an element or a point: give a ref", t.action.Kind)
	}
	a, err := t.page.Agent(ctx, "")
	if err != nil {
		return nil, err
	}
	p := &path{location: s, at: *s.Point, steps: []step{{agent: a, at: *s.Point}}}
	if err := call(ctx, a, "describePoint", targetPoint{point{s.Point.X, s.Point.Y}, t.action.Kind.IsPassive()}, &p.found); err != nil {
		return nil, err
	}
	if p.found.Error != "" {
		return nil, t.refusal(s, p.found)
	}
	t.record(p)
	return p, nil
}

// targetPoint is the target point of an action. Passive is as in resolveRequest.
type targetPoint struct {
	point
	Passive bool `json:"passive,omitzero"`
}

// point is a point in the observer's encoding.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// hitTestRequest is the argument of the command "checkBeforePress".
type hitTestRequest struct {
	Ref uint32 `json:"ref"`
	point
	Passive bool             `json:"passive,omitzero"`
	Known   *expectedElement `json:"known,omitzero"`
	// Clicks is the number of clicks. It is 0 if the element is hovered or dragged.
	Clicks int `json:"clicks"`
}

// denyLimit bounds how long a frame outside the path may take to close its guard.
const denyLimit = 200 * time.Millisecond

// hitTest checks, after the pointer has moved, that the point still belongs to the element, and blocks all other targets, in all frames
// concurrently. It returns the problem, if any.
func (t *task) hitTest(ctx context.Context, p *path) (outcome.Element, error) {
	if p.location.Ref == dom.NoRef {
		return outcome.Element{}, t.armAtPoint(ctx, p)
	}
	calls := make([]*devtools.Call, len(p.steps))
	var err error
	if t.clicks() > 0 {
		// Sent before the hit test, so that it is in effect when the hit test responds.
		if err = p.awaitPress(ctx); err != nil {
			return outcome.Element{}, err
		}
	}
	for i, s := range p.steps {
		if i == 0 {
			calls[i], err = s.agent.Send(ctx, "checkBeforePress", hitTestRequest{
				uint32(p.location.Ref), point{s.at.X, s.at.Y}, t.action.Kind.IsPassive(), expectedElementOf(p.location), t.clicks()})
		} else {
			below := p.steps[i-1]
			calls[i], err = s.agent.Send(ctx, "mapFramePoint", frameMapping{
				Frame: string(below.frame), X: below.at.X, Y: below.at.Y, Open: true, Arm: true})
		}
		if err != nil {
			return outcome.Element{}, err
		}
	}
	t.blockOthers(ctx, p)
	var wrong outcome.Element
	for i, k := range calls {
		var found outcome.Element
		if err := answer(ctx, k, &found); err != nil {
			return outcome.Element{}, err
		}
		at := p.steps[i].at
		if i > 0 && found.Error == "" && math.Hypot(found.X-at.X, found.Y-at.Y) > 1 {
			found.Error = "moving"
		}
		if wrong.Error == "" {
			wrong = found
		}
	}
	return wrong, nil
}

// armAtPoint makes the guard remember the element that is now at the point, under the pointer, as the target of the clicks.
func (t *task) armAtPoint(ctx context.Context, p *path) error {
	if t.clicks() == 0 && t.action.Kind != driver.MouseDown {
		return nil
	}
	if t.clicks() > 0 {
		if err := p.awaitPress(ctx); err != nil {
			return err
		}
	}
	var found outcome.Element
	at := map[string]any{"x": p.at.X, "y": p.at.Y, "clicks": t.clicks()}
	if err := call(ctx, p.leaf(), "armAtPoint", at, &found); err != nil {
		return err
	}
	if p.armed = found.Armed; p.armed {
		p.found.Detail, p.found.Cover = found.Detail, found.Cover
	}
	return nil
}

// blockOthers closes the guards of the frames outside the path.
func (t *task) blockOthers(ctx context.Context, p *path) {
	t.deny(ctx, t.page.Others(p.frames()))()
}

// deny starts to close the guards of frames and returns a function that waits for the result.
func (t *task) deny(ctx context.Context, others []Agent) (await func() (all bool)) {
	calls := make([]*devtools.Call, 0, len(others))
	for _, a := range others {
		if k, err := a.Send(ctx, "deny", nil); err == nil {
			calls = append(calls, k)
		}
	}
	return func() bool {
		if len(others) == 0 {
			return true
		}
		ctx, cancel := context.WithTimeout(ctx, denyLimit)
		defer cancel()
		all := len(calls) == len(others)
		for _, k := range calls {
			// A frame that is gone or hangs receives nothing.
			if err := answer(ctx, k, nil); err != nil {
				all = false
				k.Forget()
			}
		}
		return all
	}
}

// disarmPath disarms everything that hitTest armed.
func (t *task) disarmPath(ctx context.Context, p *path) {
	for _, k := range []*devtools.Call{p.pressed, p.down} {
		if k != nil {
			k.Forget()
		}
	}
	if p.location.Ref != dom.NoRef {
		disarm(ctx, slices.Concat(p.agents()[1:], t.page.Others(p.frames())))
	}
}
