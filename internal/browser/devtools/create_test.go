package devtools

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
)

// wire is a browser that the test controls.
type wire struct {
	*devtoolstest.Browser
	commands chan *cdproto.Message
}

func newWire() *wire {
	w := &wire{commands: make(chan *cdproto.Message, 16)}
	w.Browser = devtoolstest.New(func(command *cdproto.Message) *cdproto.Message {
		w.commands <- command
		return nil
	})
	return w
}

// answer responds to a command.
func (w *wire) answer(to *cdproto.Message, result string, fault *cdproto.Error) {
	w.Say(&cdproto.Message{ID: to.ID, Result: []byte(result), Error: fault})
}

// onWire runs a test in a synctest bubble, on a connection to a browser that the test controls.
func onWire(t *testing.T, test func(t *testing.T, browser *wire, root Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		browser := newWire()
		conn := New(t.Context(), browser, newWire(), func(*cdproto.Message) {})
		test(t, browser, Session{Conn: conn})
		conn.Close()
	})
}

// abandon creates a target for a caller that gives up before the browser has responded, and returns the command.
func abandon(t *testing.T, browser *wire, root Session, undo func(context.Context, target.CreateTargetResult)) (asked *cdproto.Message, removed <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		asked = <-browser.commands
		cancel()
	}()
	_, removed, err := Create(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"}, undo)
	if !errors.Is(err, context.Canceled) || removed == nil {
		t.Fatalf("the error is %v, and removed %v", err, removed)
	}
	synctest.Wait()
	return asked, removed
}

func TestWhatIsCreatedTooLateIsRemoved(t *testing.T) {
	onWire(t, func(t *testing.T, browser *wire, root Session) {
		asked, removed := abandon(t, browser, root, func(ctx context.Context, late target.CreateTargetResult) {
			if err := root.CloseTarget(ctx, late.TargetID); err != nil {
				t.Error(err)
			}
		})
		browser.answer(asked, `{"targetId":"T"}`, nil)
		for range 2 { // the browser drops the first close
			browser.answer(<-browser.commands, `{"success":true}`, nil)
		}
		again := <-browser.commands
		select {
		case <-removed:
			t.Error("it counts as removed before the browser says so")
		default:
		}
		if again.Method != target.CommandCloseTarget || string(again.Params) != `{"targetId":"T"}` {
			t.Errorf("the browser was told %s %s", again.Method, again.Params)
		}
		browser.answer(again, "", &cdproto.Error{Code: -32602, Message: "No target with given id found"})
		<-removed
	})
}

func TestWhatIsNotCreatedAfterAllIsNotRemoved(t *testing.T) {
	undo := func(context.Context, target.CreateTargetResult) { t.Error("there was nothing to remove") }
	onWire(t, func(t *testing.T, browser *wire, root Session) {
		asked, removed := abandon(t, browser, root, undo)
		browser.answer(asked, "", &cdproto.Error{Code: -32000, Message: "no window"})
		<-removed
		_, removed = abandon(t, browser, root, undo)
		root.Conn.Close() // no response will arrive
		<-removed
		ran := false
		if root.Conn.Go(func() { ran = true }); !ran {
			t.Error("what is due after the end of the connection does not run")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := Create(ctx, root, target.CreateTarget, target.CreateTargetParams{}, undo); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if len(browser.commands) > 0 {
			t.Error("a call that was over before it began was sent")
		}
	})
}
