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

// connection communicates with a Browser's process, or with the browser that it is attached to.
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
	// windows manages the windows of a headless shell.
	windows *windows.Windows
}

// Version returns the browser's own name and version, such as "Chrome/156.0.8078.79".
func (k *connection) Version() string { return k.version }

// Sent returns the number of commands sent to the browser, without chromedp's own.
func (k *connection) Sent() uint64 { return k.conn.Sent() }

// Received returns the number of bytes that the browser has sent. It is 0 for a browser that is attached by a WebSocket.
func (k *connection) Received() uint64 { return k.conn.Received() }

// Call sends a raw command to the browser, or to one of its sessions, and decodes the response into result. Benchmarks use it to measure
// minimum latencies.
func (k *connection) Call(ctx context.Context, session, method string, params, result any) error {
	return devtools.Session{Conn: k.conn, ID: target.SessionID(session)}.Call(ctx, method, params, result)
}

// Running reports whether the browser is running, as far as is known. It turns false before any page learns that the browser is gone.
func (k *connection) Running() bool {
	select {
	case <-k.conn.Done():
		return false
	default:
		return k.life.Err() == nil
	}
}

// PID returns the browser's process ID, or 0 for a remote browser.
func (k *connection) PID() int { return k.process.PID() }

// Ping waits for a response from the browser process; it involves no page. If the browser has stopped reading, Ping may block beyond ctx,
// until Kill.
func (k *connection) Ping(ctx context.Context) error {
	if _, err := cdp.Call(ctx, k.root, cdpbrowser.GetVersion, cdp.Empty{}); err != nil {
		return k.failed("asking the browser for its version", err)
	}
	return nil
}

// Contexts returns the IDs of all browser contexts except the default one, including the contexts of warm sessions.
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

// failed wraps the error of a call. It returns an error of kind Lost if the browser is gone.
func (k *connection) failed(what string, err error) error {
	return k.orLost(fmt.Errorf("%s: %w", what, err))
}

// orLost returns an error of kind Lost if the browser is gone, else err.
func (k *connection) orLost(err error) error {
	if errors.Is(err, devtools.ErrLost) || k.life.Err() != nil {
		return &apierr.Error{Kind: apierr.Lost, Message: "the browser is gone", Err: err}
	}
	return err
}

// verifyProxy checks that the browser connects through its proxy.
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
