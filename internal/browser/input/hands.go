// Package input acts on the elements of a page as a person does: with the browser's own input, after making sure that
// the element can be acted on, and never on another one.
//
// Every action goes the same way. The observer in the element's document waits until the element is there, shown, enabled, at
// rest and in view, and finds a point of it that nothing covers; the documents around it move the point into
// the top-level viewport and check that nothing of theirs covers the frame there. When the pointer has moved
// to the point, all of that is checked once more. From then on a guard in the documents swallows whatever would reach
// another element (browser/page/js/68-guard.js), until the action is over.
//
// Nothing here keeps state between actions but the folders of uploaded files. Callers owe a context that ends, one action
// at a time, and Close.
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

// Page is what hands need to know of a page.
type Page interface {
	// Main is the page's own session, to which input goes.
	Main() devtools.Session
	// Agent returns the observer in a frame's document, and waits while it has none.
	Agent(ctx context.Context, frame dom.FrameID) (Agent, error)
	// Parent returns the frame around a frame; false: there is none any more.
	Parent(frame dom.FrameID) (dom.FrameID, bool)
	// Others lists the observers of all frames but these.
	Others(frames []dom.FrameID) []Agent
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

// Hands act on one page.
type Hands struct{ page Page }

// New returns the hands of a page.
func New(p Page) *Hands { return &Hands{page: p} }

// patience is how long an element may take until it can be acted on.
const patience = 2 * time.Second

// Do performs one action; see driver.Input.
func (h *Hands) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	deed, err := h.watched(ctx, a, func(ctx context.Context) (driver.DoResult, error) { return h.do(ctx, a) })
	if err != nil {
		return deed, h.page.Failed(err)
	}
	return deed, nil
}

func (h *Hands) do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	t := &task{Hands: h, action: a, deadline: time.Now().Add(patience)}
	if end, ok := ctx.Deadline(); ok {
		// An answer is worth more than the last moment of patience.
		if soon := end.Add(-max(time.Until(end)/5, 50*time.Millisecond)); soon.Before(t.deadline) {
			t.deadline = soon
		}
	}
	switch a.Kind {
	case driver.Click:
		return t.click(ctx)
	case driver.Hover:
		return t.hover(ctx)
	case driver.Type, driver.Fill:
		return t.enter(ctx)
	case driver.Press:
		return t.press(ctx)
	case driver.Scroll:
		return t.scroll(ctx)
	case driver.Select:
		return t.choose(ctx)
	case driver.Check, driver.Uncheck:
		return t.check(ctx)
	case driver.Drag:
		return t.drag(ctx)
	case driver.Upload:
		return t.upload(ctx)
	}
	return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "unknown action %d", a.Kind)
}

// task is one action under way.
type task struct {
	*Hands
	action   driver.Action
	deadline time.Time
}

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

// letGo disarms the guards of documents, whatever happened.
func letGo(ctx context.Context, agents []Agent) {
	for _, a := range agents {
		// Nobody waits for it: a document that is gone, or hangs, guards nothing.
		if k, err := a.Send(context.WithoutCancel(ctx), "disarm", nil); err == nil {
			k.Forget()
		}
	}
}
