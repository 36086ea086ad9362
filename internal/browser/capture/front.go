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

// Tabs of a session share a window, and only the one in front of it is drawn. The others believe that they are, by focus
// emulation, and run as fast; but once three of their frames were drawn by nobody, Chromium gives them one frame a second,
// and a picture of them waits for a frame that never comes (seen in 156; viz throttles surfaces that nobody draws).
// So who acts on a tab, or takes its picture, brings it to the front first. Pages do not notice.

const (
	// frontPatience is how long an action on one tab waits for a picture of another one in the same window.
	frontPatience = 2 * time.Second
	// frontLimit bounds the call that brings a tab to the front, and frontAgain is how often that is done again while a
	// picture is taken: a page may have opened another tab meanwhile.
	frontLimit = 2 * time.Second
	frontAgain = time.Second
)

// Front is the place in front of the window that the tabs of a session share. The zero value is nobody's.
//
// In the headless shell every tab has a window, and is brought to the front of that: it is drawn from then on.
type Front struct {
	mu sync.Mutex
	// page was brought there last, and no tab has come or gone since; nil: it is not known which one is there.
	page *Tab
	// taken is closed when a picture was taken, for which the tab in front must stay there; nil: none is being taken.
	taken chan struct{}
}

// Tab is what Front knows of a page.
type Tab struct {
	*frames.Manager
	// Window is the page's own.
	Window *windows.Window
}

// has reports whether a page is in front and may stay there.
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

// take keeps the place until release is called. When another has it for too long, it is taken all the same: a page that
// hangs is in nobody's way.
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

// Unknown notes that a tab has come or gone, so that it is not known any more which one is in front.
func (f *Front) Unknown() { f.set(nil) }

// bring brings a page to the front, if the browser can.
func (f *Front) bring(ctx context.Context, p *Tab) {
	ctx, cancel := context.WithTimeout(ctx, frontLimit)
	defer cancel()
	f.set(nil)
	p.Window.Draw(ctx)
	if _, err := cdp.Call(ctx, p.Main, cdppage.BringToFront, cdp.Empty{}); err != nil {
		p.Logger.Debug("a tab could not be brought to the front", "error", err)
		return // it is slow there, and nothing worse
	}
	f.set(p)
}

// BringToFront brings a page to the front of its window, unless it is there.
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
