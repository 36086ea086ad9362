// Package windows controls which windows of the headless shell are drawn.
//
// The shell gives every page its own window and draws all of them. A page that changes ten times per second then uses 2 to 3 % of a CPU
// core for invisible frames. A window without a size is not drawn. Focus emulation still makes its page believe that it is visible, and
// device metrics define the page's size. After three frames that were not drawn, Chromium limits the page to one frame per second, as it
// does with background tabs in the full browser (seen in Chromium 156). Until the window is drawn again, the page's outerWidth and
// outerHeight are 0, and a screenshot waits for a frame that never arrives.
//
// So windows are opened without a size. Before a caller acts on a page or takes its screenshot, it must call Draw. The last few windows
// that were used stay drawn.
//
// Callers must call Close for each window when its page is gone.
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
	// alwaysDrawn is how many windows stay drawn even if they are unused for long: the windows that a client works in.
	alwaysDrawn = 4
	// minDrawn is the minimum time that a window stays drawn, because an action continues after Draw returns.
	minDrawn = 5 * time.Second
	// shrinkDelay is how long a window has the size pointSize before it loses its size.
	shrinkDelay = time.Second
	// maxHidden is the maximum time that a window has no size. redrawTime is how long it is then drawn. The browser keeps data of each frame
	// until the frame is presented, so the data of an undrawn window accumulates every second and fragments the page's heap. The next
	// presented frame frees all of it. A window of size pointSize does not suffice, and at first the page makes at most one frame per second.
	maxHidden  = time.Minute
	redrawTime = 2 * time.Second
	// maxDrawn is the number of drawn windows at which hidden windows have to wait before they are drawn briefly.
	maxDrawn = 2 * alwaysDrawn
	// findLimit bounds the request for a window's ID.
	findLimit = 2 * time.Second
)

// Sizes of windows. They are independent of the page's size, but each pixel of the last drawn frame takes four bytes of the browser's
// memory.
var (
	// drawnSize is the size of a drawn window, which is the shell's default.
	drawnSize = size{800, 600}
	// pointSize is the smallest size that is drawn. A window gets it before it loses its size, which frees the window's memory.
	pointSize = size{1, 1}
	noSize    = size{}
)

// Windows manages the windows of one browser.
type Windows struct {
	root   devtools.Session
	life   context.Context
	logger *slog.Logger

	mu sync.Mutex
	// drawn holds the drawn windows, with the last used one at the end. points holds the windows that are about to lose their size. hidden
	// holds the windows without a size, with the most recently hidden one at the end.
	drawn, points, hidden []*Window
	// timer calls trim when something is due. It is nil if nothing is.
	timer *time.Timer
}

// New returns the windows of the browser with the root session root. life ends with the browser.
func New(life context.Context, root devtools.Session, logger *slog.Logger) *Windows {
	return &Windows{root: root, life: life, logger: logger}
}

// Window is the window of a page. A nil Window is always drawn.
type Window struct {
	all    *Windows
	page   devtools.Session
	target target.ID
	// size returns the page's size, in CSS pixels.
	size func() (width, height int64)

	// all.mu guards the remaining fields.

	// id is the window's ID. known is false until find has succeeded.
	id    browser.WindowID
	known bool
	// used is when the window was last drawn by Draw. shrunk is when it got the size pointSize. vanished is when it lost its size. closed is
	// set when the page is gone.
	used, shrunk, vanished time.Time
	closed                 bool
}

// Of returns the window of a page that was opened without a size. size returns the page's size, in CSS pixels.
func (w *Windows) Of(page devtools.Session, id target.ID, size func() (width, height int64)) *Window {
	return &Window{all: w, page: page, target: id, size: size}
}

// Draw starts to draw the window. Commands that are sent afterwards reach a page that produces frames. If the browser does not report the
// window's ID, Draw does nothing, and the page is only slow.
func (w *Window) Draw(ctx context.Context) {
	if w == nil {
		return
	}
	if err := w.find(ctx); err != nil {
		w.all.logger.Debug("a window could not be rendered", "page", string(w.target), "error", err)
		return
	}
	w.all.use(w)
}

// Close records that the page is gone.
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

// find requests the window's ID from the browser, once.
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

// use draws a window and records it as the last used one. It sends commands with the lock held, so that the browser receives them in order,
// and does not wait for their responses.
func (w *Windows) use(one *Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.closed {
		return
	}
	var drawn bool
	if w.drawn, drawn = without(w.drawn, one); !drawn {
		w.forgetLocked(one)
		w.resize(one, drawnSize)
	}
	w.drawn = append(w.drawn, one)
	one.used = time.Now()
	w.trimLocked()
}

// forgetLocked removes a window from the windows that are not drawn.
func (w *Windows) forgetLocked(one *Window) {
	w.points, _ = without(w.points, one)
	w.hidden, _ = without(w.hidden, one)
}

// without returns a list without the given window, and whether it contained the window.
func without(list []*Window, one *Window) ([]*Window, bool) {
	i := slices.Index(list, one)
	if i < 0 {
		return list, false
	}
	return slices.Delete(list, i, i+1), true
}

// trim stops drawing idle windows if there are too many.
func (w *Windows) trim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trimLocked()
}

// trimLocked implements trim. The caller holds the lock.
func (w *Windows) trimLocked() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.life.Err() != nil {
		return
	}
	for len(w.hidden) > 0 && len(w.drawn) < maxDrawn && time.Since(w.hidden[0].vanished) >= maxHidden {
		first := w.hidden[0]
		w.hidden = slices.Delete(w.hidden, 0, 1)
		w.resize(first, drawnSize)
		first.used = time.Now().Add(redrawTime - minDrawn)
		w.drawn = slices.Insert(w.drawn, 0, first) // inserted in front, so that windows in use stay drawn
	}
	for len(w.drawn) > alwaysDrawn && time.Since(w.drawn[0].used) >= minDrawn {
		oldest := w.drawn[0]
		w.drawn = slices.Delete(w.drawn, 0, 1)
		w.resize(oldest, pointSize)
		oldest.shrunk = time.Now()
		w.points = append(w.points, oldest)
	}
	for len(w.points) > 0 && time.Since(w.points[0].shrunk) >= shrinkDelay {
		first := w.points[0]
		w.points = slices.Delete(w.points, 0, 1)
		w.resize(first, noSize)
		first.vanished = time.Now()
		w.hidden = append(w.hidden, first)
	}
	if next, due := w.nextLocked(); due {
		w.timer = time.AfterFunc(next, w.trim)
	}
}

// nextLocked returns the time until trim is next due, and whether it is due at all.
func (w *Windows) nextLocked() (next time.Duration, due bool) {
	next = math.MaxInt64
	if len(w.drawn) > alwaysDrawn {
		next = minDrawn - time.Since(w.drawn[0].used)
	}
	if len(w.points) > 0 {
		next = min(next, shrinkDelay-time.Since(w.points[0].shrunk))
	}
	if len(w.hidden) > 0 && len(w.drawn) < maxDrawn {
		next = min(next, maxHidden-time.Since(w.hidden[0].vanished))
	}
	return next, next < math.MaxInt64
}

// resize sets the size of a window and restores the page's size in its view. The page cannot detect this, because it sees the size of its
// device metrics.
//
// The browser would otherwise endlessly draw what the window showed last, whatever the window's size, until the page gets a surface that
// was never drawn. A view that regains its size has such a surface.
func (w *Windows) resize(one *Window, to size) {
	w.root.Post(w.life, browser.CommandSetWindowBounds, struct {
		WindowID browser.WindowID `json:"windowId"`
		Bounds   size             `json:"bounds"`
	}{one.id, to})
	width, height := one.size()
	one.page.Post(w.life, "Emulation.setVisibleSize", size{width, height}) // not defined in cdproto
}

// size is a size in CSS pixels. The types in cdproto omit zeros.
type size struct {
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}
