// Package input acts on the elements of a page as a person does: with the browser's own input, after making sure that the
// element can be acted on, and never on another one.
//
// Every action goes the same way. The observer in the element's document waits until the element is there, shown, enabled, at
// rest and in view, and finds a point of the element that nothing covers (resolve); the documents around it move the point
// into the top-level viewport and check that nothing of theirs covers the frame there. When the pointer has moved to the
// point, all of that is checked once more (hitTest). From then on a guard in the documents swallows whatever would reach
// another element (observer/js/68-guard.js), until the action is over. Then the document reports what the element received,
// and package outcome says that in words.
//
// A click is tried in one batch first (pointAhead): the guard is armed before the pointer moves, and checks at the press. When
// it swallows that press, the click goes the way above.
//
// Input is a page's state: expected events, and folders of uploaded files. A Dispatcher performs one action at a time and
// keeps nothing between actions but a button that is down. Callers owe a context that ends, one action at a time, LetGo when no
// more follow that may use the button, and Close.
package input

import (
	"context"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// Page is what a Dispatcher needs of a page.
type Page interface {
	// Main is the page's own session, to which input goes.
	Main() devtools.Session
	// Agent returns the observer in a frame's document, and waits while it has none.
	Agent(ctx context.Context, frame dom.FrameID) (Agent, error)
	// Parent returns the frame around a frame; false: there is none any more.
	Parent(frame dom.FrameID) (dom.FrameID, bool)
	// Others lists the observers of all frames but these.
	Others(frames []dom.FrameID) []Agent
	// AfterDialog keeps a command until the dialog that is open is closed: the browser drops input meanwhile. False: none is open, and
	// the command is not kept.
	AfterDialog(step devtools.Step) bool
	// Hears reports whether the page listens for the keyboard: on the document, above it or on the body, or with all anywhere in
	// the document.
	Hears(ctx context.Context, a Agent, all bool) (bool, error)
	// Complete says that all frames have an observer that answers.
	Complete() bool
	// AskRest asks a document whether it is at rest, for who settles the page after the action.
	AskRest(ctx context.Context, a Agent)
	// Expect delivers the next event of a method, until stop is called.
	Expect(method string) (event <-chan *cdproto.Message, stop func())
	// Failed gives the error of a call its kind.
	Failed(err error) error
	// Mac says that the browser runs on a Mac.
	Mac() bool
	// Folder makes a new folder that lives as long as the page.
	Folder() (string, error)
}

// Agent is the observer in one document.
type Agent interface {
	// Document names the document, as driver.Action does.
	Document() string
	// Session is the one that reaches the document.
	Session() devtools.Session
	// Send begins a command of the observer.
	Send(ctx context.Context, command string, argument any) (*devtools.Call, error)
	// Handle runs a command and returns its answer as an object; empty when that is null.
	Handle(ctx context.Context, command string, argument any) (runtime.RemoteObjectID, error)
}

// Dispatcher acts on one page.
type Dispatcher struct {
	page Page
	// held is the button that is down; nil: none is.
	held *held
}

// New returns the dispatcher of a page.
func New(p Page) *Dispatcher { return &Dispatcher{page: p} }

// patience is how long an element may take until it can be acted on.
const patience = 2 * time.Second

// Do performs one action; see driver.Input.
func (h *Dispatcher) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	result, err := h.watched(ctx, a, func(ctx context.Context) (driver.DoResult, error) { return h.do(ctx, a) })
	if err != nil {
		return result, h.page.Failed(err)
	}
	return result, nil
}

func (h *Dispatcher) do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	t := &task{Dispatcher: h, action: a, deadline: time.Now().Add(patience)}
	if end, ok := ctx.Deadline(); ok {
		// An answer is worth more than the last moment of patience.
		if soon := end.Add(-max(time.Until(end)/5, 50*time.Millisecond)); soon.Before(t.deadline) {
			t.deadline = soon
		}
	}
	result, err := t.do(ctx)
	result.Aim = t.aim
	return result, err
}

// do performs the action.
func (t *task) do(ctx context.Context) (driver.DoResult, error) {
	pointer := &pointer{t}
	switch a := t.action; a.Kind {
	case driver.Click:
		return pointer.click(ctx)
	case driver.Hover:
		return pointer.hover(ctx)
	case driver.Type, driver.Fill:
		return (&typing{t}).enterText(ctx)
	case driver.Press:
		return (&typing{t}).press(ctx)
	case driver.Scroll:
		return pointer.scroll(ctx)
	case driver.Select:
		return (&typing{t}).choose(ctx)
	case driver.Check, driver.Uncheck:
		return pointer.check(ctx)
	case driver.Drag:
		return (&drag{pointer}).do(ctx)
	case driver.Upload:
		return (&upload{pointer}).do(ctx)
	case driver.MouseDown:
		return pointer.down(ctx)
	case driver.MouseMove:
		return pointer.moveTo(ctx)
	case driver.MouseUp:
		return pointer.up(ctx)
	}
	return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "unknown action %d", t.action.Kind)
}

// task is one action under way.
type task struct {
	*Dispatcher
	action   driver.Action
	deadline time.Time
	// aim is where the pointer acts, once that is known.
	aim *driver.Aim
}

// pointer acts with the mouse.
type pointer struct{ *task }

// drag drags an element.
type drag struct{ *pointer }

// typing acts with the keyboard, and on values.
type typing struct{ *task }

// upload gives files away.
type upload struct{ *pointer }

// left is how much patience is left, in milliseconds.
func (t *task) left() int64 { return max(0, time.Until(t.deadline).Milliseconds()) }

// call runs a command of an observer.
func call(ctx context.Context, a Agent, command string, argument, result any) error {
	k, err := a.Send(ctx, command, argument)
	if err != nil {
		return err
	}
	return answer(ctx, k, result)
}

// answer waits for the answer of a command.
func answer(ctx context.Context, k *devtools.Call, result any) error {
	var reply devtools.Evaluation
	if err := k.Wait(ctx, &reply); err != nil {
		return err
	}
	return reply.Decode(result)
}

// disarm disarms the guards of documents, whatever happened.
func disarm(ctx context.Context, agents []Agent) {
	for _, a := range agents {
		// Nobody waits for it: a document that is gone, or hangs, guards nothing.
		if k, err := a.Send(context.WithoutCancel(ctx), "disarm", nil); err == nil {
			k.Forget()
		}
	}
}
