package capture

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/windows"
)

// The tabs of a session share a window, and only the tab in front is drawn. Focus emulation makes the other tabs believe that they are in
// front, and they run at full speed. But after three of their frames were not drawn, Chromium limits them to one frame per second, and a
// screenshot waits for a frame that never arrives (seen in Chromium 156; viz throttles surfaces that are not drawn). So a tab is brought to
// the front before it is acted on or captured. Pages cannot detect this.

const (
	// frontPatience is how long an action on one tab waits for a screenshot of another tab in the same window.
	frontPatience = 2 * time.Second
	// frontLimit bounds the call that brings a tab to the front. frontAgain is the interval at which this is repeated during a screenshot,
	// because a page may have opened another tab.
	frontLimit = 2 * time.Second
	frontAgain = time.Second
)

// Front tracks which of the tabs that share a session's window is in front. In the zero value, the tab in front is unknown.
//
// In the headless shell every tab has its own window. Bringing it to the front of that window starts its drawing.
type Front struct {
	mu sync.Mutex
	// page is the tab that was last brought to the front. It is nil if the tab in front is unknown, because a tab has opened or closed
	// since.
	page *Tab
	// taken is closed at the end of a screenshot, during which the tab must stay in front. It is nil if no screenshot is in progress.
	taken chan struct{}
}

// Tab is a page with its window.
type Tab struct {
	*frames.Manager
	// Window is the page's own window.
	Window *windows.Window
}

// has reports whether a page is in front.
func (f *Front) has(p *Tab) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.page == p
}

func (f *Front) set(p *Tab) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.page = p
}

// take reserves the front until release is called. It waits at most frontPatience for another holder, so that a hanging page does not block
// others.
func (f *Front) take(ctx context.Context) (release func()) {
	limit := time.NewTimer(frontPatience)
	defer limit.Stop()
	for {
		f.mu.Lock()
		taken := f.taken
		if taken == nil {
			mine := make(chan struct{})
			f.taken = mine
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.taken = nil
				close(mine)
			}
		}
		f.mu.Unlock()
		select {
		case <-taken:
		case <-limit.C:
			return func() {}
		case <-ctx.Done():
			return func() {}
		}
	}
}

// Reset records that a tab has opened or closed, so that the tab in front is unknown.
func (f *Front) Reset() { f.set(nil) }

// bring brings a page to the front, if the browser supports that.
func (f *Front) bring(ctx context.Context, p *Tab) {
	ctx, cancel := context.WithTimeout(ctx, frontLimit)
	defer cancel()
	f.set(nil)
	p.Window.Draw(ctx)
	if _, err := cdp.Call(ctx, p.Main, cdppage.BringToFront, cdp.Empty{}); err != nil {
		p.Logger.Debug("a tab could not be brought to the front", "error", err)
		return // the tab is only slower in the background
	}
	f.set(p)
}

// BringToFront brings a page to the front of its window, unless it is already there.
func (f *Front) BringToFront(ctx context.Context, p *Tab) {
	if f.has(p) {
		p.Window.Draw(ctx)
		return
	}
	defer f.take(ctx)()
	f.bring(ctx, p)
}

// keep brings a page to the front of its window and keeps it there until leave is called.
func (f *Front) keep(ctx context.Context, p *Tab) (leave func()) {
	release := f.take(ctx)
	f.bring(ctx, p)
	ctx, cancel := context.WithCancel(ctx)
	var staying sync.WaitGroup
	staying.Go(func() {
		again := time.NewTicker(frontAgain)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				f.bring(ctx, p)
			}
		}
	})
	return func() {
		cancel()
		staying.Wait()
		release()
	}
}
