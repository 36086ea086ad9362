// Package timeline implements TimelineService. It stores the timeline of every tab of the daemon, and holds the calls of clients that a
// person has paused.
//
// It has two sources. An interceptor sees each call with its client, its answer and its error; handlers add further details through Of. The
// events of the tabs arrive before the call that caused them ends. The problems of a page are copied from its log before each other entry
// and on each read, so that a page that floods its console costs nothing in between.
package timeline

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/timeline/masks"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
	"github.com/domtap/domtap/internal/timeline"
)

const (
	// keepClosed is how long the timeline of a closed tab can be read. maxClosed limits the number of these timelines.
	keepClosed = 10 * time.Minute
	maxClosed  = 100
)

// Timelines holds the timelines of a pool's tabs.
type Timelines struct {
	pauses pauses

	mu   sync.Mutex
	tabs map[string]*Tab
	// closed holds the timelines of closed tabs, in the order of closing.
	closed []*Tab
}

// New returns the timelines of a pool's tabs. It observes the tabs from now on.
func New(pool *tabpool.Pool) *Timelines {
	t := &Timelines{tabs: map[string]*Tab{}, pauses: pauses{held: map[scope][]*hold{}}}
	tabpool.Observe(pool, t.event)
	return t
}

// Tab is the timeline of one tab.
type Tab struct {
	*timeline.Store
	session string
	tab     *actor.Tab
	// closedAt is the time at which the tab was closed. The lock of Timelines guards it.
	closedAt time.Time

	// mu guards the fields below, and keeps the problems of the page in order.
	mu sync.Mutex
	// log is the log of the tab's current page. cursor marks the part that is already in the timeline.
	log    *pagelog.Log
	cursor pagelog.Cursor
	// hangs reports that the page did not answer at the end of the last call.
	hangs bool
	// downloads maps the GUIDs of downloads in progress to their entries.
	downloads map[string]uint64
	// dialogs holds the most recently opened dialogs, the last one at the end. A turn may open and answer several before it records them.
	dialogs []openedDialog
}

// Of returns the timeline of a tab. If the principal cannot see the tab, the error is the same as for a tab that does not exist.
func (t *Timelines) Of(who identity.Principal, id string) (*Tab, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.tabs[id]
	if one == nil {
		t.forget(time.Now())
		if i := slices.IndexFunc(t.closed, func(c *Tab) bool { return c.tab.ID() == id }); i >= 0 {
			one = t.closed[i]
		}
	}
	if one == nil || !who.Owns(one.session) {
		return nil, tabpool.NoTab(id)
	}
	return one, nil
}

// Load sets the entries of a recorded tab, with their IDs and versions. Nothing is added or changed afterwards.
func (t *Timelines) Load(tab string, entries []*timeline.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.tabs[tab]; one != nil {
		one.Load(entries)
	}
}

// forget drops the timelines of tabs that were closed long ago. The caller holds the lock.
func (t *Timelines) forget(now time.Time) {
	t.closed = slices.DeleteFunc(t.closed, func(c *Tab) bool { return now.Sub(c.closedAt) > keepClosed })
	if over := len(t.closed) - maxClosed; over > 0 {
		t.closed = slices.Delete(t.closed, 0, over)
	}
}

// inSession returns the timelines of the open tabs of a session.
func (t *Timelines) inSession(session string) []*Tab {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*Tab
	for _, one := range t.tabs {
		if one.session == session {
			out = append(out, one)
		}
	}
	return out
}

// event handles an event of a tab. The caller holds the pool's lock.
func (t *Timelines) event(tab *actor.Tab, e actor.TabEvent) {
	t.mu.Lock()
	one := t.tabs[tab.ID()]
	if one == nil {
		one = &Tab{Store: timeline.New(timeline.Limits{Mask: masks.Message[*timeline.Entry]}), session: tab.Session(), tab: tab}
		t.tabs[tab.ID()] = one
	}
	opener := t.tabs[e.Info.Opener]
	if e.Kind == actor.TabClosed {
		delete(t.tabs, tab.ID())
		one.closedAt = e.At
		t.closed = append(t.closed, one)
		t.forget(e.At)
	}
	t.mu.Unlock()
	one.Sync()
	switch made := entryOf(e); {
	case e.Kind == actor.TabDownloaded:
		one.download(e, made)
	case e.Kind == actor.TabDialog:
		one.opened(e, made)
	case made != nil:
		one.Add(made)
	}
	switch {
	case e.Kind == actor.TabOpened && opener != nil:
		opener.Add(&timeline.Entry{Time: timestamppb.New(e.At), Event: &domtapv1.TimelineEntry_Popup{
			Popup: &domtapv1.TimelinePopup{TabId: tab.ID(), Url: e.Info.URL}}})
	case e.Kind == actor.TabClosed:
		one.Close()
		t.pauses.end(scope{tab: tab.ID()})
	}
}

// entryOf converts an event to an entry. It returns nil if the event needs no entry.
func entryOf(e actor.TabEvent) *timeline.Entry {
	out := &timeline.Entry{Time: timestamppb.New(e.At), RevisionFrom: e.Info.Revision, RevisionTo: e.Info.Revision, Epoch: e.Info.Epoch}
	status := func(reason string) {
		out.Event = &domtapv1.TimelineEntry_Status{Status: &domtapv1.TimelineStatus{Status: messages.Tab(e.Info).GetStatus(), Reason: reason}}
	}
	switch e.Kind {
	case actor.TabOpened:
		status("opened")
	case actor.TabClosed:
		status("closed")
		if e.Reason != "" {
			status("closed: " + e.Reason)
		}
		out.GetStatus().Status = domtapv1.TabStatus_TAB_STATUS_CLOSED
	case actor.TabCrashed:
		status("crashed: " + e.Reason)
	case actor.TabRestoring:
		status("restoring: " + e.Reason)
	case actor.TabRestored:
		status("restored")
	case actor.TabNavigated:
		out.Event = &domtapv1.TimelineEntry_Navigation{Navigation: &domtapv1.TimelineNavigation{
			Url: e.Info.URL, Title: e.Info.Title, SameDocument: e.Same, HttpStatus: int32(e.Info.HTTPStatus)}}
	case actor.TabDialog:
		if e.Dialog == nil {
			return nil // closed: its existing entry is updated
		}
		out.Event = &domtapv1.TimelineEntry_Dialog{Dialog: messages.Dialog(e.Dialog)}
	case actor.TabDownloaded:
		d := tabpool.DownloadRecord{Download: e.Download, Tab: e.Info.ID}
		out.Event = &domtapv1.TimelineEntry_Download{Download: messages.Downloads([]tabpool.DownloadRecord{d})[0]}
	default:
		return nil
	}
	return out
}

// openedDialog is a dialog with its entry.
type openedDialog struct{ id, entry uint64 }

// maxDialogs is the number of dialogs whose answers can still be recorded. It is the number of steps that a turn may have.
const maxDialogs = 32

// opened adds the entry of an opened dialog. If made is nil, the dialog has closed, and its entry gets the duration.
func (t *Tab) opened(e actor.TabEvent, made *timeline.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if made != nil {
		t.dialogs = append(t.dialogs[max(0, len(t.dialogs)-maxDialogs+1):], openedDialog{made.GetDialog().GetId(), t.Add(made)})
		return
	}
	if len(t.dialogs) == 0 {
		return
	}
	t.Change(t.dialogs[len(t.dialogs)-1].entry, func(old *timeline.Entry) { old.Duration = durationpb.New(e.At.Sub(old.Time.AsTime())) })
}

// answered records a client's answer in the entry of a dialog.
func (t *Tab) answered(d *domtapv1.Dialog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, opened := range slices.Backward(t.dialogs) {
		if opened.id == d.GetId() {
			t.Change(opened.entry, func(old *timeline.Entry) { old.Event = &domtapv1.TimelineEntry_Dialog{Dialog: d} })
			return
		}
	}
}

// download adds or updates the entry of a download.
func (t *Tab) download(e actor.TabEvent, made *timeline.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	guid := e.Download.GUID
	id := t.downloads[guid]
	switch {
	case id != 0:
		t.Change(id, func(old *timeline.Entry) {
			old.Event, old.Duration = made.Event, durationpb.New(e.At.Sub(old.Time.AsTime()))
		})
	case t.downloads == nil:
		t.downloads = map[string]uint64{}
		fallthrough
	default:
		t.downloads[guid] = t.Add(made)
	}
	if e.Download.State != driver.Fetching {
		delete(t.downloads, guid)
	}
}

// Sync adds the problems that the page has logged since the last call. It does not call the page.
func (t *Tab) Sync() {
	t.mu.Lock()
	defer t.mu.Unlock()
	log := t.tab.Log()
	if log != t.log { // the tab has a new page
		if t.log != nil {
			t.log.OnProblem(nil)
		}
		t.log, t.cursor = log, pagelog.Cursor{}
		log.OnProblem(t.WakeAll)
	}
	var found []pagelog.Entry
	found, t.cursor = log.Problems(t.cursor)
	for _, e := range found {
		one := messages.LogEntry(&e)
		made := &timeline.Entry{Time: timestamppb.New(e.At)}
		if e.Took > 0 {
			made.Duration = durationpb.New(e.Took)
		}
		if e.Kind == pagelog.Network {
			made.Event = &domtapv1.TimelineEntry_Request{Request: one}
		} else {
			made.Event = &domtapv1.TimelineEntry_Problem{Problem: one}
		}
		t.Add(made)
	}
}

// hung adds an entry if the page has stopped answering since the last call, or answers again.
func (t *Tab) hung() {
	info := t.tab.Info()
	t.mu.Lock()
	now := info.Status == actor.StatusUnresponsive
	changed := now != t.hangs
	t.hangs = now
	t.mu.Unlock()
	if !changed {
		return
	}
	reason := "answers again"
	if now {
		reason = "stopped answering"
	}
	t.Add(&timeline.Entry{Time: timestamppb.Now(), Event: &domtapv1.TimelineEntry_Status{
		Status: &domtapv1.TimelineStatus{Status: messages.Tab(info).GetStatus(), Reason: reason}}})
}
