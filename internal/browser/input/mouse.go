package input

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
)

// mouse returns a mouse event at a point.
func mouse(kind input.DispatchMouseEventType, at driver.Point, e input.DispatchMouseEventParams) devtools.Step {
	e.Type, e.X, e.Y = kind, at.X, at.Y
	return devtools.Step{Method: input.CommandDispatchMouseEvent, Params: e}
}

// move moves the pointer and returns when the page has handled the event.
func (t *pointer) move(ctx context.Context, at driver.Point, e input.DispatchMouseEventParams) error {
	return t.page.Main().Run(ctx, mouse(input.DispatchMouseEventTypeMouseMoved, at, e))
}

// point moves the pointer to an element and checks that it is there, repeatedly within the time limit. If it returns a path, the guards are
// armed, and the caller must disarm the path.
func (t *pointer) point(ctx context.Context, s driver.Location, modifiers int64) (*path, error) {
	req := resolveRequest{Need: "point", Passive: t.action.Kind.IsPassive()}
	for {
		p, err := t.resolve(ctx, s, req)
		if err != nil {
			return nil, err
		}
		if err := t.move(ctx, p.at, input.DispatchMouseEventParams{Modifiers: modifiers}); err != nil {
			return nil, err
		}
		wrong, err := t.hitTest(ctx, p)
		if err != nil {
			disarm(ctx, p.agents()[:1])
			t.disarmPath(ctx, p)
			return nil, err
		}
		if wrong.Error == "" {
			return p, nil
		}
		disarm(ctx, p.agents()[:1])
		t.disarmPath(ctx, p)
		if wrong.Error == "stale" || wrong.IsDifferent() || !time.Now().Before(t.deadline) {
			return nil, t.refusal(s, wrong)
		}
		req.Still = true
	}
}

// pointAhead finds a point of an element and arms the guards. The pointer then moves there in the same batch as the press, so the browser
// does not wait for a frame before it reports the move. At the press, the guard performs the checks of hitTest. This is tried once, for
// elements of the main frame that need no scrolling, and only if all frames respond. Otherwise the returned path is nil.
func (t *pointer) pointAhead(ctx context.Context, tries int) (p *path, err error) {
	s := t.action.Location
	if tries > 0 || s.Ref == dom.NoRef || s.Frame != "" || !t.page.Complete() {
		return nil, nil
	}
	a, err := t.agentOf(ctx, s)
	if err != nil {
		return nil, err
	}
	p = &path{location: s, steps: []step{{frame: s.Frame, agent: a}}, ahead: true}
	if err = p.awaitPress(ctx); err != nil {
		t.disarmPath(ctx, p)
		return nil, err
	}
	denied := t.deny(ctx, t.page.Others(p.frames()))
	armed, found, err := t.ready(ctx, s, resolveRequest{Need: "point", Clicks: t.clicks()})
	all := denied()
	if err == nil && found.Armed && all && armed == a {
		p.found, p.at = found, driver.Point{X: found.X, Y: found.Y}
		p.steps[0].at = p.at
		t.record(p)
		return p, nil
	}
	if found.Armed && armed != a {
		disarm(ctx, []Agent{armed})
	}
	disarm(ctx, p.agents())
	t.disarmPath(ctx, p)
	return nil, err
}

func (t *pointer) hover(ctx context.Context) (driver.DoResult, error) {
	p, err := t.point(ctx, t.action.Location, 0)
	if err != nil {
		return driver.DoResult{}, err
	}
	disarm(ctx, p.agents()[:1])
	t.disarmPath(ctx, p)
	return driver.DoResult{Detail: t.describePoint(p)}, nil
}

// describePoint names the element at the point of an action without a ref.
func (t *pointer) describePoint(p *path) string {
	if p.location.Ref != dom.NoRef {
		return ""
	}
	return "ok, on " + p.found.Named()
}

func (t *pointer) click(ctx context.Context) (driver.DoResult, error) {
	modifiers, err := keys.Modifiers(t.action.Modifiers)
	if err != nil {
		return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "%s", err)
	}
	for tries := 0; ; tries++ {
		p, err := t.pointAhead(ctx, tries)
		if err == nil && p == nil {
			p, err = t.point(ctx, t.action.Location, modifiers)
		}
		if err != nil {
			return driver.DoResult{}, err
		}
		got, err := t.dispatch(ctx, p, modifiers)
		switch {
		case err != nil:
			return driver.DoResult{}, err
		case p.isUnguarded():
			return driver.DoResult{Detail: t.describePoint(p)}, nil
		case got.Held:
			return driver.DoResult{Detail: got.HeldNote(t.action.Hold.String())}, nil
		case got.Complete:
			return driver.DoResult{Detail: cmp.Or(got.Note(), t.describePoint(p))}, nil
		case got.IsDifferent():
			return driver.DoResult{}, t.refusal(p.location, got.Element)
		case got.Reached || got.Unknown:
			return got.Partial(p.location, t.clicks())
		case !time.Now().Before(t.deadline):
			return driver.DoResult{}, got.Missed(p.location, t.action)
		}
	}
}

// clicks returns how many times the action clicks its element.
func (t *task) clicks() int {
	switch t.action.Kind {
	case driver.Hover, driver.Drag, driver.MouseDown, driver.MouseMove:
		return 0
	}
	return max(1, t.action.Clicks)
}

// wheel is a turn of the mouse wheel. The browser requires both distances, even if they are 0.
type wheel struct {
	Type   string  `json:"type"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	DeltaX float64 `json:"deltaX"`
	DeltaY float64 `json:"deltaY"`
	// Modifiers are the held keys, and Buttons the held buttons.
	Modifiers int64 `json:"modifiers,omitzero"`
	Buttons   int64 `json:"buttons,omitzero"`
}

// wheelPatience bounds how long scrolling may take to settle, in milliseconds.
const wheelPatience = 2000

// scroll scrolls the action's element into view, or turns the wheel over the element or the page.
func (t *pointer) scroll(ctx context.Context) (driver.DoResult, error) {
	delta := t.action.Delta
	if delta == (driver.Point{}) {
		_, err := t.resolve(ctx, t.action.Location, resolveRequest{Need: "view"})
		t.pointerAt = nil // the pointer stays where it is
		return driver.DoResult{}, err
	}
	agent, at, err := t.wheelTarget(ctx)
	if err != nil {
		return driver.DoResult{}, err
	}
	turned := wheel{Type: "mouseWheel", X: at.X, Y: at.Y, DeltaX: delta.X, DeltaY: delta.Y}
	if turned.Modifiers, err = keys.Modifiers(t.action.Modifiers); err != nil {
		return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "%s", err)
	}
	if t.held != nil {
		turned.Buttons = t.held.how.Buttons
		turned.Modifiers |= t.held.how.Modifiers
	}
	if err := t.page.Main().Run(ctx, devtools.Step{Method: input.CommandDispatchMouseEvent, Params: turned}); err != nil {
		return driver.DoResult{}, err
	}
	var moved struct {
		point
		Foreign bool          `json:"foreign"`
		Handled bool          `json:"handled"`
		View    *scrolledView `json:"view"`
	}
	if err := call(ctx, agent, "afterWheel", map[string]any{"patience": wheelPatience}, &moved); err != nil {
		return driver.DoResult{}, err
	}
	var note string
	switch {
	case moved.X == 0 && moved.Y == 0 && moved.Handled:
		return driver.DoResult{Detail: driver.WheelHandled}, nil
	case moved.X == 0 && moved.Y == 0 && moved.Foreign:
		return driver.DoResult{Detail: driver.WheelInFrame}, nil
	case moved.X == 0 && moved.Y == 0:
		return driver.DoResult{Detail: driver.WheelUnused}, nil
	case moved.X != delta.X || moved.Y != delta.Y:
		note = fmt.Sprintf("ok, by %g,%g", moved.X, moved.Y)
	}
	if moved.View != nil {
		note = cmp.Or(note, "ok") + moved.View.String()
	}
	return driver.DoResult{Detail: note}, nil
}

// scrolledView describes the visible part of scrolled content: its first and last line, and the row numbers if the page provides them.
type scrolledView struct {
	First string `json:"first"`
	Last  string `json:"last"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Of    int    `json:"of"`
	// End reports whether the end of the content is visible.
	End bool `json:"end"`
}

// maxViewLine limits a line of a scrolledView, in characters. The page script sends less.
const maxViewLine = 200

// String formats the view as the end of a note.
func (v *scrolledView) String() string {
	var b strings.Builder
	b.WriteString(driver.InView)
	if v.From > 0 && v.To > 0 {
		fmt.Fprintf(&b, "%d to %d", v.From, v.To)
		if v.Of > 0 {
			fmt.Fprintf(&b, " of %d", v.Of)
		}
		b.WriteString(", ")
	}
	fmt.Fprintf(&b, "%.*q", maxViewLine, v.First)
	if v.Last != v.First {
		fmt.Fprintf(&b, " to %.*q", maxViewLine, v.Last)
	}
	if v.End {
		b.WriteString(", the end")
	}
	return b.String()
}

// wheelTarget returns the document in which the wheel turns and a point in the page: a point of the action's element, or else the middle of
// the page. It also prepares the document for the wheel.
func (t *pointer) wheelTarget(ctx context.Context) (Agent, point, error) {
	var at point
	if t.action.Untargeted() {
		agent, err := t.page.Agent(ctx, "")
		if err == nil {
			err = call(ctx, agent, "beforeWheel", map[string]any{"center": true}, &at)
		}
		return agent, at, err
	}
	p, err := t.resolve(ctx, t.action.Location, resolveRequest{Need: "point", Passive: true})
	if err != nil {
		return nil, point{}, err
	}
	local := p.steps[0].at
	err = call(ctx, p.leaf(), "beforeWheel", map[string]any{"x": local.X, "y": local.Y}, &at)
	return p.leaf(), point{p.at.X, p.at.Y}, err
}
