package browser

import (
	"context"
	"errors"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/storagestate"
	"github.com/domtap/domtap/internal/sessions"
)

// This file is what a supervisor of several browsers asks of one; see package fleet.

var errKilled = errors.New("the browser was killed because it did not answer")

// Running reports whether the browser is there, as far as anybody knows. It is false before the first page is told
// that the browser is gone.
func (b *Browser) Running() bool {
	select {
	case <-b.conn.Done():
		return false
	default:
		return b.ctx.Err() == nil
	}
}

// PID is the browser's process; 0 for one that was attached to.
func (b *Browser) PID() int { return b.process.PID() }

// Ping returns when the browser's own process has answered; no page is asked. A browser that has stopped reading may
// hold it longer than ctx, until Kill.
func (b *Browser) Ping(ctx context.Context) error {
	if _, err := cdp.Call(ctx, b.root, cdpbrowser.GetVersion, cdp.Empty{}); err != nil {
		return b.failed("asking the browser for its version", err)
	}
	return nil
}

// Kill ends the browser at once, whatever it does, with all its processes; a remote one is let go of. Its pages end as
// those of a browser that crashed, and so do calls that are under way. Close is still owed.
func (b *Browser) Kill() {
	b.leave()
	b.process.Kill()
	b.cancel(errKilled)
	b.conn.Cut()
}

// DeliverTo has the pages that pages open themselves sent to a channel of the caller's, which lives longer than the
// browser, and not to Pages. It is called before the first page is opened.
func (b *Browser) DeliverTo(popups chan<- driver.Popup) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deliver = popups
}

// delivery is where popups go.
func (b *Browser) delivery() chan<- driver.Popup {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deliver
}

// OpenPages is how many pages are open, those of sessions that are kept ready included.
func (b *Browser) OpenPages() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pages)
}

// Stirred counts what may have changed the cookies of a session; 0 when there is no such session.
func (b *Browser) Stirred(session string) uint64 {
	c, err := b.context(session)
	if err != nil {
		return 0
	}
	return c.stirs.Load()
}

// Cookies reads the cookies of a session in one trip; partitioned ones are left out.
func (b *Browser) Cookies(ctx context.Context, session string) ([]sessions.Cookie, error) {
	c, err := b.context(session)
	if err != nil {
		return nil, err
	}
	cookies, err := storagestate.Cookies(ctx, b.root, c.id)
	if err != nil {
		return nil, b.failed("reading a session", err)
	}
	return cookies, nil
}

// leave notes what a remote browser keeps open when the connection to it is lost: the tabs of the default session. The
// others end with their contexts. The pages have not ended yet.
func (b *Browser) leave() {
	if b.process.Owned() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.pages {
		if p.context.id == "" {
			b.left = append(b.left, p.id)
		}
	}
}

// Starter returns what starts a browser, or attaches to one, each time it is called, by one goroutine at a time. When a
// connection to a remote browser was lost, the next one closes the tabs that were left open in it.
func Starter(cfg Config) func(ctx context.Context) (*Browser, error) {
	var last *Browser
	return func(ctx context.Context) (*Browser, error) {
		b, err := Start(ctx, cfg)
		if err != nil || b.process.Owned() {
			return b, err
		}
		if last != nil {
			b.tidyAfter(ctx, last)
		}
		last = b
		return b, nil
	}
}

// tidyAfter closes what an earlier connection left. In another browser there are no tabs of these ids.
func (b *Browser) tidyAfter(ctx context.Context, before *Browser) {
	before.mu.Lock()
	left := before.left
	before.mu.Unlock()
	for _, id := range left {
		_, _ = cdp.Call(ctx, b.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
	}
}
