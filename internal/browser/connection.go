package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/launch"
	"github.com/domtap/domtap/internal/browser/targets"
	"github.com/domtap/domtap/internal/browser/windows"
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
	life    context.Context
	targets *targets.Targets
	// windows are those of the headless shell.
	windows *windows.Windows
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

// verifyProxy makes sure that the browser goes through its proxy.
func (k *connection) verifyProxy(ctx context.Context, gate launch.Gate) error {
	ctx, cancel := context.WithTimeout(ctx, launch.ProxyLimit)
	defer cancel()
	made, err := cdp.Call(ctx, k.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return err
	}
	defer k.targets.Discard(made.TargetID)
	s, err := k.root.Attach(ctx, made.TargetID)
	if err != nil {
		return err
	}
	return launch.VerifyProxy(ctx, s, gate)
}
