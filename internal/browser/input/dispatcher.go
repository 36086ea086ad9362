// Package input acts on the elements of a page as a person does, through the browser's own input. It first checks that an element is
// actionable, and it never acts on another element.
//
// Every action takes the same steps. The observer in the element's document waits until the element is present, visible, enabled, stable
// and in view, and finds a point of the element that nothing covers (resolve). The documents around it map the point into the top-level
// viewport and check that they do not cover the frame there. After the pointer has moved to the point, all of this is checked again
// (hitTest). Until the action ends, a guard in the documents then cancels every event that would reach another element
// (observer/js/68-guard.js). Finally, the document reports what the element received, and package outcome turns the report into a result.
//
// A click is first tried in one batch (pointAhead): the guard is armed before the pointer moves and checks at the press. If the guard
// swallows that press, the click takes the steps above.
//
// Input holds a page's state: expected events, and folders of uploaded files. A Dispatcher performs one action at a time. Between actions
// it keeps only a pressed button. Callers must pass a context that ends, make no concurrent calls, call ReleaseButton when no further action will
// use the button, and call Close.
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

// Page is the part of a page that a Dispatcher needs.
type Page interface {
	// Main returns the page's own session, which receives input.
	Main() devtools.Session
	// Agent returns the observer in a frame's document. It waits if the document has none yet.
	Agent(ctx context.Context, frame dom.FrameID) (Agent, error)
	// Parent returns the parent of a frame. It returns false if there is none any more.
	Parent(frame dom.FrameID) (dom.FrameID, bool)
	// Others returns the observers of all frames except the given ones.
	Others(frames []dom.FrameID) []Agent
	// AfterDialog queues a command until the open dialog closes, because the browser drops input while a dialog is open. It returns false,
	// and does not queue the command, if no dialog is open.
	AfterDialog(step devtools.Step) bool
	// HasListeners reports whether the page has keyboard listeners on the window, the document, the root element or the body. If all is set,
	// listeners anywhere in the document count.
	HasListeners(ctx context.Context, a Agent, all bool) (bool, error)
	// EntersCharacters reports whether the focused field listens for characters, like a field that enters each character itself.
	EntersCharacters(ctx context.Context, a Agent) (bool, error)
	// Complete reports whether all frames have an observer that responds.
	Complete() bool
	// AskSettled requests whether a document has settled. TakeSettledCall returns the request when the page is to settle after the action.
	AskSettled(ctx context.Context, a Agent)
	// Expect delivers the next event of a method, until stop is called.
	Expect(method string) (event <-chan *cdproto.Message, stop func())
	// Failed converts the error of a call to an *apierr.Error, if there is a matching kind.
	Failed(err error) error
	// Mac reports whether the browser runs on a Mac.
	Mac() bool
	// Folder creates a folder that lives as long as the page.
	Folder() (string, error)
}

// Agent is the observer in one document.
type Agent interface {
	// Document returns the ID of the document, as in driver.Action.
	Document() string
	// Session returns the session of the document.
	Session() devtools.Session
	// Send sends a command to the observer.
	Send(ctx context.Context, command string, argument any) (*devtools.Call, error)
	// Handle runs a command and returns its result as an object. It returns an empty ID for null.
	Handle(ctx context.Context, command string, argument any) (runtime.RemoteObjectID, error)
}

// Dispatcher acts on one page.
type Dispatcher struct {
	page Page
	// held is the button that is down, or nil.
	held *held
}

// New returns the dispatcher of a page.
func New(p Page) *Dispatcher { return &Dispatcher{page: p} }

// patience is how long an element may take to become actionable.
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
		// Reserve some time for the response.
		if soon := end.Add(-max(time.Until(end)/5, 50*time.Millisecond)); soon.Before(t.deadline) {
			t.deadline = soon
		}
	}
	result, err := t.do(ctx)
	result.Pointer = t.pointerAt
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
	case driver.Leave:
		return (&typing{t}).leave(ctx)
	}
	return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "unknown action %d", t.action.Kind)
}

// task is an action in progress.
type task struct {
	*Dispatcher
	action   driver.Action
	deadline time.Time
	// pointerAt is where the pointer acts. It is nil while the position is unknown.
	pointerAt *driver.PointerPosition
}

// pointer performs mouse actions.
type pointer struct{ *task }

// drag drags an element.
type drag struct{ *pointer }

// typing performs keyboard actions and sets values.
type typing struct{ *task }

// upload uploads files.
type upload struct{ *pointer }

// left returns the remaining patience, in milliseconds.
func (t *task) left() int64 { return max(0, time.Until(t.deadline).Milliseconds()) }

// call runs a command of an observer.
func call(ctx context.Context, a Agent, command string, argument, result any) error {
	k, err := a.Send(ctx, command, argument)
	if err != nil {
		return err
	}
	return answer(ctx, k, result)
}

// answer waits for the response to a command.
func answer(ctx context.Context, k *devtools.Call, result any) error {
	var reply devtools.Evaluation
	if err := k.Wait(ctx, &reply); err != nil {
		return err
	}
	return reply.Decode(result)
}

// disarm disarms the guards of documents, even if ctx has ended.
func disarm(ctx context.Context, agents []Agent) {
	for _, a := range agents {
		// Do not wait: a document that is gone or hangs guards nothing.
		if k, err := a.Send(context.WithoutCancel(ctx), "disarm", nil); err == nil {
			k.Forget()
		}
	}
}
