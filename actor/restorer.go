package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/sideeffects"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/internal/retry"
	"github.com/domtap/domtap/internal/truncate"
)

// restorer restores a tab whose renderer or browser died, if the tab was opened with OpenOptions.Restore. The tab keeps its ID, URL and
// scroll position. It gets a new epoch, and refs that were never assigned. Restoring has three steps, and another loss of the page may end
// each:
//
//	lose     the tab notes the loss, and from then on refuses calls (StatusRestoring, kind Restoring)
//	fetch    beside the loop: wait as restore.State says, and get a page if the old one is gone
//	goBack   in the loop: navigate, scroll, and let calls in again
type restorer struct {
	t *loop
	// fetched delivers the result of fetch; it is nil when fetch does not run.
	fetched chan fetchResult
	// stable fires when a tab that was resumed from another process has kept its page for long enough.
	stable *time.Timer
}

// fetchResult is the result of fetch. The page is nil if the tab keeps its old page.
type fetchResult struct {
	page driver.Page
	err  error
}

// resume sets a tab that has not started yet to be restored.
func (r *restorer) resume(k restore.Record) {
	t := r.t
	t.restoreStore.Keep(t.recovery.Resume(k, "the daemon was restarted", time.Now()))
	r.stable = time.AfterFunc(restore.Window, t.requestPublish)
	t.health.Lose()
	t.nav.SetURL(k.URL)
	h := t.head.Load()
	info := h.Info
	info.Status = StatusRestoring
	t.head.Store(&Head{Snapshot: h.Snapshot, Info: info, next: make(chan struct{}), refs: k.Refs})
	t.requestPublish() // the loop starts to restore immediately
	t.show()
}

// lose records that the tab has lost its renderer or its page.
func (r *restorer) lose(reason string) {
	t := r.t
	reason = truncate.Runes(reason, text.Long)
	_, title, _ := t.nav.Page()
	t.recovery.Lost(restore.View{URL: t.nav.Address(), Title: title, Place: t.recovery.Place()}, reason)
	t.health.Lose()
	t.nav.Stop()
	t.report(t.dialogs.Lose())
	t.publisher.add(TabEvent{Kind: TabRestoring, Reason: reason})
}

// begin starts to restore the tab, if that is due.
func (r *restorer) begin() {
	t := r.t
	if t.ctx.Err() != nil {
		return
	}
	next, wait := t.recovery.Next(time.Now())
	switch next {
	case restore.GiveUp:
		r.giveUp(fmt.Sprintf("it was restored %d times within %s and lost its page again (%s)", restore.Times, restore.Window, t.recovery.Reason()))
	case restore.Fetch:
		results := make(chan fetchResult, 1)
		r.fetched = results
		gone := t.recovery.Gone()
		t.children.Go(func() { results <- r.fetch(wait, gone) })
	}
}

// fetch waits, and opens a page if the old one is gone. It runs concurrently with the loop.
func (r *restorer) fetch(wait time.Duration, gone bool) fetchResult {
	t := r.t.Tab
	if retry.Pause(t.ctx, wait) != nil {
		return fetchResult{err: context.Cause(t.ctx)}
	}
	if !gone {
		return fetchResult{}
	}
	page, err := t.owner.Reopen(t.ctx, driver.PageOptions{Session: t.session, Viewport: t.viewport})
	return fetchResult{page, err}
}

// take continues with the result of fetch.
func (r *restorer) take(f fetchResult) {
	t := r.t
	r.fetched = nil
	if f.err != nil {
		t.end(&apierr.Error{Kind: apierr.Lost, Message: "tab " + t.id + " could not be restored: open another tab", Err: f.err})
		t.restoreStore.Forget(t.id)
		return
	}
	if f.page != nil {
		r.attach(f.page)
	}
	if t.recovery.Fetched(f.page != nil) {
		r.goBack()
	}
}

// attach sets a new page as the tab's page. Only attach does that.
func (r *restorer) attach(page driver.Page) {
	t := r.t
	t.alive()
	t.policy.guard(page)
	t.attached.Store(&attachment{page: page, dialogOffset: t.dialogs.Attach()})
	page.SetDialogPolicy(driver.DialogPolicy(t.dialogPolicy.Load()))
	t.events = page.Events()
	t.recovery.Attach()
	t.obs.Attach()
	t.doc.Attach()
	t.downloads, t.tools = sideeffects.Downloads{}, nil
	t.freezer.frozen = false
}

// goBack navigates to the tab's last URL and accepts calls again.
func (r *restorer) goBack() {
	t := r.t
	url := t.recovery.Shown().URL
	err := t.policy.allow(url)
	if err == nil {
		_, err = navigator{t}.navigate(t.ctx, WaitLoad, func(ctx context.Context) (driver.Commit, error) { return t.page().Navigate(ctx, url) })
	}
	if t.ctx.Err() != nil || t.recovery.Due() {
		return // the tab was closed, or lost its page again
	}
	why, again := restore.Classify(err, t.health.Crashed())
	switch {
	case again:
		t.log.Warn("the tab could not be restored yet", "err", err)
		t.recovery.Again()
		return
	case why != "":
		r.giveUp(why)
		return
	}
	r.scrollBack()
	if !t.recovery.Due() {
		r.end("")
	}
}

// scrollBack restores the scroll position. A page that cannot be scrolled still counts as restored.
func (r *restorer) scrollBack() {
	t := r.t
	to := t.recovery.Shown().Place
	if to.X == 0 && to.Y == 0 && len(to.Boxes) == 0 || t.dialogs.Open() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, returnLimit+placeLimit)
	defer cancel()
	blocked := func() error { return t.dialogs.Err(t.id) }
	err := t.pump.call(ctx, blocked, func(ctx context.Context) error { return t.page().ScrollTo(ctx, to, returnLimit) })
	if err != nil {
		t.log.Debug("the page's scroll position was not restored", "err", err)
		return
	}
	t.recovery.Scrolled(to)
}

// giveUp leaves the tab crashed.
func (r *restorer) giveUp(why string) {
	t := r.t
	if !t.recovery.Gone() {
		why += ": Navigate restores it"
	} else {
		why += ": close it and open another tab"
	}
	t.health.Crash(true)
	t.nav.Stop()
	shown := t.recovery.Shown()
	t.nav.Show(shown.URL, shown.Title)
	t.publisher.add(TabEvent{Kind: TabCrashed, Reason: why})
	r.end(why)
}

// end accepts calls again. Why is the reason why restoring failed, or empty.
func (r *restorer) end(why string) {
	r.t.recovery.End(why)
	if why == "" {
		r.t.publisher.add(TabEvent{Kind: TabRestored})
		r.t.reader.follow()
	}
}

// stop stops the timer.
func (r *restorer) stop() {
	if r.stable != nil {
		r.stable.Stop()
	}
}

// discard closes a page that arrived too late. It is called when no fetch runs any more.
func (r *restorer) discard() {
	if r.fetched == nil {
		return
	}
	select {
	case f := <-r.fetched:
		if f.page != nil {
			if err := driver.Discard(r.t.ctx, f.page); err != nil {
				r.t.log.Warn("the browser did not close the page in time", "err", err)
			}
		}
	default:
	}
}
