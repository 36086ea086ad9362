package actor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

// A tab that was opened with OpenOptions.Restore survives the death of its renderer and of its browser: it is brought
// back under the same id, at the URL and the place where it was, in a new epoch, with refs that were never given before.
//
// It happens in three steps, each of which the next death may end:
//
//	fall     the tab notes the death, and from then on refuses calls (StatusRestoring, kind Restoring)
//	fetch    beside the tab's goroutine: wait as restore.Budget says, and get a page if the old one is gone
//	goBack   on the tab's goroutine: navigate, scroll, and let calls in again
//
// Calls that were made before the death never reach the page that comes after it: each carries the turn of its time.

// comeback is what brings a tab back. Its fields belong to the tab's goroutine, but for turn.
type comeback struct {
	// turn is odd while the tab is away; it grows with each departure and each return.
	turn atomic.Uint64
	// budget says how often.
	budget restore.Budget
	// due says that a new attempt is to begin; free, that it is part of the last one.
	due, free bool
	// fetched delivers what fetch gets; nil when it does not run.
	fetched chan fetched
	// url and title are what the tab showed, and place is where.
	url, title string
	place      driver.ScrollPosition
	// reason is why the page was lost.
	reason string
}

// fetched is what fetch got: a page, unless the old one was to be kept.
type fetched struct {
	page driver.Page
	err  error
}

// away reports whether the tab is without its page, and comes back.
func (b *comeback) away() bool { return b.turn.Load()%2 == 1 }

// errAway is the error of calls while the tab comes back.
func (t *Tab) errAway() error { return Info{ID: t.id, Status: StatusRestoring}.Gone("try") }

// here refuses a call whose tab has lost its page since the call was made.
func (t *Tab) here(turn uint64) error {
	if turn%2 == 1 || t.back.turn.Load() != turn {
		return t.errAway()
	}
	return nil
}

// Restore reports whether the tab is brought back when its page is lost.
func (t *Tab) Restore() bool { return t.restore.Load() }

// SetRestore says whether the tab is brought back when its page is lost. It does not wait for the page; one that is away
// comes back all the same. The Info is the tab with that.
func (t *Tab) SetRestore(on bool) Info {
	t.restore.Store(on)
	t.stir()
	info := t.Info()
	info.Restore = on
	return info
}

// stir lets the tab's goroutine publish.
func (t *Tab) stir() {
	select {
	case t.stirred <- struct{}{}:
	default: // somebody else's is on its way, and brings this one along
	}
}

// fall notes that the page is lost: its renderer, or, when t.left is set, all of it.
func (t *Tab) fall(reason string) {
	b := &t.back
	if !b.away() {
		b.url, b.title, b.place = t.address, t.info.Title, t.place
		b.turn.Add(1)
	}
	b.due, b.reason = true, text.Clip(reason, text.Long)
	t.crashed, t.loading, t.unresponsive = true, false, false
	t.dialog(nil)
	t.shut = t.last // nobody answers it any more
	t.outbox = append(t.outbox, TabEvent{Kind: TabRestoring, Reason: b.reason})
}

// revive begins to bring the tab back, if that is due.
func (t *Tab) revive() {
	b := &t.back
	if !b.due || b.fetched != nil || t.ctx.Err() != nil {
		return
	}
	var wait time.Duration
	if !b.free {
		var ok bool
		if wait, ok = b.budget.Take(time.Now()); !ok {
			t.giveUp(fmt.Sprintf("it was brought back %d times within %s, and lost its page again (%s)", restore.Times, restore.Window, b.reason))
			return
		}
	}
	b.due, b.free = false, false
	results := make(chan fetched, 1)
	b.fetched = results
	gone := t.left
	t.children.Go(func() { results <- t.fetch(wait, gone) })
}

// fetch waits, and gets a page if the old one is gone.
func (t *Tab) fetch(wait time.Duration, gone bool) fetched {
	if !pauseFor(t.ctx, wait) {
		return fetched{err: context.Cause(t.ctx)}
	}
	if !gone {
		return fetched{}
	}
	page, err := t.owner.reopen(t.ctx, driver.PageOptions{Session: t.session, Viewport: t.viewport})
	return fetched{page, err}
}

// takeUp goes on with what fetch got.
func (t *Tab) takeUp(f fetched) {
	b := &t.back
	b.fetched = nil
	switch {
	case f.err != nil:
		t.end(&apierr.Error{Kind: apierr.Lost, Message: "tab " + t.id + " could not be brought back: open another", Err: f.err})
		t.keeper.Forget(t.id)
		return
	case f.page != nil:
		t.moveTo(f.page)
	case t.left:
		b.due, b.free = true, true // all of it went meanwhile: another page is needed
		return
	}
	t.goBack()
}

// moveTo makes a new page the tab's own.
func (t *Tab) moveTo(page driver.Page) {
	t.alive()
	t.life.Store(&life{page: page, asked: t.last})
	page.SetDialogPolicy(driver.DialogPolicy(t.answers.Load()))
	t.events, t.left = page.Events(), false
	t.observed, t.heeded, t.known = observation{}, driver.ObserveOptions{}, true
	t.structural, t.network, t.fetching = 0, Network{}, ""
	t.unchosen("")
}

// goBack navigates to where the tab was, and lets calls in again.
func (t *Tab) goBack() {
	b := &t.back
	why := ""
	err := t.policy.allow(b.url)
	if err == nil {
		_, err = t.travel(t.ctx, WaitLoad, func(ctx context.Context) (driver.Commit, error) { return t.page().Navigate(ctx, b.url) })
	}
	var e *apierr.Error
	switch {
	case t.ctx.Err() != nil:
		return
	case b.due: // it fell again
		return
	case err == nil, errors.As(err, &e) && e.Kind == apierr.Navigation:
		// What the browser shows instead of a page that cannot be loaded is what a reload would show, too.
	case errors.As(err, &e) && (e.Kind == apierr.Refused || e.Kind == apierr.IsDownload):
		why = err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		if t.crashed { // nothing of it has come
			why = err.Error()
		}
	default:
		t.log.Warn("the tab could not be brought back yet", "err", err)
		b.due = true
		return
	}
	if why == "" && t.crashed {
		why = "the browser did not say what it shows"
	}
	if why != "" {
		t.giveUp(why)
		return
	}
	t.scrollBack()
	if !b.due {
		t.arriveBack("")
	}
}

// scrollBack scrolls to where the page was. A page that cannot be scrolled is back all the same.
func (t *Tab) scrollBack() {
	to := t.back.place
	if to.X == 0 && to.Y == 0 && len(to.Boxes) == 0 || t.info.Dialog != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, returnLimit+placeLimit)
	defer cancel()
	err := t.call(ctx, t.blocked, func(ctx context.Context) error { return t.page().Return(ctx, to, returnLimit) })
	if err != nil {
		t.log.Debug("the page was not scrolled to where it was", "err", err)
		return
	}
	t.place = to
}

// giveUp leaves the tab crashed.
func (t *Tab) giveUp(why string) {
	if !t.left {
		why += ": Navigate brings it back"
	} else {
		why += ": close it, and open another"
	}
	t.crashed, t.loading = true, false
	t.goneTo(t.back.url)
	t.info.Title, t.info.HTTPStatus = t.back.title, 0
	t.outbox = append(t.outbox, TabEvent{Kind: TabCrashed, Reason: why})
	t.arriveBack(why)
}

// arriveBack lets calls in again. Why says what keeps the tab from being of use.
func (t *Tab) arriveBack(why string) {
	t.back.due = false
	t.info.Why = why
	t.back.turn.Add(1)
	if why == "" {
		t.outbox = append(t.outbox, TabEvent{Kind: TabRestored})
		t.attend()
	}
}

// discardFetched closes a page that comes too late. Nobody fetches any more.
func (t *Tab) discardFetched() {
	if t.back.fetched == nil {
		return
	}
	select {
	case f := <-t.back.fetched:
		if f.page != nil {
			if err := discard(t.ctx, f.page); err != nil {
				t.log.Warn("the browser did not close the page in time", "err", err)
			}
		}
	default:
	}
}

// Gone is the error of what needs the page of a tab that is crashed, or on its way back; nil for any other. Again is what
// to do then, in a word such as "watch".
func (i Info) Gone(again string) error {
	switch i.Status {
	case StatusRestoring:
		return &apierr.Error{
			Kind: apierr.Restoring, Message: "tab " + i.ID + " lost its page and is being brought back at its URL: " + again + " again in a moment; " +
				"refs of the page before are gone, and so is what was typed",
			Detail: map[string]string{"tab_id": i.ID},
		}
	case StatusCrashed:
		if i.Why != "" {
			return apierr.Errorf(apierr.Lost, "tab %s stays crashed: %s", i.ID, i.Why)
		}
		return apierr.Errorf(apierr.Lost, "the renderer of tab %s crashed: Reload or Navigate, then %s again", i.ID, again)
	}
	return nil
}

// Kept is what is needed to bring a tab back in another process.
type Kept struct {
	ID, Session, URL string
	Place            driver.ScrollPosition
	// Viewport is what the tab was opened with.
	Viewport dom.Box
	// Refs is a number that no ref of the tab has reached yet.
	Refs dom.Ref
	// Revivals counts the processes that have brought it back without being well for restore.Window since.
	Revivals int
}

// Keeper keeps the tabs that are to be brought back when the process ends without a word. Its methods are called by
// many goroutines and must not wait.
type Keeper interface {
	// Keep keeps a tab, in place of what it kept of it before.
	Keep(k Kept)
	// Forget forgets a tab; one that is not kept is no error.
	Forget(id string)
}

// equal reports whether two keep the same.
func (k Kept) equal(o Kept) bool {
	return k.ID == o.ID && k.Session == o.Session && k.URL == o.URL && k.Viewport == o.Viewport && k.Refs == o.Refs && k.Revivals == o.Revivals &&
		k.Place.X == o.Place.X && k.Place.Y == o.Place.Y && slices.EqualFunc(k.Place.Boxes, o.Place.Boxes, func(a, b driver.ScrolledBox) bool {
		return a.X == b.X && a.Y == b.Y && slices.Equal(a.Path, b.Path)
	})
}

// refBlock is how many refs are reserved at once in what is kept.
const refBlock = 1 << 16

// reserve returns a number that refs from next on do not reach so soon.
func reserve(next dom.Ref) dom.Ref {
	return dom.Ref(min(uint64(next)/refBlock*refBlock+2*refBlock, uint64(dom.NoRef)-1))
}

// keep keeps what the tab needs to be brought back, when that is something else than before.
func (t *Tab) keep() {
	if !t.restore.Load() {
		if t.kept.ID != "" {
			t.kept = Kept{}
			t.keeper.Forget(t.id)
		}
		return
	}
	if t.back.away() || t.ctx.Err() != nil {
		return // what was kept still holds
	}
	now := Kept{ID: t.id, Session: t.session, URL: t.address, Place: t.place, Viewport: t.viewport, Refs: t.kept.Refs, Revivals: t.kept.Revivals}
	if !t.revived.IsZero() && time.Since(t.revived) >= restore.Window {
		now.Revivals = 0 // it is well
	}
	if next := t.model.Next(); uint64(now.Refs) < uint64(next)+refBlock/2 {
		now.Refs = reserve(next)
	}
	if now.equal(t.kept) {
		return
	}
	t.kept = now
	t.keeper.Keep(now)
}
