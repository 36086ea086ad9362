package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/launch"
)

// connection is how a Browser speaks to its process, or to the browser that it is attached to.
type connection struct {
	conn    *devtools.Conn
	root    devtools.Session
	process *launch.Browser
	logger  *slog.Logger
	version string
	mac     bool
	// life ends with the browser.
	life context.Context
	// leave notes a tab that could not be closed.
	leave func(target.ID)
}

// Version is what the browser calls itself, such as "Chrome/156.0.8078.79".
func (k *connection) Version() string { return k.version }

// Sent counts the commands that the browser was sent, chromedp's own aside.
func (k *connection) Sent() uint64 { return k.conn.Sent() }

// Received counts the bytes that the browser has sent; 0 for one that is attached by a websocket.
func (k *connection) Received() uint64 { return k.conn.Received() }

// Call sends a raw command to the browser, or to one of its sessions, and decodes its answer into result: for measuring
// floors.
func (k *connection) Call(ctx context.Context, session, method string, params, result any) error {
	return devtools.Session{Conn: k.conn, ID: target.SessionID(session)}.Call(ctx, method, params, result)
}

// Running reports whether the browser is there, as far as anybody knows. It is false before the first page is told
// that the browser is gone.
func (k *connection) Running() bool {
	select {
	case <-k.conn.Done():
		return false
	default:
		return k.life.Err() == nil
	}
}

// PID is the browser's process; 0 for one that was attached to.
func (k *connection) PID() int { return k.process.PID() }

// Ping returns when the browser's own process has answered; no page is asked. A browser that has stopped reading may
// hold it longer than ctx, until Kill.
func (k *connection) Ping(ctx context.Context) error {
	if _, err := cdp.Call(ctx, k.root, cdpbrowser.GetVersion, cdp.Empty{}); err != nil {
		return k.failed("asking the browser for its version", err)
	}
	return nil
}

// Contexts lists the ids of the browser contexts beside the default one, also those that are kept warm.
func (k *connection) Contexts(ctx context.Context) []string {
	res, err := cdp.Call(ctx, k.root, target.GetBrowserContexts, cdp.Empty{})
	if err != nil {
		return nil
	}
	ids := make([]string, len(res.BrowserContextIDs))
	for i, id := range res.BrowserContextIDs {
		ids[i] = string(id)
	}
	return ids
}

// createTarget opens a blank target in a context.
func (k *connection) createTarget(ctx context.Context, c *Context) (target.ID, error) {
	params := target.CreateTargetParams{URL: "about:blank", BrowserContextID: c.id}
	undo := func(_ context.Context, made target.CreateTargetResult) { k.closeTarget(made.TargetID) }
	res, removed, err := devtools.Create(ctx, k.root, target.CreateTarget, params, undo)
	if _, ok := errors.AsType[*cdproto.Error](err); ok { // no window to put the tab in, as in a remote browser without one
		window := true
		params.NewWindow = &window
		res, removed, err = devtools.Create(ctx, k.root, target.CreateTarget, params, undo)
	}
	return res.TargetID, unfinished(ctx, err, removed)
}

// discard closes a target that is no page, or none any more. It goes on until the browser has no target of that id, whoever
// waits for the returned channel, which is closed then.
func (k *connection) discard(id target.ID) <-chan struct{} {
	closed := make(chan struct{})
	k.conn.Go(func() {
		defer close(closed)
		k.closeTarget(id)
	})
	return closed
}

// closeTarget is discard for who waits for it in any case.
func (k *connection) closeTarget(id target.ID) {
	err := k.root.CloseTarget(context.WithoutCancel(k.life), id)
	if err == nil {
		return
	}
	k.logger.Debug("a target was not closed", "error", err)
	if !k.process.Owned() {
		k.leave(id) // the next connection closes it
	}
}

// failed names a call that failed; a lost browser is said as such.
func (k *connection) failed(what string, err error) error {
	return k.orLost(fmt.Errorf("%s: %w", what, err))
}

// orLost is an error, or that the browser is lost if that is why.
func (k *connection) orLost(err error) error {
	if errors.Is(err, devtools.ErrLost) || k.life.Err() != nil {
		return &apierr.Error{Kind: apierr.Lost, Message: "the browser is gone", Err: err}
	}
	return err
}

// proxyLimit is how long a new browser may take to show that it goes through its gate.
const proxyLimit = 20 * time.Second

// verifyProxy makes sure that the browser goes through its gate: what the machine's administrator has configured for it comes
// before its command line.
func (k *connection) verifyProxy(ctx context.Context, gate launch.Gate) error {
	if gate == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, proxyLimit)
	defer cancel()
	made, err := cdp.Call(ctx, k.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return err
	}
	defer k.discard(made.TargetID)
	s, err := k.root.Attach(ctx, made.TargetID)
	if err != nil {
		return err
	}
	url, want := gate.Probe()
	if _, err := cdp.Call(ctx, s, cdppage.Navigate, cdppage.NavigateParams{URL: url}); err != nil {
		return err
	}
	yes := true
	said, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: &yes, Expression: `new Promise(loaded => {
		document.readyState === 'complete' ? loaded() : addEventListener('load', loaded) }).then(() => document.body.innerText)`})
	if err != nil {
		return err
	}
	var text string
	if said.Result == nil || jsonv2.Unmarshal(said.Result.Value, &text, chromedp.DefaultUnmarshalOptions) != nil || text != want {
		return errors.New("it does not send its traffic through the proxy that enforces the URL policy: an administrator's policy for this browser may " +
			"name another proxy (chrome://policy shows it); name another browser with --chrome, or leave out --url-policy")
	}
	return nil
}

// unfinished is the error of something that was not created: when the browser has not removed all of it before ctx ends, an
// *driver.Unfinished. A nil removed says that nothing is to be removed.
func unfinished(ctx context.Context, err error, removed <-chan struct{}) error {
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
