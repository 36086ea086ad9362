package views

import (
	"container/list"
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
)

// Bounds of what is remembered for incremental answers, over all callers.
const (
	maxCallers    = 1024
	maxRemembered = 1 << 20 // elements
	// maxViews is how many selections of one tab a caller may follow at once.
	maxViews = 8
)

// baselines remembers, for each caller and tab, the views that the caller saw last. What was not used
// for longest is forgotten first; its caller then gets the whole view once.
type baselines struct {
	mu      sync.Mutex
	entries map[callerTab]*list.Element
	// used holds *baseline, the last used in front.
	used *list.List
	size int
}

// Caller says whose calls belong together: all of an owner with the same client id, or else all of a connection.
type Caller struct {
	// Owner is who chose the client id.
	Owner      string
	Client     string
	Connection uint64
}

// Seen is a view with the boxes that it was answered with, which stand parallel to its elements; nil
// for answers without boxes.
type Seen struct {
	View  *View
	Boxes []dom.Box
	// Mark is that of the reading; see actor.Reading.
	Mark uint64
}

// Told is a state of a tab that a caller knows; zero when none is known.
type Told struct {
	Snapshot *dom.Snapshot
	// Mark is that of the reading that brought it.
	Mark uint64
}

// Swap remembers what a caller sees of the tab now, and returns what it saw last with the same
// selection of the same document, or why there is nothing to compare with.
func (t *Tab) Swap(who Caller, now Seen) (last Seen, resync string) {
	return t.last.swap(callerTab{who, t.tab.ID()}, now)
}

type callerTab struct {
	caller Caller
	tab    string
}

// baseline is what one caller saw of one tab, the newest last.
type baseline struct {
	key       callerTab
	views     []Seen
	landmarks landmarks
	// told is the newest state of the tab that the caller knows; streams counts those that tell it of every state.
	told    Told
	streams int
}

func newBaselines() *baselines {
	return &baselines{entries: map[callerTab]*list.Element{}, used: list.New()}
}

func (b *baselines) swap(key callerTab, now Seen) (last Seen, resync string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(key)
	if len(entry.views) == 0 {
		resync = FirstCall
	}
	i := slices.IndexFunc(entry.views, func(s Seen) bool { return s.View.Selection == now.View.Selection })
	if i >= 0 {
		last = entry.views[i]
		entry.views = slices.Delete(entry.views, i, i+1)
		b.size -= last.size()
	} else if resync == "" {
		resync = ViewChanged
	}
	entry.views = append(entry.views, now)
	entry.told = Told{now.View.Snapshot, now.Mark}
	b.size += now.size()
	b.trim(entry)
	if resync == "" {
		resync = last.stale(now.View.Snapshot)
	}
	return last, resync
}

// Told returns the newest state of the tab that a caller was told of; none when that is not known, or when a stream
// tells it of every state.
func (t *Tab) Told(who Caller) Told {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	item := b.entries[callerTab{who, t.tab.ID()}]
	if item == nil || item.Value.(*baseline).streams > 0 {
		return Told{}
	}
	return item.Value.(*baseline).told
}

// Tell remembers that a caller knows a state of the tab.
func (t *Tab) Tell(who Caller, now Told) {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(callerTab{who, t.tab.ID()})
	entry.told = now
	b.trim(entry)
}

// Streams says that a stream tells a caller of every state, until over is called.
func (t *Tab) Streams(who Caller) (over func()) {
	key := callerTab{who, t.tab.ID()}
	t.last.stream(key, +1)
	return func() { t.last.stream(key, -1) }
}

func (b *baselines) stream(key callerTab, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(key)
	entry.streams = max(0, entry.streams+n)
	entry.told = Told{}
	b.trim(entry)
}

// entry returns what is remembered for a caller, which is the last used now; mu is held.
func (b *baselines) entry(key callerTab) *baseline {
	item := b.entries[key]
	if item == nil {
		item = b.used.PushFront(&baseline{key: key})
		b.entries[key] = item
	}
	b.used.MoveToFront(item)
	return item.Value.(*baseline)
}

// landmarks lets f use what a caller's landmarks are.
func (b *baselines) landmarks(key callerTab, f func(*landmarks) hashes) hashes {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(key)
	b.trim(entry)
	return f(&entry.landmarks)
}

// stale says why a view cannot be compared with a snapshot; "" when it can.
func (s Seen) stale(now *dom.Snapshot) string {
	switch was := s.View.Snapshot; {
	case was.Document != now.Document:
		return Navigated
	case was.Epoch != now.Epoch:
		return EpochChanged
	}
	return ""
}

func (s Seen) size() int { return s.View.view.Elements.Len() + 1 }

// trim keeps the bounds; the entry in use loses its oldest views only.
func (b *baselines) trim(entry *baseline) {
	for len(entry.views) > maxViews {
		b.size -= entry.views[0].size()
		entry.views = slices.Delete(entry.views, 0, 1)
	}
	for len(b.entries) > 1 && (len(b.entries) > maxCallers || b.size > maxRemembered) {
		b.remove(b.used.Back())
	}
}

func (b *baselines) remove(item *list.Element) {
	entry := b.used.Remove(item).(*baseline)
	delete(b.entries, entry.key)
	for _, s := range entry.views {
		b.size -= s.size()
	}
}

// forget drops what a caller saw.
func (b *baselines) forget(c Caller) {
	b.removeIf(func(key callerTab) bool { return key.caller == c })
}

// drop drops what anybody saw of a tab.
func (b *baselines) drop(tab string) {
	b.removeIf(func(key callerTab) bool { return key.tab == tab })
}

func (b *baselines) removeIf(match func(callerTab) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, item := range b.entries {
		if match(key) {
			b.remove(item)
		}
	}
}
