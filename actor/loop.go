package actor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/document"
	"github.com/domtap/domtap/actor/internal/health"
	"github.com/domtap/domtap/actor/internal/navigation"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/actor/internal/sideeffects"
	"github.com/domtap/domtap/dom"
)

const (
	// drainBound limits how many queued events are handled in one pass.
	drainBound = 4096
	// maxPageAgent bounds the duration that a patch may report, because pages can lie.
	maxPageAgent = 10 * time.Second
)

// loop holds the state that only the tab's goroutine uses. Each component is the sole owner of its fields. The loop passes events to the
// components, carries out what they return, and publishes.
type loop struct {
	*Tab
	events <-chan driver.Event
	// exclusive is the call with exclusive access to the tab, or nil.
	exclusive *Exclusive
	// busySince is when the loop started its current work; it is zero while nothing is measured. closed is set shortly before the loop
	// ends.
	busySince time.Time
	closed    bool

	doc       document.Document
	nav       navigation.State
	obs       observation.State
	health    health.State
	dialogs   sideeffects.Dialogs
	opened    sideeffects.Popups
	downloads sideeffects.Downloads
	summary   sideeffects.Summary
	notices   *Notices
	// tools are the tools that the page offers, or nil.
	tools *driver.ToolsChanged

	publisher publisher
	pump      pump
	reader    reader
	liveness  Liveness
	prober    prober
	restorer  restorer
	scroller  scroller
	freezer   freezer
}

func newLoop(t *Tab, page driver.Page, url, epoch string, next dom.Ref) *loop {
	l := &loop{Tab: t, events: page.Events(), doc: document.New(epoch, next), nav: navigation.New(url), obs: observation.New()}
	l.publisher.t, l.pump.t = l, l
	l.reader.t, l.liveness.t, l.prober.t, l.restorer.t, l.scroller.t, l.freezer.t = l, l, l, l, l, l
	return l
}

// run is the tab's goroutine.
func (t *loop) run() {
	for t.ctx.Err() == nil {
		t.step(t.ctx, nil, true)
		t.restorer.begin()
		t.freezer.apply()
		t.publisher.publish()
		t.reportBusy()
	}
	t.finish()
	t.closePage()
	t.children.Wait()
	t.restorer.discard()
}

// step waits for one event and handles it; the caller publishes. It returns false when done is closed or ctx has ended. Only an idle tab
// accepts calls.
func (t *loop) step(ctx context.Context, done <-chan struct{}, idle bool) bool {
	var mailbox <-chan command
	var changed <-chan struct{}
	var fetched <-chan fetchResult
	if idle {
		mailbox, changed, fetched = t.mailbox, t.watches.Changed(), t.restorer.fetched
	}
	select {
	case <-done:
		return false
	case <-ctx.Done():
		return false
	case e, ok := <-t.events:
		t.startBusy(idle)
		t.receive(e, ok)
	case alive := <-t.prober.results:
		t.startBusy(idle)
		t.probed(alive)
	case id := <-t.popups:
		t.opened.Add(id)
	case c := <-mailbox:
		t.startBusy(idle)
		t.execute(c)
		t.scroller.ask()
	case <-changed:
		t.startBusy(idle)
		t.exclusively(func(*Exclusive) { t.reader.follow() })
	case w := <-t.scroller.results:
		t.scroller.take(w)
	case <-t.publishRequested: // the caller publishes
	case f := <-fetched:
		t.startBusy(idle)
		t.exclusively(func(*Exclusive) { t.restorer.take(f) })
	}
	return true
}

// exclusively runs work with exclusive access to the tab. It thaws a frozen page first.
func (t *loop) exclusively(work func(x *Exclusive)) {
	if t.exclusive != nil {
		panic("actor: a call began within another one")
	}
	t.exclusive = &Exclusive{t}
	defer func() { t.exclusive = nil }()
	t.freezer.thaw()
	work(t.exclusive)
}

// execute runs a command. The command's context derives from the tab's context and also ends with the caller's.
func (t *loop) execute(c command) {
	if c.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.ctx, func() { cancel(c.ctx.Err()) })
	defer stop()
	if deadline, ok := c.ctx.Deadline(); ok {
		var release context.CancelFunc
		ctx, release = context.WithDeadline(ctx, deadline)
		defer release()
	}
	t.exclusively(func(x *Exclusive) { c.run(ctx, x) })
}

// receive handles an event, or the end of the events.
func (t *loop) receive(e driver.Event, ok bool) {
	if !ok {
		t.eventsEnded()
		return
	}
	switch e := e.(type) {
	case driver.Patched:
		t.alive()
		t.apply(e.Patch)
		t.reader.due = true
	case driver.Committed:
		t.committed(e)
	case driver.TitleChanged:
		t.nav.SetTitle(e.Title)
	case driver.ResponseReceived:
		t.nav.Responded(e)
	case driver.Loaded:
		if t.nav.Loaded(e) {
			t.alive()
		}
	case driver.FrameGone:
		t.doc.Drop(e.Frame)
		t.obs.Forget(e.Frame)
	case driver.SelectorsMatched:
		t.alive()
		if t.doc.Current(e.Frame) == e.Document {
			t.obs.Selected(e)
		}
	case driver.NoticesReported:
		t.notices = t.notices.With(string(e.Frame)+" "+e.Document, e.Notices)
	case driver.Traffic:
		t.obs.Traffic(e, time.Now())
	case driver.Crashed:
		t.crashed(e)
	case driver.Gone:
		t.gone(e)
	default:
		t.receiveEffect(e)
	}
	if t.nav.Readable() || t.dialogs.Open() != nil || t.health.Crashed() || t.recovery.Gone() {
		t.show()
	}
	t.reader.retryFollowers()
}

// receiveEffect applies an event of the page outside its documents: a dialog, a file chooser, a window or a download.
func (t *loop) receiveEffect(e driver.Event) {
	switch e := e.(type) {
	case driver.DialogOpened:
		t.liveness.expect() // a dialog proves that the page is alive, also when a policy answers it
		t.report(t.dialogs.Opened(e.Dialog, time.Now()))
	case driver.DialogClosed:
		t.report(t.dialogs.Closed(e.Dialog))
	case driver.FileChooserRequested:
		t.summary.Add("the page opened a file chooser: send an upload step with this ref")
	case driver.WindowsPending:
		t.summary.Add(fmt.Sprintf("%d windows that the page opened are not listed yet: list the tabs again later", e.Count))
	case driver.ToolsChanged:
		if t.tools = &e; len(e.Tools) == 0 && !e.Incomplete {
			t.tools = nil
		}
	case driver.DownloadProgressed:
		t.publisher.add(TabEvent{Kind: TabDownloaded, Download: e.Download})
		t.summary.Replace(t.downloads.Progress(e.Download))
	}
}

// drain handles the events that are already queued.
func (t *loop) drain() {
	defer t.reader.acknowledge()
	for range drainBound {
		select {
		case e, ok := <-t.events:
			t.receive(e, ok)
			if !ok {
				return
			}
		default:
			return
		}
	}
}

// apply applies patches that belong together.
func (t *loop) apply(patches ...dom.Patch) {
	if t.meter != nil {
		for _, p := range patches {
			t.meter.PageAgent(min(max(0, p.Took), maxPageAgent))
		}
	}
	a := t.doc.Apply(patches...)
	if a.Err != nil {
		t.log.Error("the page reported invalid changes", "err", a.Err)
	}
	if a.Main != "" {
		t.adopt(a.Main, a.First)
		if a.URL != "" && (!a.First || !t.nav.URLKnown()) {
			t.nav.SetURL(a.URL)
		}
	}
	if a.Limited && t.doc.Limit() {
		t.log.Warn("the page exceeds the element limit: some elements are left out")
		if t.meter != nil {
			t.meter.Refused("page_elements")
		}
	}
	if a.Retitled {
		t.nav.SetTitle(a.Title)
	}
}

// committed handles a navigation that the browser reports.
func (t *loop) committed(e driver.Committed) {
	if e.Frame != "" {
		if !e.Same {
			t.doc.Commit(e.Frame, e.Document)
			t.obs.Forget(e.Frame)
		}
		return
	}
	if !e.Same {
		if t.nav.Announced(e.Document) {
			return
		}
		if e.Document != t.nav.Main() {
			t.doc.Commit("", e.Document)
			t.adopt(e.Document, false)
		}
		t.alive()
		t.nav.Announce(e)
		t.liveness.expect()
	}
	t.nav.Arrive(e)
	t.publisher.add(TabEvent{Kind: TabNavigated, Same: e.Same})
}

// adopt makes a document the main document and resets the state of the previous one. Only adopt knows all components that hold such state.
// The very first document, if it was not announced, is the blank page that the tab started with.
func (t *loop) adopt(document string, first bool) {
	t.recovery.Adopt()
	t.obs.Adopt(time.Now())
	t.nav.Adopt(document, first)
	if first {
		return
	}
	epoch := ""
	if t.dialogs.Open() != nil {
		t.report(t.dialogs.Close())
	}
	if t.health.Replaced() {
		epoch = randomSuffix()
	}
	t.doc.Next(t.head.Load().Snapshot, epoch)
}

// report publishes a change of the dialogs.
func (t *loop) report(r sideeffects.Report) {
	if !r.Event {
		return
	}
	if r.Dialog == nil || r.Dialog.Answer == driver.Unanswered {
		t.health.Dialog()
		t.liveness.expect()
	}
	t.publisher.add(TabEvent{Kind: TabDialog, Dialog: r.Dialog})
	t.summary.Add(r.Text)
}

// crashed handles a crash of the renderer.
func (t *loop) crashed(e driver.Crashed) {
	t.alive()
	t.health.Crash(e.Deliberate)
	t.nav.Stop()
	t.report(t.dialogs.Close())
	t.publisher.add(TabEvent{Kind: TabCrashed, Reason: e.Reason})
	if !e.Deliberate && t.restorable.Load() {
		t.restorer.lose(e.Reason)
	}
}

// gone handles the loss of the page in the browser.
func (t *loop) gone(e driver.Gone) {
	t.recovery.PageGone()
	t.freezer.frozen = false
	switch {
	case e.Err == nil:
		t.end(ErrClosed)
	case t.restorable.Load():
		t.health.Crash(false)
		t.publisher.add(TabEvent{Kind: TabCrashed, Reason: "the browser is gone"})
		t.restorer.lose("the browser is gone")
	default:
		t.end(&apierr.Error{Kind: apierr.Lost, Message: "the browser of tab " + t.id + " is gone: open another tab", Err: e.Err})
	}
}

// eventsEnded handles the end of the page's events.
func (t *loop) eventsEnded() {
	t.events = nil
	if !t.recovery.Gone() || !t.recovery.Away() {
		t.end(apierr.Errorf(apierr.Lost, "the page of tab %s is gone: open another tab", t.id))
	}
}

// alive handles a sign of life from the page.
func (t *loop) alive() {
	if t.health.Alive() {
		t.prober.stop()
		t.reader.retryFollowers()
	}
}

// probed handles the result of a probe. A page behind a dialog cannot answer, so a failed probe does not count against it.
func (t *loop) probed(alive bool) {
	if alive {
		t.alive()
		return
	}
	t.health.Missed(t.dialogs.Open() != nil)
}

// finish publishes the last head and wakes all waiting callers.
func (t *loop) finish() {
	cause := context.Cause(t.ctx)
	if !errors.Is(cause, ErrClosed) {
		t.err = cause
	}
	t.restorer.stop()
	if t.recovery.Saved() && (t.err == nil || apierr.Is(cause, apierr.Closed)) {
		t.restoreStore.Forget(t.id) // the tab was closed on purpose
	}
	old := t.head.Load()
	t.closed = true
	t.dialogs.Close()
	last := old.follow(old.Snapshot, t.publisher.info(), old.refs, t.limits)
	close(last.next)
	t.head.Store(last)
	closed := TabEvent{Kind: TabClosed, Info: last.Info, At: time.Now()}
	if errors.Is(t.err, ErrIdle) {
		closed.Reason = "idle"
	}
	t.owner.Report(closed)
	close(t.done)
	close(old.next)
}

// closePage closes the page, unless it is already gone, and drains its events.
func (t *loop) closePage() {
	if t.events == nil {
		return
	}
	if t.recovery.Gone() {
		for range t.events {
		}
		return
	}
	if err := driver.Discard(t.ctx, t.page()); err != nil {
		t.log.Warn("the browser did not close the page in time", "err", err)
	}
}

// startBusy records when the loop starts to work, unless it is already working.
func (t *loop) startBusy(idle bool) {
	if idle && t.meter != nil {
		t.busySince = time.Now()
	}
}

// reportBusy reports how long the loop has been busy since startBusy.
func (t *loop) reportBusy() {
	if t.meter != nil && !t.busySince.IsZero() {
		t.meter.Busy(time.Since(t.busySince))
		t.busySince = time.Time{}
	}
}

// readyErr returns the error for calls that need the page when the renderer has crashed or a dialog blocks the page, and nil otherwise.
func (t *loop) readyErr() error {
	if t.health.Crashed() {
		return t.crashErr()
	}
	return t.dialogs.Err(t.id)
}

// crashErr returns the error for calls on a page whose renderer has crashed.
func (t *loop) crashErr() error {
	if why := t.recovery.Why(); why != "" {
		return Info{ID: t.id, Status: StatusCrashed, Why: why}.Unavailable("try")
	}
	return apierr.Errorf(apierr.Lost, "the renderer of tab %s crashed: navigate or reload the tab to restart it", t.id)
}

// commits counts the main documents.
func (t *loop) commits() int {
	commits, _ := t.nav.Counts()
	return commits
}
