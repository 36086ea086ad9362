// Package windows says which windows of the headless shell are drawn.
//
// The shell gives every page a window of its own, and draws all of them: a page that changes ten times a second takes 2 to 3 % of
// a core for frames that nobody sees. A window without a size is not drawn. Focus emulation tells its page all the same that it is
// visible, and device metrics give the page its size; once three of its frames were drawn by nobody, Chromium gives it one frame
// a second, as it does with tabs that are behind another one in the full browser (seen in 156). Until its window is drawn
// again, the page's outerWidth and outerHeight are 0, and a picture of it waits for a frame that never comes.
//
// So windows are opened without a size. Whoever needs frames of a page, to act on it or to take its picture, calls Draw first.
// The few windows that were used last stay drawn.
//
// Callers owe a Close for each window, when its page is gone.
package windows

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
)

const (
	// kept is how many windows stay drawn however long nobody has used them: those that a client works in.
	kept = 4
	// rest is how long a window stays drawn at least: an action goes on after the call of Draw.
	rest = 5 * time.Second
	// findLimit bounds the question for a window.
	findLimit = 2 * time.Second
)

// Windows are the windows of one browser.
type Windows struct {
	root   devtools.Session
	life   context.Context
	logger *slog.Logger

	mu sync.Mutex
	// drawn are those that are drawn, the one that was used last at the end.
	drawn []*Window
	// timer calls trim when the first of too many has rested; nil: there are not too many.
	timer *time.Timer
}

// New makes the windows of the browser that root is the session of. Life ends with the browser.
func New(life context.Context, root devtools.Session, logger *slog.Logger) *Windows {
	return &Windows{root: root, life: life, logger: logger}
}

// Window is the window of a page. A nil one is a window that is always drawn.
type Window struct {
	all    *Windows
	page   devtools.Session
	target target.ID
	// size is that of the page, in CSS pixels.
	size func() (width, height int64)

	// The rest is guarded by the mutex of all.

	// id is the window's; known is false until the browser was asked.
	id    browser.WindowID
	known bool
	// used is when it was drawn last, or was to be. closed says that the page is gone.
	used   time.Time
	closed bool
}

// Of is the window of a page, which was opened without a size; size is that of the page, in CSS pixels.
func (w *Windows) Of(page devtools.Session, id target.ID, size func() (width, height int64)) *Window {
	return &Window{all: w, page: page, target: id, size: size}
}

// Draw has the window drawn from now on: commands that are sent after it meet a page that has frames. When the browser does
// not say which window it is, nothing is done: the page is slow then, and nothing worse.
func (w *Window) Draw(ctx context.Context) {
	if w == nil {
		return
	}
	if err := w.find(ctx); err != nil {
		w.all.logger.Debug("a window could not be drawn", "page", string(w.target), "error", err)
		return
	}
	w.all.use(w)
}

// Close says that the page is gone.
func (w *Window) Close() {
	if w == nil {
		return
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.closed = true
	if i := slices.Index(w.all.drawn, w); i >= 0 {
		w.all.drawn = slices.Delete(w.all.drawn, i, i+1)
	}
	w.all.trimLocked()
}

// find asks the browser for the window's id, once.
func (w *Window) find(ctx context.Context) error {
	w.all.mu.Lock()
	known := w.known
	w.all.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	found, err := cdp.Call(ctx, w.all.root, browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: w.target})
	if err != nil {
		return err
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.id, w.known = found.WindowID, true
	return nil
}

// use draws a window, and makes it the one that was used last. Commands are sent with the lock held, so that the browser has them
// in this order; nobody waits for their answers.
func (w *Windows) use(one *Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.closed {
		return
	}
	if i := slices.Index(w.drawn, one); i >= 0 {
		w.drawn = slices.Delete(w.drawn, i, i+1)
	} else {
		width, height := one.size()
		w.resize(one, width, height)
	}
	w.drawn = append(w.drawn, one)
	one.used = time.Now()
	w.trimLocked()
}

// trim stops to draw windows that nobody has used for a while, if there are too many.
func (w *Windows) trim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trimLocked()
}

// trimLocked is trim for who holds the lock.
func (w *Windows) trimLocked() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	for len(w.drawn) > kept && w.life.Err() == nil {
		oldest := w.drawn[0]
		if left := rest - time.Since(oldest.used); left > 0 {
			w.timer = time.AfterFunc(left, w.trim)
			return
		}
		w.drawn = slices.Delete(w.drawn, 0, 1)
		w.hide(oldest)
	}
}

// hide lets a window be drawn no more. The browser goes on to draw what its window showed last, without end and
// whatever its size, until the page has a surface that was never drawn; a view that gets its size back has such a one. The page
// does not notice, for its size is that of its device metrics.
func (w *Windows) hide(one *Window) {
	w.resize(one, 0, 0)
	width, height := one.size()
	one.page.Post(w.life, "Emulation.setVisibleSize", size{width, height}) // cdproto does not know it
}

// resize gives a window a size.
func (w *Windows) resize(one *Window, width, height int64) {
	w.root.Post(w.life, browser.CommandSetWindowBounds, struct {
		WindowID browser.WindowID `json:"windowId"`
		Bounds   size             `json:"bounds"`
	}{one.id, size{width, height}})
}

// size is a size in CSS pixels. Those of cdproto leave out zeros.
type size struct {
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}
