package actor

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/dom"
)

// Exclusive gives one call exclusive access to a tab. It is valid until the work that received it returns, and only on that goroutine. Its
// methods that block continue to handle the page's events, so state that was read before such a method may have changed after it.
type Exclusive struct{ t *loop }

// State is the state of a tab at one moment, with counters of events. Two States show what happened between them.
type State struct {
	// Commits counts main documents, Dialogs all dialogs, Halts the dialogs that stop the page, Tabs the tabs that the page opened since
	// SideEffects.ForgetTabs, and Crashes the crashes of the renderer.
	Commits, Dialogs, Halts, Tabs, Crashes int
	// URL and Title belong to the main document.
	URL, Title string
	// Dialog is the open dialog, or nil.
	Dialog *driver.Dialog
	// Mark is the mark of the last read; see Reading.
	Mark uint64
	// Structural reports whether the stored DOM has headings, landmarks, text and images.
	Structural bool
}

// State returns the current state of the tab.
func (x *Exclusive) State() State {
	t := x.t
	s := State{Tabs: t.opened.Len(), Crashes: t.health.Crashes(), Dialog: t.dialogs.Open(), Mark: t.reader.mark, Structural: t.reader.structural()}
	s.Commits = t.commits()
	s.Dialogs, s.Halts = t.dialogs.Counts()
	s.URL, s.Title, _ = t.nav.Page()
	return s
}

// Head returns the newest published state.
func (x *Exclusive) Head() *Head { return x.t.head.Load() }

// Blocked returns the error for calls that need the page while a dialog is open. It returns nil if no dialog is open.
func (x *Exclusive) Blocked() error { return x.t.dialogs.Err(x.t.id) }

// AnswerDialog answers the open dialog; see Tab.AnswerDialog.
func (x *Exclusive) AnswerDialog(ctx context.Context, a driver.DialogAnswer) (answered driver.Dialog, err error) {
	err = x.t.pump.call(ctx, nil, func(ctx context.Context) (err error) {
		answered, err = x.t.Tab.AnswerDialog(ctx, a)
		return err
	})
	return answered, err
}

// Read brings the DOM up to date with the page; see Tab.Read.
func (x *Exclusive) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	return x.t.reader.read(ctx, o)
}

// Subscribe updates the page's subscription to what the watches need, if that has changed.
func (x *Exclusive) Subscribe(ctx context.Context) error { return x.t.reader.subscribe(ctx) }

// AwaitParsed waits until the main document, or a document that has replaced it since, is parsed. It returns the errors of Navigate.
func (x *Exclusive) AwaitParsed(ctx context.Context) error {
	return navigator{x.t}.load(ctx, x.t.nav.Main(), driver.PhaseDOMContentLoaded)
}

// AwaitBuilt waits up to 3 seconds until the parsed main document shows its content, because an application may still be rendering.
func (x *Exclusive) AwaitBuilt(ctx context.Context) {
	navigator{x.t}.awaitBuilt(ctx, driver.PhaseDOMContentLoaded)
}

// Call runs a call to the page outside the tab's goroutine, which continues to handle events. The page receives all pending refs first.
// Call ends early, with stop's error, when stop is not nil and returns an error. If the page answers nevertheless, its answer counts.
func (x *Exclusive) Call(ctx context.Context, stop func() error, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.call(ctx, stop, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Query works like Call, but for requests that an open dialog would block. It takes at most 30 seconds.
func (x *Exclusive) Query(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.query(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Script works like Query, but without the time limit, for scripts that may use all of the caller's time.
func (x *Exclusive) Script(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.yielding(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Page returns the page, for calls that do not block.
func (x *Exclusive) Page() driver.Page { return x.t.page() }

// AwaitHead waits until an event has updated the tab and publishes the new Head. It returns false if ctx ended first.
func (x *Exclusive) AwaitHead(ctx context.Context) bool {
	if !x.t.step(ctx, nil, false) {
		return false
	}
	x.t.publisher.publish()
	return true
}

// Drain handles the queued events. It returns an error if the renderer has crashed.
func (x *Exclusive) Drain() error {
	if x.t.drain(); x.t.health.Crashed() {
		return x.t.crashErr()
	}
	return nil
}

// Crash returns the error for calls that need the page after the renderer has crashed.
func (x *Exclusive) Crash() error { return x.t.crashErr() }

// Debug logs details that are not part of the result.
func (x *Exclusive) Debug(message string, err error) { x.t.log.Debug(message, "err", err) }

// Liveness returns the monitor of the page's liveness during a call.
func (x *Exclusive) Liveness() *Liveness { return &x.t.liveness }

// Publish publishes the current state and returns the new head.
func (x *Exclusive) Publish() *Head {
	x.t.publisher.publish()
	return x.t.head.Load()
}

// Screenshot takes a screenshot of the page. It returns the errors of Ready.
func (x *Exclusive) Screenshot(ctx context.Context, s driver.ScreenshotOptions) (picture []byte, err error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
		picture, err = page.Screenshot(ctx, s)
		return err
	})
	return picture, err
}

// Ready returns the error for calls that need the page when the renderer has crashed or a dialog blocks the page, and nil otherwise.
func (x *Exclusive) Ready() error { return x.t.readyErr() }

// Hold adds a watch, so that the page reports what it needs from the next Subscribe until release is called.
func (x *Exclusive) Hold(o WatchOptions) (release func()) {
	one := observation.NewWatch(o)
	x.t.watches.Add(one)
	return func() { x.t.watches.Release(one) }
}

// Navigate runs Tab.Navigate within the call.
func (x *Exclusive) Navigate(ctx context.Context, url string, wait Wait) (Info, error) {
	return navigator{x.t}.navigate(ctx, wait, func(ctx context.Context) (driver.Commit, error) { return x.t.page().Navigate(ctx, url) })
}

// Step moves in the tab's history: -1 is back, 1 is forward.
func (x *Exclusive) Step(ctx context.Context, by int, wait Wait) (Info, error) {
	return navigator{x.t}.navigate(ctx, wait, func(ctx context.Context) (driver.Commit, error) { return x.t.page().Step(ctx, by) })
}

// Where returns an element's ref with the frame and the document that contain it. For dom.NoRef and for elements that are gone, both are
// empty.
func (x *Exclusive) Where(ref dom.Ref) driver.Element { return x.t.doc.Where(ref) }

// GoneElement returns the last state of an element that is gone. If the element's document is gone too, the result has only the role and
// the name. It is nil when neither is known any more.
func (x *Exclusive) GoneElement(ref dom.Ref) *dom.Element {
	if was := x.Head().log.Last(ref); was != nil {
		return was
	}
	return x.t.doc.Tombstone(ref)
}

// Refusal returns the error of the URL policy if the policy blocked the main document, and nil otherwise.
func (x *Exclusive) Refusal() error { return x.t.nav.Refusal() }

// SideEffects returns what the page does by itself during the call.
func (x *Exclusive) SideEffects() SideEffects { return SideEffects{x.t} }
