// Package targets opens and closes the targets of a browser: what CDP calls its tabs.
//
// A target that is discarded is closed whether or not somebody waits for that. Targets that could not be closed, because the
// connection to a browser of somebody else was lost, are remembered for the next connection (Left).
//
// Callers owe a context that ends for Open; the others end with the connection.
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
	// left are the targets that a browser of somebody else may still have when the connection is lost.
	left []target.ID
}

// Browser is what matters of a browser to its targets.
type Browser struct {
	// Owned says that it is ours: it ends with the connection, and its targets with it.
	Owned bool
	// Shell says that it is the headless shell.
	Shell bool
}

// New makes the targets of the browser that root is the session of. Life ends with the browser.
func New(life context.Context, root devtools.Session, of Browser, logger *slog.Logger) *Targets {
	return &Targets{root: root, life: life, logger: logger, of: of}
}

// offset is where windows of the headless shell are put: so many pixels from the left and the top of the screen. The shell takes
// the machine's pointer to be at the corner of the screen, at 0,0, where it puts its windows, too. A page in such a window is
// hovered though nobody has moved the pointer, and when it locks the pointer, the browser moves that to the middle of the page
// without end, which keeps a processor and the page busy.
const offset = 1

// create is target.CreateTarget with a size that may be 0.
var create = cdp.Command[createParams, target.CreateTargetResult]{Method: target.CommandCreateTarget}

type createParams struct {
	target.CreateTargetParams
	Width  *int64 `json:"width,omitzero"`
	Height *int64 `json:"height,omitzero"`
}

// Open opens a blank target in a browser context; empty: in the default one. Its window in the headless shell has no size; see
// package windows.
func (t *Targets) Open(ctx context.Context, in cdp.BrowserContextID) (target.ID, error) {
	params := createParams{CreateTargetParams: target.CreateTargetParams{URL: "about:blank", BrowserContextID: in}}
	if t.of.Shell {
		params.Left, params.Top = new(int64(offset)), new(int64(offset))
		params.Width, params.Height = new(int64(0)), new(int64(0))
	}
	undo := func(_ context.Context, made target.CreateTargetResult) { t.close(made.TargetID) }
	res, removed, err := devtools.Create(ctx, t.root, create, params, undo)
	if _, ok := errors.AsType[*cdproto.Error](err); ok { // no window to put the tab in, as in a remote browser without one
		window := true
		params.NewWindow = &window
		res, removed, err = devtools.Create(ctx, t.root, create, params, undo)
	}
	return res.TargetID, Unfinished(ctx, err, removed)
}

// Uncover moves the window of a target that a page has opened away from the machine's pointer; see offset. It does nothing where
// there is no need to.
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

// Discard closes a target that is not a page, or none any more. It goes on until the browser has no target of that id, whoever
// waits for the returned channel, which is closed then.
func (t *Targets) Discard(id target.ID) <-chan struct{} {
	closed := make(chan struct{})
	t.root.Conn.Go(func() {
		defer close(closed)
		t.close(id)
	})
	return closed
}

// close closes a target, and returns when it is gone.
func (t *Targets) close(id target.ID) {
	err := t.root.CloseTarget(context.WithoutCancel(t.life), id)
	if err == nil {
		return
	}
	t.logger.Debug("a target was not closed", "error", err)
	if !t.of.Owned {
		t.Leave(id) // the next connection closes it
	}
}

// Leave notes a target that the browser may still have when the connection is lost.
func (t *Targets) Leave(id target.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.left, id) {
		t.left = append(t.left, id)
	}
}

// Left are the targets that were noted.
func (t *Targets) Left() []target.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.left)
}

// CloseLeft closes what an earlier connection has left. In another browser there are no targets of these ids.
func (t *Targets) CloseLeft(ctx context.Context, before *Targets) {
	for _, id := range before.Left() {
		_, _ = cdp.Call(ctx, t.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
	}
}

// Unfinished is the error of something that was not created: when the browser has not removed all of it before ctx ends, a
// *driver.Unfinished. A nil removed says that nothing is to be removed.
func Unfinished(ctx context.Context, err error, removed <-chan struct{}) error {
	if err == nil || removed == nil {
		return err
	}
	select {
	case <-removed:
		return err
	case <-ctx.Done():
		return &driver.Unfinished{Err: err, Removed: removed}
	}
}
