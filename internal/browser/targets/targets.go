// Package targets opens and closes the targets of a browser, which are its tabs.
//
// A discarded target is closed even if no caller waits for that. Targets that could not be closed, because the connection to a remote
// browser was lost, are remembered for the next connection (Abandoned).
//
// Callers must pass Open a context that ends. All other calls end with the connection.
package targets

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// Targets opens and closes the targets of one browser.
type Targets struct {
	root   devtools.Session
	life   context.Context
	logger *slog.Logger
	of     Browser

	mu sync.Mutex
	// left holds the targets that a remote browser may still have when the connection is lost.
	left []target.ID
}

// Browser describes a browser as far as its targets depend on it.
type Browser struct {
	// Owned reports whether we started the browser, so that it ends with the connection.
	Owned bool
	// Shell reports whether the browser is the headless shell.
	Shell bool
}

// New returns the targets of the browser with the root session root. life ends with the browser.
func New(life context.Context, root devtools.Session, of Browser, logger *slog.Logger) *Targets {
	return &Targets{root: root, life: life, logger: logger, of: of}
}

// offset is the distance of headless shell windows from the left and top of the screen, in pixels. The shell assumes the mouse pointer at
// 0,0, where it also puts its windows by default. A page in such a window would be hovered although the pointer has not moved. If such a
// page locked the pointer, the browser would endlessly move the pointer to the middle of the page, which keeps a CPU core and the page
// busy.
const offset = 1

// create is target.CreateTarget with a size that may be 0.
var create = cdp.Command[createParams, target.CreateTargetResult]{Method: target.CommandCreateTarget}

type createParams struct {
	target.CreateTargetParams
	Width  *int64 `json:"width,omitzero"`
	Height *int64 `json:"height,omitzero"`
}

// Open opens a blank target in a browser context. An empty context is the default one. In the headless shell, the window has no size; see
// package windows.
func (t *Targets) Open(ctx context.Context, in cdp.BrowserContextID) (target.ID, error) {
	params := createParams{CreateTargetParams: target.CreateTargetParams{URL: "about:blank", BrowserContextID: in}}
	if t.of.Shell {
		params.Left, params.Top = new(int64(offset)), new(int64(offset))
		params.Width, params.Height = new(int64(0)), new(int64(0))
	}
	undo := func(_ context.Context, made target.CreateTargetResult) { t.close(made.TargetID) }
	res, removed, err := devtools.Create(ctx, t.root, create, params, undo)
	if _, ok := errors.AsType[*cdproto.Error](err); ok { // the remote browser has no window for the tab
		window := true
		params.NewWindow = &window
		res, removed, err = devtools.Create(ctx, t.root, create, params, undo)
	}
	return res.TargetID, NotCreated(ctx, err, removed)
}

// Uncover moves the window of a target that a page has opened away from the mouse pointer, if necessary; see offset.
func (t *Targets) Uncover(ctx context.Context, id target.ID) error {
	if !t.of.Shell {
		return nil
	}
	window, err := cdp.Call(ctx, t.root, browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: id})
	if err != nil {
		return err
	}
	if b := window.Bounds; b == nil || b.Left != nil && *b.Left > 0 || b.Top != nil && *b.Top > 0 {
		return nil
	}
	_, err = cdp.Call(ctx, t.root, browser.SetWindowBounds, browser.SetWindowBoundsParams{
		WindowID: window.WindowID, Bounds: &browser.Bounds{Left: new(int64(offset)), Top: new(int64(offset))}})
	return err
}

// Discard closes a target that never was or no longer is a page. It continues in the background until the browser no longer has the target,
// and then closes the returned channel.
func (t *Targets) Discard(id target.ID) <-chan struct{} {
	closed := make(chan struct{})
	t.root.Conn.Go(func() {
		defer close(closed)
		t.close(id)
	})
	return closed
}

// close closes a target and returns when it is gone.
func (t *Targets) close(id target.ID) {
	err := t.root.CloseTarget(context.WithoutCancel(t.life), id)
	if err == nil {
		return
	}
	t.logger.Debug("a target was not closed", "error", err)
	if !t.of.Owned {
		t.Abandon(id) // the next connection closes it
	}
}

// Abandon records a target that the browser may still have when the connection is lost.
func (t *Targets) Abandon(id target.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.left, id) {
		t.left = append(t.left, id)
	}
}

// Abandoned returns the recorded targets.
func (t *Targets) Abandoned() []target.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.left)
}

// CloseAbandoned closes the targets that an earlier connection has left open. IDs are unique, so it affects nothing in another browser.
func (t *Targets) CloseAbandoned(ctx context.Context, before *Targets) {
	for _, id := range before.Abandoned() {
		_, _ = cdp.Call(ctx, t.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
	}
}

// NotCreated returns the error for an object that was not created. If the browser has not removed it completely before ctx ends, the error
// is a *driver.NotCreatedError. A nil removed means that nothing must be removed.
func NotCreated(ctx context.Context, err error, removed <-chan struct{}) error {
	if err == nil || removed == nil {
		return err
	}
	select {
	case <-removed:
		return err
	case <-ctx.Done():
		return &driver.NotCreatedError{Err: err, Removed: removed}
	}
}
