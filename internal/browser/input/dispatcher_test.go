package input

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
)

// peer is a browser that responds to every command immediately. Methods that begin with "observer." are commands of the observer.
type peer struct {
	mu sync.Mutex
	// sent lists the commands of the observer, the types of mouse events, and "key" for each keyboard event, in order.
	sent []string
	// answer returns the JSON result of an observer command. An empty result makes the command fail, as if the document were gone.
	answer func(command string) string
}

// hear responds to a command.
func (p *peer) hear(msg *cdproto.Message) *cdproto.Message {
	if command, ours := strings.CutPrefix(string(msg.Method), "observer."); ours {
		value := p.note(command)
		if value == "" {
			return &cdproto.Message{Error: &cdproto.Error{Code: -32000, Message: "Execution context was destroyed."}}
		}
		return &cdproto.Message{Result: []byte(`{"result":{"value":` + value + `}}`)}
	}
	if msg.Method == input.CommandDispatchKeyEvent {
		p.note("key")
	} else if msg.Method == input.CommandDispatchMouseEvent {
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			if strings.Contains(string(msg.Params), kind) {
				p.note(kind)
			}
		}
	}
	return &cdproto.Message{Result: []byte("{}")}
}

func (p *peer) note(what string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, what)
	return p.answer(what)
}

// done returns the sent commands that are among the given ones.
func (p *peer) done(among ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.DeleteFunc(slices.Clone(p.sent), func(s string) bool { return !slices.Contains(among, s) }), " ")
}

// desk is a page with one document, whose observer is the peer.
type desk struct{ session devtools.Session }

func (d desk) Main() devtools.Session                            { return d.session }
func (d desk) Agent(context.Context, dom.FrameID) (Agent, error) { return d, nil }
func (desk) Parent(dom.FrameID) (dom.FrameID, bool)              { return "", false }
func (desk) Complete() bool                                      { return true }
func (desk) Others([]dom.FrameID) []Agent                        { return nil }
func (desk) Expect(string) (<-chan *cdproto.Message, func())     { return nil, func() {} }
func (desk) Failed(err error) error                              { return err }
func (desk) Mac() bool                                           { return false }
func (desk) Folder() (string, error)                             { return "", nil }
func (desk) Document() string                                    { return "d" }
func (d desk) Session() devtools.Session                         { return d.session }

func (d desk) Send(ctx context.Context, command string, argument any) (*devtools.Call, error) {
	return d.session.Send(ctx, "observer."+command, argument)
}

func (desk) AskSettled(context.Context, Agent) {}

func (desk) AfterDialog(devtools.Step) bool { return false }

func (desk) HasListeners(context.Context, Agent, bool) (bool, error) { return true, nil }

func (desk) EntersCharacters(context.Context, Agent) (bool, error) { return false, nil }

func (desk) Handle(context.Context, string, any) (runtime.RemoteObjectID, error) { return "", nil }

// at returns a dispatcher for a page whose observer responds as answer returns.
func at(t *testing.T, answer func(command string) string) (*Dispatcher, *peer) {
	p := &peer{answer: answer}
	conn := devtools.New(t.Context(), devtoolstest.New(p.hear), devtoolstest.New(nil), func(*cdproto.Message) {})
	t.Cleanup(conn.Close)
	return New(desk{devtools.Session{Conn: conn, ID: "S"}}), p
}

// TestALeaseThatEndsBetweenTwoInputsEndsAnAction types a text that takes several batches. The page's guard rejects everything after the
// first batch.
func TestALeaseThatEndsBetweenTwoInputsEndsAnAction(t *testing.T) {
	h, p := at(t, func(string) string { return "{}" })
	guard := new(devtools.Guard)
	h.page = desk{devtools.Session{Conn: h.page.Main().Conn, ID: "S", Guard: guard}}
	asked := 0
	guard.Set(func() error {
		if asked++; asked > inFlight {
			return apierr.Errorf(apierr.Fenced, "the lease is over")
		}
		return nil
	})
	_, err := h.Do(t.Context(), driver.Action{Kind: driver.Press, Text: "a", Repeat: inFlight})
	if !apierr.Is(err, apierr.Fenced) {
		t.Errorf("got %v", err)
	}
	if got := strings.Count(p.done("key"), "key"); got != inFlight || asked != inFlight+2 {
		t.Errorf("the browser heard %d keys, and the guard was asked %d times", got, asked)
	}
}

// TestADragThatMissesIsTriedAgain lets the first press reach nothing, as in a frame that has just been scrolled.
func TestADragThatMissesIsTriedAgain(t *testing.T) {
	missedError := false
	h, p := at(t, func(command string) string {
		if command == "dragBegan" && !missedError {
			missedError = true
			return `{"reached":false,"presses":0}`
		}
		return map[string]string{
			"waitActionable": `{"x":10,"y":10,"w":4,"h":4}`, "dragBegan": `{"reached":true,"presses":1,"dragging":false}`, "pressOutcome": `{"detail":"<div>"}`, "displacement": `{"x":7,"y":0}`,
		}[command] + map[bool]string{true: "{}"}[command == "checkBeforePress" || command == "disarm"]
	})
	result, err := h.Do(t.Context(), driver.Action{Kind: driver.Drag, Location: driver.Location{Element: driver.Element{Ref: 5, Document: "d"}}, Delta: driver.Point{X: 7}})
	if err != nil || !result.Moved || result.Detail != "ok, it moved by 7,0" {
		t.Errorf("got %+v, %v", result, err)
	}
	if got, want := p.done("checkBeforePress", "mousePressed", "mouseReleased"), "checkBeforePress mousePressed mouseReleased checkBeforePress mousePressed mouseReleased"; got != want {
		t.Errorf("the browser heard %s, want %s", got, want)
	}
}

// TestAClickIsOneBatchFirst lets the guard cancel the press that is sent together with the movement. A cancelled click is checked again
// with the pointer in place and then pressed.
func TestAClickIsOneBatchFirst(t *testing.T) {
	const missed, done = `{"reached":false,"detail":"<div>"}`, `{"reached":true,"presses":1,"clicks":1,"complete":true}`
	for _, c := range []struct {
		armed    string
		outcomes []string
		want     string
	}{
		{"true", []string{done}, "mouseMoved mousePressed mouseReleased"},
		{"true", []string{missed, done}, "mouseMoved mousePressed mouseReleased mouseMoved checkBeforePress mousePressed mouseReleased"},
		{"true", []string{missed, missed, done}, "mouseMoved mousePressed mouseReleased mouseMoved checkBeforePress mousePressed mouseReleased mouseMoved checkBeforePress mousePressed mouseReleased"},
		{"false", []string{done}, "mouseMoved checkBeforePress mousePressed mouseReleased"}, // the element needed scrolling
	} {
		outcomes := c.outcomes
		h, p := at(t, func(command string) string {
			switch command {
			case "waitActionable":
				return `{"x":10,"y":10,"w":4,"h":4,"armed":` + c.armed + `}`
			case "pressOutcome":
				next := outcomes[0]
				outcomes = outcomes[1:]
				return next
			}
			return "{}"
		})
		if _, err := h.Do(t.Context(), driver.Action{Kind: driver.Click, Location: driver.Location{Element: driver.Element{Ref: 5, Document: "d"}}}); err != nil {
			t.Errorf("armed %s, %v: %v", c.armed, c.outcomes, err)
		}
		if got := p.done("mouseMoved", "checkBeforePress", "mousePressed", "mouseReleased"); got != c.want {
			t.Errorf("armed %s, %v: the browser heard %s, want %s", c.armed, c.outcomes, got, c.want)
		}
	}
}

// TestWhatADocumentToldBeforeItWentCounts replaces the document before the outcome of a click can be requested.
func TestWhatADocumentToldBeforeItWentCounts(t *testing.T) {
	for _, c := range []struct {
		reported, atDown string
		kind             driver.ActionKind
		want             driver.Delivered
	}{
		{`{"reached":true,"presses":1,"clicks":1,"complete":true}`, ``, driver.Click, driver.DeliveredUnset},
		{`{"reached":true,"presses":1,"navigated":true}`, ``, driver.Click, driver.DeliveredUnset},
		{`{"reached":true}`, ``, driver.Click, driver.DeliveredPart},
		{``, ``, driver.Click, driver.DeliveredNone},
		{``, `{"reached":true,"presses":1}`, driver.Click, driver.DeliveredUnset},
		{``, `{"reached":true,"presses":1,"leaving":true}`, driver.Click, driver.DeliveredNone},
		{``, `{"reached":false}`, driver.Click, driver.DeliveredNone},
		{``, ``, driver.Drag, driver.DeliveredPart},
	} {
		held := false
		h, _ := at(t, func(command string) string {
			switch command {
			case "waitActionable":
				return `{"x":10,"y":10,"w":4,"h":4}`
			case "dragBegan":
				if held {
					return ""
				}
				held = true
				return `{"reached":true,"presses":1,"dragging":false}`
			case "awaitPress":
				return c.reported
			case "awaitDown":
				return c.atDown
			case "pressOutcome", "displacement":
				return ""
			}
			return "{}"
		})
		result, err := h.Do(t.Context(), driver.Action{Kind: c.kind, Location: driver.Location{Element: driver.Element{Ref: 5, Document: "d"}}, Delta: driver.Point{X: 7}})
		if result.Delivered != c.want || (err == nil) != (c.want == driver.DeliveredUnset) {
			t.Errorf("%q, %q: got %+v, %v", c.reported, c.atDown, result, err)
		}
	}
}

// TestAHeldButtonIsReleasedOnce presses a button and lets the next step fail. The browser must receive exactly one release.
func TestAHeldButtonIsReleasedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		broken string
		then   []driver.Action
		want   string
	}{
		"the turn ends":          {"", nil, "mouseMoved mousePressed mouseReleased"},
		"it is released":         {"", []driver.Action{{Kind: driver.MouseUp, Location: driver.At(dom.NoRef)}}, "mouseMoved mousePressed mouseReleased"},
		"the press is not heard": {"beginHold", nil, "mouseMoved mousePressed mouseReleased"},
		"the document goes":      {"heldOutcome", []driver.Action{{Kind: driver.MouseMove, Location: driver.At(dom.NoRef), Delta: driver.Point{X: 5}, Moves: 1}}, "mouseMoved mousePressed mouseMoved mouseReleased"},
	} {
		t.Run(name, func(t *testing.T) {
			h, p := at(t, func(command string) string {
				if command == c.broken {
					return ""
				}
				return map[string]string{
					"waitActionable": `{"x":10,"y":10,"w":4,"h":4}`, "beginHold": `{"reached":true,"presses":1}`, "heldOutcome": `{"moves":1,"released":true,"detail":"<p>"}`,
				}[command] + map[bool]string{true: "{}"}[command != "waitActionable" && command != "beginHold" && command != "heldOutcome"]
			})
			_, err := h.Do(t.Context(), driver.Action{Kind: driver.MouseDown, Location: driver.Location{Element: driver.Element{Ref: 5, Document: "d"}}})
			if (err != nil) != (c.broken == "beginHold") {
				t.Errorf("the press: %v", err)
			}
			for _, a := range c.then {
				if _, err := h.Do(t.Context(), a); (err != nil) != (c.broken != "") {
					t.Errorf("%v: %v", a.Kind, err)
				}
			}
			h.ReleaseButton(t.Context())
			h.ReleaseButton(t.Context())
			if _, err := h.Do(t.Context(), driver.Action{Kind: driver.MouseUp, Location: driver.At(dom.NoRef)}); !apierr.Is(err, apierr.NotActionable) {
				t.Errorf("a release with no button down: %v", err)
			}
			if err := call(t.Context(), h.page.(desk), "sync", nil, nil); err != nil { // follows the posted commands
				t.Error(err)
			}
			if got := p.done("mouseMoved", "mousePressed", "mouseReleased"); got != c.want {
				t.Errorf("the browser heard %s, want %s", got, c.want)
			}
		})
	}
}
