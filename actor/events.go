package actor

import (
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/dom"
)

// receive handles an event, or the end of the events.
func (t *Tab) receive(e driver.Event, ok bool) {
	if !ok {
		t.events = nil
		if t.left && t.back.away() {
			return
		}
		t.end(apierr.Errorf(apierr.Lost, "the page of tab %s is gone: open another", t.id))
		return
	}
	defer t.catchUp()
	defer t.greet()
	switch e := e.(type) {
	case driver.Patched:
		t.alive()
		t.apply(e.Patch)
		if !t.hold {
			t.flush()
		}
	case driver.Committed:
		t.committed(e)
	case driver.Titled:
		t.titled(e.Title)
	case driver.Responded:
		t.responded = e
		if e.Document == t.main {
			t.info.HTTPStatus = e.Status
		}
	case driver.Loaded:
		t.loaded(e)
	case driver.FrameGone:
		t.model.Drop(e.Frame)
		t.unchosen(e.Frame)
	case driver.Selected:
		t.alive()
		t.chosen(e)
	case driver.Traffic:
		if t.network.Known {
			t.network.Busy, t.network.Since = e.Busy, time.Now()
		}
	case driver.DialogOpened:
		t.asks(e.Dialog)
	case driver.DialogClosed:
		t.shut = max(t.shut, e.Dialog.ID+t.life.Load().asked)
		t.dialog(nil)
	case driver.Crashed:
		t.alive()
		t.crashed, t.loading = true, false
		if !e.Sacrificed {
			t.crashes++
		}
		t.dialog(nil)
		t.outbox = append(t.outbox, TabEvent{Kind: TabCrashed, Reason: e.Reason})
		if !e.Sacrificed && t.restore.Load() {
			t.fall(e.Reason)
		}
	case driver.Gone:
		t.leave(e)
	case driver.ChooserAsked:
		t.note("a file chooser was asked for: use an upload step with this ref")
	case driver.Downloaded:
		t.fetches(e.Download)
	}
}

// drainBound is how many queued events are handled in one go.
const drainBound = 4096

// drain handles the events that are queued already.
func (t *Tab) drain() {
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

func (t *Tab) leave(e driver.Gone) {
	t.left = true
	if e.Err == nil {
		t.end(errClosed)
		return
	}
	if t.restore.Load() {
		t.crashes++
		t.outbox = append(t.outbox, TabEvent{Kind: TabCrashed, Reason: "the browser is gone"})
		t.fall("the browser is gone")
		return
	}
	t.end(&apierr.Error{Kind: apierr.Lost, Message: "the browser of tab " + t.id + " is gone", Err: e.Err})
}

// apply takes over patches that belong together.
func (t *Tab) apply(patches ...dom.Patch) {
	if t.meter != nil {
		for _, p := range patches {
			t.meter.PageAgent(min(max(0, p.Took), maxPageAgent))
		}
	}
	limited := slices.ContainsFunc(patches, func(p dom.Patch) bool { return p.Limited })
	was := t.model.Document("")
	title := t.model.Title()
	if err := t.model.Apply(patches...); err != nil {
		t.log.Error("the page reported changes that make no sense", "err", err)
	}
	if main := t.model.Document(""); main != was {
		t.adopt(main, was == "")
		title = ""
		i := slices.IndexFunc(patches, func(p dom.Patch) bool { return p.Document == main })
		if i >= 0 && (was != "" || !t.urlKnown) {
			t.goneTo(patches[i].URL)
		}
	}
	if limited && t.limited != t.document {
		t.limited = t.document
		t.log.Warn("the page has more elements than are kept: some are left out")
		if t.meter != nil {
			t.meter.Refused("page_elements")
		}
	}
	// The title of a patch is news only when that document said another before: Titled may be ahead.
	if now := t.model.Title(); now != title {
		t.titled(now)
	}
}

// committed handles a navigation that the browser reports.
func (t *Tab) committed(e driver.Committed) {
	if e.Frame != "" {
		if !e.Same {
			t.model.Commit(e.Frame, e.Document)
			t.unchosen(e.Frame)
		}
		return
	}
	if e.Same {
		t.sames++
	} else if !t.arrive(e) {
		return
	}
	t.goneTo(e.URL)
	t.urlKnown = true
	t.remember()
	t.outbox = append(t.outbox, TabEvent{Kind: TabNavigated, Same: e.Same})
}

// goneTo notes the URL of the main document. Who reads it does not learn the user and the password in it.
func (t *Tab) goneTo(url string) { t.address, t.info.URL = url, dom.WithoutUser(url) }

// arrive takes over a main document; false: it is known, and nothing is new.
func (t *Tab) arrive(e driver.Committed) bool {
	if e.Document != t.main {
		t.model.Commit("", e.Document)
		t.adopt(e.Document, false)
	} else if t.announced {
		return false
	}
	t.alive()
	t.announced, t.loading, t.loadError, t.cause = true, true, e.Error, e.Cause
	if e.Cause != nil {
		t.loadError = e.Cause.Message
	}
	t.commits++
	t.liveness.expect()
	return true
}

// adopt makes a document the main one. The very first, if nobody announced it, is the blank one that
// the tab began with.
func (t *Tab) adopt(document string, first bool) {
	t.main, t.announced, t.reached = document, false, 0
	t.place, t.info.Why = driver.ScrollPosition{}, ""
	t.unchosen("")
	t.network.Since = time.Now()
	copy(t.recent[1:], t.recent[:])
	t.recent[0] = document
	if first {
		return
	}
	t.bury(t.head.Load().Snapshot)
	t.document++
	t.loadError, t.cause, t.info.Title, t.info.HTTPStatus = "", nil, "", 0
	if t.responded.Document == document {
		t.info.HTTPStatus = t.responded.Status
	}
	if t.info.Dialog != nil {
		t.dialog(nil)
	}
	if t.crashed {
		t.crashed, t.epoch = false, unguessable()
	}
}

func (t *Tab) loaded(e driver.Loaded) {
	if e.Document != t.main {
		return
	}
	t.alive()
	t.reached |= 1 << e.Phase
	if t.past(driver.PhaseLoad) {
		t.loading = false
	}
}

// past reports whether the main document has reached a phase. The network may be idle before the load
// event; that alone does not count.
func (t *Tab) past(phase driver.Phase) bool {
	has := func(p driver.Phase) bool { return t.reached&(1<<p) != 0 }
	switch phase {
	case driver.PhaseCommit:
		return true
	case driver.PhaseDOMContentLoaded:
		return has(driver.PhaseDOMContentLoaded) || has(driver.PhaseLoad)
	case driver.PhaseNetworkIdle:
		return has(driver.PhaseLoad) && has(driver.PhaseNetworkIdle)
	}
	return has(driver.PhaseLoad)
}

func (t *Tab) titled(title string) {
	t.info.Title = text.Clip(title, text.Long)
	old := *t.history.Load()
	if n := len(old); n > 0 && t.visited == t.info.URL && old[n-1].Title != t.info.Title {
		entries := slices.Clone(old)
		entries[n-1].Title = t.info.Title
		t.history.Store(&entries)
	}
}

// remember adds the page to the history, when its URL is another. The blank page that every tab begins
// with and the browser's error pages are left out.
func (t *Tab) remember() {
	old := *t.history.Load()
	url := t.info.URL
	if t.loadError != "" || len(old) == 0 && url == "about:blank" || len(old) > 0 && t.visited == url {
		return
	}
	t.visited = url
	entries := append(slices.Clone(old), HistoryEntry{URL: dom.MaskParameters(url), Title: t.info.Title})
	entries = entries[max(0, len(entries)-keptPages):]
	t.history.Store(&entries)
}
