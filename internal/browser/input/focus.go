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
	// maxFocusDepth limits how many nested frames are followed to the focus.
	maxFocusDepth = 32
	// focusLimit bounds the search for the focus before a key press. If a frame hangs, the key is pressed anyway.
	focusLimit = time.Second
)

// focusNow returns the focused element and the observer of its document.
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

// typeToFocus types key by key into the focused element, or into the document, where a person's keys would go. If no field has the focus,
// the page must have keyboard listeners.
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
		hears, err := t.page.HasListeners(ctx, agent, !found.Document)
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

// pressAtFocus presses a chord at the focus.
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
	if err := typable(found, events); err != nil && t.action.Hold == 0 { // holdChord has its own error for a chord that cannot be held
		return driver.DoResult{}, err
	}
	return t.sendToFocus(ctx, agent, found, events, func() (bool, error) { return t.sendChord(ctx, agent, events) })
}

// sendToFocus sends keys without guards and returns what the document of the focus received.
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

// typable returns an error for text that no key types if no field has the focus. The browser would insert it at the last caret position.
func typable(found outcome.Focus, events []keys.Event) error {
	for _, e := range events {
		if e.Key == nil && !found.Editable {
			return found.NoKeyTypes(e.Text)
		}
	}
	return nil
}

// presses returns the number of key presses.
func presses(events []keys.Event, repeat int) (n int) {
	for _, e := range events {
		if e.Key != nil && e.Key.Type != input.DispatchKeyEventTypeKeyUp {
			n += max(1, repeat)
		}
	}
	return n
}

// cancelDrag cancels the current drag of data, as the Escape key does. The page receives no key event.
func (t *task) cancelDrag(ctx context.Context, h *held) (driver.DoResult, error) {
	dragged := h.dragged
	h.dragged, h.mayDrag = nil, false
	out := driver.Point{X: -1, Y: -1} // dragCancel alone does not notify the element under the pointer
	if err := t.page.Main().Run(ctx, dragEvent(input.DispatchDragEventTypeDragOver, out, dragged), dragEvent(input.DispatchDragEventTypeDragCancel, out, dragged)); err != nil {
		return driver.DoResult{}, err
	}
	return driver.DoResult{Detail: "ok, the drag was cancelled"}, nil
}
