package actor

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/dom"
)

// Exclusive is a tab for the length of one call: nothing else acts on it meanwhile. It is valid until the work that it
// was given to returns, and on that goroutine only. Its methods that wait go on handling the page's events, so whatever
// was read from the tab before such a method may be another thing after it.
type Exclusive struct{ t *loop }

// State is what a tab is like at one moment, and how often what happened to it so far: two of them say what happened in between.
type State struct {
	// Commits are main documents, Dialogs all dialogs, Halts the dialogs that stop the page, Tabs the tabs that the
	// page opened since SideEffects.ForgetTabs, and Crashes those of the renderer.
	Commits, Dialogs, Halts, Tabs, Crashes int
	// URL and Title are those of the main document.
	URL, Title string
	// Dialog is the dialog that is open, or nil.
	Dialog *driver.Dialog
	// Mark is the mark of the last read; see Reading.
	Mark uint64
	// Structural says that the stored DOM has headings, landmarks, text and images.
	Structural bool
}

// State returns what the tab is like now.
func (x *Exclusive) State() State {
	t := x.t
	s := State{Tabs: t.opened.Len(), Crashes: t.health.Crashes(), Dialog: t.dialogs.Open(), Mark: t.reader.mark, Structural: t.reader.structural()}
	s.Commits = t.commits()
	s.Dialogs, s.Halts = t.dialogs.Counts()
	s.URL, s.Title, _ = t.nav.Page()
	return s
}

// Head is the newest state that was published.
func (x *Exclusive) Head() *Head { return x.t.head.Load() }

// Blocked is the error of what needs the page while a dialog is open; nil when none is.
func (x *Exclusive) Blocked() error { return x.t.dialogs.Err(x.t.id) }

// Read brings the DOM up to date with the page; see Tab.Read.
func (x *Exclusive) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	return x.t.reader.read(ctx, o)
}

// Subscribe asks the page to report what watches need, when that has changed.
func (x *Exclusive) Subscribe(ctx context.Context) error { return x.t.reader.subscribe(ctx) }

// AwaitParsed waits until the main document is parsed, or one that has replaced it since. Errors are those of Navigate.
func (x *Exclusive) AwaitParsed(ctx context.Context) error {
	return navigator{x.t}.load(ctx, x.t.nav.Main(), driver.PhaseDOMContentLoaded)
}

// AwaitBuilt waits until the main document, which is parsed, is there as a person sees it, for 3 seconds at most: an application may be
// drawing itself.
func (x *Exclusive) AwaitBuilt(ctx context.Context) {
	navigator{x.t}.awaitBuilt(ctx, driver.PhaseDOMContentLoaded)
}

// Call runs a call to the page beside the tab's goroutine, which goes on handling events. The page knows all refs by
// then. The call ends when stop, if any, gives an error, which is Call's error then; what the page did answer in the end counts.
func (x *Exclusive) Call(ctx context.Context, stop func() error, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.call(ctx, stop, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Query is Call for what a dialog would keep the page from answering, for 30 seconds at most.
func (x *Exclusive) Query(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.query(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Script is Query without its limit, for what takes as long as its caller has time.
func (x *Exclusive) Script(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.reader.flush()
	return x.t.pump.yielding(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Page is the page, for calls that do not wait.
func (x *Exclusive) Page() driver.Page { return x.t.page() }

// AwaitHead waits until something happened to the tab, which Head has then; false: ctx ended before.
func (x *Exclusive) AwaitHead(ctx context.Context) bool {
	if !x.t.step(ctx, nil, false) {
		return false
	}
	x.t.publisher.publish()
	return true
}

// Drain handles the events that are queued, and returns the error of a renderer that has crashed by then.
func (x *Exclusive) Drain() error {
	if x.t.drain(); x.t.health.Crashed() {
		return x.t.crashErr()
	}
	return nil
}

// Crash is the error of what needs the page when that has crashed.
func (x *Exclusive) Crash() error { return x.t.crashErr() }

// Debug logs what no caller needs.
func (x *Exclusive) Debug(message string, err error) { x.t.log.Debug(message, "err", err) }

// Liveness watches over the page while a call acts on it.
func (x *Exclusive) Liveness() *Liveness { return &x.t.liveness }

// Publish publishes what happened, and returns the head.
func (x *Exclusive) Publish() *Head {
	x.t.publisher.publish()
	return x.t.head.Load()
}

// Screenshot takes a picture of the page. Errors are those of Ready.
func (x *Exclusive) Screenshot(ctx context.Context, s driver.Shot) (picture []byte, err error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	err = x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
		picture, err = page.Screenshot(ctx, s)
		return err
	})
	return picture, err
}

// Ready is the error of what needs the page when that has crashed or waits behind a dialog; nil when it can answer.
func (x *Exclusive) Ready() error { return x.t.readyErr() }

// Hold makes the page report what a watch needs, from the next Subscribe on, until release is called.
func (x *Exclusive) Hold(o WatchOptions) (release func()) {
	one := observation.NewWatch(o)
	x.t.watches.Add(one)
	return func() { x.t.watches.Release(one) }
}

// Navigate is Tab.Navigate within the call.
func (x *Exclusive) Navigate(ctx context.Context, url string, wait Wait) (Info, error) {
	return navigator{x.t}.navigate(ctx, wait, func(ctx context.Context) (driver.Commit, error) { return x.t.page().Navigate(ctx, url) })
}

// Step moves in the history of the tab: -1 back, 1 forward.
func (x *Exclusive) Step(ctx context.Context, by int, wait Wait) (Info, error) {
	return navigator{x.t}.navigate(ctx, wait, func(ctx context.Context) (driver.Commit, error) { return x.t.page().Step(ctx, by) })
}

// Where names an element with the frame and the document in which it stands; with dom.NoRef, and an element that is gone,
// neither.
func (x *Exclusive) Where(ref dom.Ref) driver.Element { return x.t.doc.Where(ref) }

// GoneElement returns what an element was that is gone: its last state, or its role and name alone if its document is gone, too;
// nil when that is not known any more.
func (x *Exclusive) GoneElement(ref dom.Ref) *dom.Element {
	if was := x.Head().log.Last(ref); was != nil {
		return was
	}
	return x.t.doc.Tombstone(ref)
}

// Refusal is why the main document did not come, when that is because of the URL policy; nil otherwise.
func (x *Exclusive) Refusal() error { return x.t.nav.Refusal() }

// SideEffects is what the page does by itself while the call acts on it.
func (x *Exclusive) SideEffects() SideEffects { return SideEffects{x.t} }
