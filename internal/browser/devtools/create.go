package devtools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
)

// Go runs f in a goroutine that Close waits for. It serves work that must be done after its caller has left. Calls of f fail when the
// connection ends. If the connection has already ended, f runs before Go returns.
func (c *Conn) Go(f func()) {
	c.mu.Lock()
	select {
	case <-c.done:
		c.mu.Unlock()
		f()
		return
	default:
	}
	c.wg.Go(f) // readBrowser still runs, so that Close cannot have finished its wait
	c.mu.Unlock()
}

// Create calls a command that creates something that must be removed again: a target, a context, a stream. If ctx ends before the response
// arrives, Create returns immediately. When the response arrives later, undo removes the created object. removed is closed when that is
// done or nothing was created. In all other cases removed is nil.
func Create[P, R any](ctx context.Context, s Session, c cdp.Command[P, R], params P, undo func(context.Context, R)) (made R, removed <-chan struct{}, err error) {
	var none R
	if ctx.Err() != nil {
		return none, nil, fmt.Errorf("%s: %w", c.Method, context.Cause(ctx))
	}
	k, err := s.Send(ctx, c.Method, params)
	if err != nil {
		return none, nil, err
	}
	select {
	case r := <-k.reply:
		if err := k.decode(r, &made); err != nil {
			return none, nil, err
		}
		return made, nil, nil
	case <-s.Conn.done:
		if err := k.Wait(ctx, &made); err != nil {
			return none, nil, err
		}
		return made, nil, nil
	case <-ctx.Done():
	}
	done, late := make(chan struct{}), context.WithoutCancel(ctx)
	s.Conn.Go(func() {
		defer close(done)
		var unwanted R
		if k.Wait(late, &unwanted) == nil {
			undo(late, unwanted)
		}
	})
	return none, done, fmt.Errorf("%s: %w", c.Method, context.Cause(ctx))
}

const (
	// closeAgain is the first pause between two attempts to close a target. It doubles up to maxCloseAgain.
	closeAgain    = 10 * time.Millisecond
	maxCloseAgain = time.Second
)

// CloseTarget closes a target and returns when the browser no longer has it. A response to Target.closeTarget does not guarantee that: the
// browser confirms but drops a close that arrives while it commits a document.
func (s Session) CloseTarget(ctx context.Context, id target.ID) error {
	for pause := closeAgain; ; pause = min(2*pause, maxCloseAgain) {
		_, err := cdp.Call(ctx, s, target.CloseTarget, target.CloseTargetParams{TargetID: id})
		if IsNoTarget(err) {
			return nil
		}
		if err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-s.Conn.done:
		}
		timer.Stop()
	}
}

// CreateContext creates a browser context, which ends with the connection at the latest. proxy and bypass are values for --proxy-server and
// --proxy-bypass-list. If empty, the browser's settings apply. It returns as Create does.
func (s Session) CreateContext(ctx context.Context, proxy, bypass string) (id cdp.BrowserContextID, removed <-chan struct{}, err error) {
	yes := true
	made, removed, err := Create(ctx, s, target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: &yes, ProxyServer: proxy, ProxyBypassList: bypass},
		func(ctx context.Context, late target.CreateBrowserContextResult) {
			_ = s.DisposeContext(ctx, late.BrowserContextID)
		})
	return made.BrowserContextID, removed, err
}

// DisposeContext ends a browser context with all its pages. An unknown context is not an error.
func (s Session) DisposeContext(ctx context.Context, id cdp.BrowserContextID) error {
	_, err := cdp.Call(ctx, s, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: id})
	if refusedWith(err, "Failed to find context") {
		return nil
	}
	return err
}

// IsNoTarget reports whether the browser responded that it has no such target.
func IsNoTarget(err error) bool { return refusedWith(err, "No target") }

// IsTargetCrashed reports whether the browser responded that the target's renderer has crashed.
func IsTargetCrashed(err error) bool { return refusedWith(err, "Target crashed") }

// refusedWith reports whether the browser rejected a command with a message that contains text.
func refusedWith(err error, text string) bool {
	var refused *cdproto.Error
	return errors.As(err, &refused) && strings.Contains(refused.Message, text)
}
