package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Exclusive is a tab for the length of one call: nothing else acts on it meanwhile. It is valid until the work that it
// was given to returns, and on that goroutine only. Its methods that wait go on handling the page's events, so whatever
// was read from the tab before such a method may be another thing after it.
type Exclusive struct{ t *Tab }

// Counters count what happened to a tab. Two of them that differ say what happened in between.
type Counters struct {
	// Commits are main documents, Dialogs all dialogs, Halts the dialogs that stop the page, and Tabs the tabs that the
	// page opened since ForgetNewTabs.
	Commits, Dialogs, Halts, Tabs int
	// URL is that of the main document.
	URL string
}

// Counters returns what happened so far.
func (x *Exclusive) Counters() Counters {
	t := x.t
	return Counters{Commits: t.commits, Dialogs: t.dialogs, Halts: t.halts, Tabs: len(t.newTabs), URL: t.info.URL}
}

// Head is the newest state that was published.
func (x *Exclusive) Head() *Head { return x.t.head.Load() }

// Title is the title of the main document.
func (x *Exclusive) Title() string { return x.t.info.Title }

// Dialog is the dialog that is open, or nil.
func (x *Exclusive) Dialog() *driver.Dialog { return x.t.info.Dialog }

// Blocked is the error of what needs the page while a dialog is open; nil when none is.
func (x *Exclusive) Blocked() error { return x.t.blocked() }

// Ready is the error of what needs the page when that has crashed or waits behind a dialog; nil when it can answer.
func (x *Exclusive) Ready() error {
	if x.t.crashed {
		return x.t.crash()
	}
	return x.t.blocked()
}

// Read brings the DOM up to date with the page; see Tab.Read.
func (x *Exclusive) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	return x.t.read(ctx, o)
}

// Mark is the mark of the last read; see Reading.
func (x *Exclusive) Mark() uint64 { return x.t.lastMark }

// Structural reports whether the stored DOM has headings, landmarks, text and images.
func (x *Exclusive) Structural() bool { return x.t.isStructural() }

// Hold makes the page report what a watch needs, from the next Subscribe on, until release is called.
func (x *Exclusive) Hold(o WatchOptions) (release func()) {
	one := &watch{options: o.clone()}
	x.t.watches.add(one)
	return func() { x.t.watches.release(one) }
}

// Subscribe tells the page what to report, when that is something else than before.
func (x *Exclusive) Subscribe(ctx context.Context) error { return x.t.observe(ctx) }

// Navigate is Tab.Navigate within the call.
func (x *Exclusive) Navigate(ctx context.Context, url string, wait Wait) (Info, error) {
	return x.t.navigate(ctx, url, wait)
}

// Step moves in the history of the tab: -1 back, 1 forward.
func (x *Exclusive) Step(ctx context.Context, by int, wait Wait) (Info, error) {
	return x.t.stepHistory(ctx, by, wait)
}

// AwaitParsed waits until the main document is parsed, or one that has replaced it since. Errors are those of Navigate.
func (x *Exclusive) AwaitParsed(ctx context.Context) error {
	return x.t.load(ctx, x.t.main, driver.PhaseDOMContentLoaded)
}

// Call runs a call to the page beside the tab's goroutine, which goes on handling events. The page knows all refs by
// then. The call ends when stop, if any, gives an error, which is Call's error then; what the page did answer in the end counts.
func (x *Exclusive) Call(ctx context.Context, stop func() error, work func(ctx context.Context, page driver.Page) error) error {
	x.t.flush()
	return x.t.call(ctx, stop, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Query is Call for what a dialog would keep the page from answering, for 30 seconds at most.
func (x *Exclusive) Query(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.flush()
	return x.t.query(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Script is Query without its limit, for what takes as long as its caller has time.
func (x *Exclusive) Script(ctx context.Context, work func(ctx context.Context, page driver.Page) error) error {
	x.t.flush()
	return x.t.yielding(ctx, func(ctx context.Context) error { return work(ctx, x.t.page()) })
}

// Page is the page, for calls that do not wait.
func (x *Exclusive) Page() driver.Page { return x.t.page() }

// AwaitHead waits until something happened to the tab, which Head has then; false: ctx ended before.
func (x *Exclusive) AwaitHead(ctx context.Context) bool {
	if !x.t.step(ctx, nil, false) {
		return false
	}
	x.t.publish()
	return true
}

// Drain handles the events that are queued, and returns the error of a renderer that has crashed by then.
func (x *Exclusive) Drain() error {
	if x.t.drain(); x.t.crashed {
		return x.t.crash()
	}
	return nil
}

// Where says in what frame and document an element stands.
func (x *Exclusive) Where(ref dom.Ref) (frame dom.FrameID, document string) {
	frame, document, _ = x.t.model.Where(ref)
	return frame, document
}

// Gone returns what an element was that is gone: its state of last, or its role and name alone if its document is gone, too;
// nil when that is not known any more.
func (x *Exclusive) Gone(ref dom.Ref) *dom.Element {
	if was := x.Head().log.Last(ref); was != nil {
		return was
	}
	if grave, known := x.t.tombstones[ref]; known {
		return &dom.Element{Ref: ref, Role: grave.role, Text: grave.text}
	}
	return nil
}

// Refusal is why the main document did not come, when that is because of the URL policy; nil otherwise.
func (x *Exclusive) Refusal() error {
	if cause := x.t.cause; cause != nil && cause.Kind == apierr.Refused {
		return cause
	}
	return nil
}

// Crash is the error of what needs the page when that has crashed.
func (x *Exclusive) Crash() error { return x.t.crash() }

// Crashes counts the crashes so far.
func (x *Exclusive) Crashes() int { return x.t.crashes }

// NewTabs are the tabs that the page opened since ForgetNewTabs.
func (x *Exclusive) NewTabs() []string { return x.t.newTabs }

// ForgetNewTabs begins to count anew the tabs that the page opens.
func (x *Exclusive) ForgetNewTabs() {
	x.t.newTabs = nil
	x.t.windows.reset()
}

// SettlePopups returns when NewTabs has those that the browser has reported so far.
func (x *Exclusive) SettlePopups(ctx context.Context) { x.t.settlePopups(ctx) }

// AwaitNewTabs waits for the documents of the tabs that were opened since there were so many, for at most limit.
func (x *Exclusive) AwaitNewTabs(ctx context.Context, since int, limit time.Duration) error {
	return x.t.welcome(ctx, since, limit)
}

// Notes takes what the page did by itself since ForgetNotes or the last Notes, in words; it begins with what separates these from
// the words before.
func (x *Exclusive) Notes() string { return x.t.noted() }

// ForgetNotes drops what the page did by itself so far.
func (x *Exclusive) ForgetNotes() { x.t.notes = notes{} }

// Debug notes what nobody else is told.
func (x *Exclusive) Debug(message string, err error) { x.t.log.Debug(message, "err", err) }

// Liveness watches over the page while a call acts on it.
func (x *Exclusive) Liveness() *Liveness { return &x.t.liveness }

// Publish publishes what happened, and returns the head.
func (x *Exclusive) Publish() *Head {
	x.t.publish()
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
