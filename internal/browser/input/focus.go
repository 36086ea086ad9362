package input

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/input/outcome"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
)

const (
	// maxFocusDepth is how many frames in each other are followed to the focus.
	maxFocusDepth = 32
	// focusLimit bounds the search for the focus before a key is pressed: one in a frame that hangs is pressed all the same.
	focusLimit = time.Second
)

// focusNow finds what has the focus, and the observer of its document.
func (t *typing) focusNow(ctx context.Context) (a Agent, found outcome.Focus, err error) {
	frame := dom.FrameID("")
	for range maxFocusDepth {
		if a, err = t.page.Agent(ctx, frame); err != nil {
			return nil, found, err
		}
		found = outcome.Focus{}
		if err = call(ctx, a, "focusNow", nil, &found); err != nil || found.Frame == "" {
			return a, found, err
		}
		frame = dom.FrameID(found.Frame)
	}
	return a, found, nil
}

// typeToFocus types key by key to what has the focus, or to the document, where a person's keys go: what listens for keys there
// must say so, as the page's listeners do.
func (t *typing) typeToFocus(ctx context.Context) (driver.DoResult, error) {
	agent, found, err := t.focusNow(ctx)
	if err != nil {
		return driver.DoResult{}, err
	}
	if found.Control {
		return driver.DoResult{}, found.TakesNoText()
	}
	events := keys.Text(t.action.Text)
	if !found.Editable {
		hears, err := t.page.Hears(ctx, agent, !found.Document)
		if err != nil {
			return driver.DoResult{}, err
		}
		if !hears {
			return driver.DoResult{}, found.NothingListens()
		}
		events = keys.Typed(t.action.Text)
		if err := typable(found, events); err != nil {
			return driver.DoResult{}, err
		}
	}
	return t.sendToFocus(ctx, agent, found, events, func() (bool, error) { return t.send(ctx, agent, events) })
}

// pressAtFocus presses a chord where the focus is.
func (t *typing) pressAtFocus(ctx context.Context, events []keys.Event) (driver.DoResult, error) {
	bounded, cancel := context.WithTimeout(ctx, focusLimit)
	agent, found, err := t.focusNow(bounded)
	cancel()
	if err != nil && ctx.Err() == nil {
		_, err := t.sendChord(ctx, nil, events)
		return driver.DoResult{}, err
	}
	if err != nil {
		return driver.DoResult{}, err
	}
	if err := typable(found, events); err != nil && t.action.Hold == 0 { // what cannot be held has an error of its own
		return driver.DoResult{}, err
	}
	return t.sendToFocus(ctx, agent, found, events, func() (bool, error) { return t.sendChord(ctx, agent, events) })
}

// sendToFocus sends keys, which nothing blocks, and says what the document of the focus received.
func (t *typing) sendToFocus(ctx context.Context, agent Agent, found outcome.Focus, events []keys.Event, send func() (left bool, err error)) (driver.DoResult, error) {
	if err := call(ctx, agent, "watchKeys", nil, nil); err != nil {
		return driver.DoResult{}, err
	}
	left, err := send()
	if err != nil {
		if k, serr := agent.Send(context.WithoutCancel(ctx), "keysSeen", nil); serr == nil {
			k.Forget()
		}
		return driver.DoResult{}, err
	}
	if left {
		return outcome.NavigatedTooSoon(t.action)
	}
	var got outcome.Seen
	if err := call(ctx, agent, "keysSeen", nil, &got); err != nil {
		if ctx.Err() != nil {
			return driver.DoResult{}, err
		}
		return outcome.OfGoneDocument(t.action)
	}
	return got.Result(t.action, found, presses(events, t.action.Repeat))
}

// typable is the error of a text that no key types, when no field has the focus: the browser would insert it where the caret was last.
func typable(found outcome.Focus, events []keys.Event) error {
	for _, e := range events {
		if e.Key == nil && !found.Editable {
			return found.NoKeyTypes(e.Text)
		}
	}
	return nil
}

// presses counts the presses of keys.
func presses(events []keys.Event, repeat int) (n int) {
	for _, e := range events {
		if e.Key != nil && e.Key.Type != input.DispatchKeyEventTypeKeyUp {
			n += max(1, repeat)
		}
	}
	return n
}

// cancelDrag cancels the drag of data under way, as the key Escape does: the page receives no key.
func (t *task) cancelDrag(ctx context.Context, h *held) (driver.DoResult, error) {
	dragged := h.dragged
	h.dragged, h.mayDrag = nil, false
	out := driver.Point{X: -1, Y: -1} // dragCancel alone tells what is under the pointer nothing
	if err := t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDragOver, out, dragged), dragEvent(input.DispatchDragEventTypeDragCancel, out, dragged)); err != nil {
		return driver.DoResult{}, err
	}
	return driver.DoResult{Note: "ok, the drag was cancelled"}, nil
}
