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
	"math"
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
	// fade is how long a window is a point before it has no size.
	fade = time.Second
	// refresh is how long a window has no size at most; glimpse is how long it is drawn then. What the browser keeps of a frame until
	// the frame is presented, it keeps for ever where none is: each second, a little that spoils much of the page's heap. The next
	// frame that is presented frees all of it. A point does not do, and no more than one frame a second may be made at first.
	refresh = time.Minute
	glimpse = 2 * time.Second
	// crowd is how many windows are drawn before those that nobody uses wait for their glimpse.
	crowd = 2 * kept
	// findLimit bounds the question for a window.
	findLimit = 2 * time.Second
)

// The sizes that windows have. They say nothing of the page's size, but each pixel of what was drawn last takes four bytes of the
// browser's memory.
var (
	// shown is that of a window that is drawn, which is what the shell gives to windows by itself.
	shown = size{800, 600}
	// point is the smallest that is drawn. A window becomes one before it has no size, so that its memory is free.
	point = size{1, 1}
	none  = size{}
)

// Windows are the windows of one browser.
type Windows struct {
	root   devtools.Session
	life   context.Context
	logger *slog.Logger

	mu sync.Mutex
	// drawn are those that are drawn, the one that was used last at the end; points are those that are about to have no size, and
	// hidden those that have none, the one that became such last at the end.
	drawn, points, hidden []*Window
	// timer calls trim when something is due; nil: nothing is.
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
	// used is when it was drawn last, or was to be; shrunk is when it became a point, vanished when it lost its size. closed says
	// that the page is gone.
	used, shrunk, vanished time.Time
	closed                 bool
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
	w.all.drawn, _ = without(w.all.drawn, w)
	w.all.forgetLocked(w)
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
	var drawn bool
	if w.drawn, drawn = without(w.drawn, one); !drawn {
		w.forgetLocked(one)
		w.resize(one, shown)
	}
	w.drawn = append(w.drawn, one)
	one.used = time.Now()
	w.trimLocked()
}

// forgetLocked takes a window out of those that are not drawn.
func (w *Windows) forgetLocked(one *Window) {
	w.points, _ = without(w.points, one)
	w.hidden, _ = without(w.hidden, one)
}

// without is a list without a window, and whether that was in it.
func without(list []*Window, one *Window) ([]*Window, bool) {
	i := slices.Index(list, one)
	if i < 0 {
		return list, false
	}
	return slices.Delete(list, i, i+1), true
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
	if w.life.Err() != nil {
		return
	}
	for len(w.hidden) > 0 && len(w.drawn) < crowd && time.Since(w.hidden[0].vanished) >= refresh {
		first := w.hidden[0]
		w.hidden = slices.Delete(w.hidden, 0, 1)
		w.resize(first, shown)
		first.used = time.Now().Add(glimpse - rest)
		w.drawn = slices.Insert(w.drawn, 0, first) // those that are in use stay
	}
	for len(w.drawn) > kept && time.Since(w.drawn[0].used) >= rest {
		oldest := w.drawn[0]
		w.drawn = slices.Delete(w.drawn, 0, 1)
		w.resize(oldest, point)
		oldest.shrunk = time.Now()
		w.points = append(w.points, oldest)
	}
	for len(w.points) > 0 && time.Since(w.points[0].shrunk) >= fade {
		first := w.points[0]
		w.points = slices.Delete(w.points, 0, 1)
		w.resize(first, none)
		first.vanished = time.Now()
		w.hidden = append(w.hidden, first)
	}
	if next, due := w.nextLocked(); due {
		w.timer = time.AfterFunc(next, w.trim)
	}
}

// nextLocked is how long nothing is to be done, and whether anything is at all.
func (w *Windows) nextLocked() (next time.Duration, due bool) {
	next = math.MaxInt64
	if len(w.drawn) > kept {
		next = rest - time.Since(w.drawn[0].used)
	}
	if len(w.points) > 0 {
		next = min(next, fade-time.Since(w.points[0].shrunk))
	}
	if len(w.hidden) > 0 && len(w.drawn) < crowd {
		next = min(next, refresh-time.Since(w.hidden[0].vanished))
	}
	return next, next < math.MaxInt64
}

// resize gives a window a size, and its view that of the page. The page does not notice, for it sees the size of its device metrics.
//
// The browser goes on to draw what a window showed last, without end and whatever the window's size, until the page has a surface
// that was never drawn. A view that gets its size back has such a one.
func (w *Windows) resize(one *Window, to size) {
	w.root.Post(w.life, browser.CommandSetWindowBounds, struct {
		WindowID browser.WindowID `json:"windowId"`
		Bounds   size             `json:"bounds"`
	}{one.id, to})
	width, height := one.size()
	one.page.Post(w.life, "Emulation.setVisibleSize", size{width, height}) // cdproto does not know it
}

// size is a size in CSS pixels. Those of cdproto leave out zeros.
type size struct {
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}
