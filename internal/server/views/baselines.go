package views

import (
	"container/list"
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
)

// Bounds of the baselines for incremental answers, over all callers.
const (
	maxCallers    = 1024
	maxRemembered = 1 << 20 // elements
	// maxViews is how many selections of one tab have a baseline for a caller.
	maxViews = 8
)

// baselines has, for each caller and tab, the views that the caller received last. The least recently
// used baseline is dropped first; its caller then gets the whole view once.
type baselines struct {
	mu      sync.Mutex
	entries map[callerTab]*list.Element
	// used has *baseline, the most recently used one in front.
	used *list.List
	size int
}

// Caller identifies the calls that belong together: those of an owner with the same client id, or else
// those of a connection.
type Caller struct {
	// Owner is the principal that chose the client id.
	Owner  string
	Client string
	// Node is the process that has the connection; empty: this one.
	Node       string
	Connection uint64
}

// Seen is a view that a caller received, with the boxes of its elements; nil for answers without boxes.
type Seen struct {
	View  *View
	Boxes []dom.Box
	// Mark is the mark of the read; see actor.Reading.
	Mark uint64
}

// State is the state of a tab that a caller received last; zero: unknown.
type State struct {
	Snapshot *dom.Snapshot
	// Mark is the mark of the read that returned it.
	Mark uint64
}

// Swap stores what a caller receives of the tab, and returns what it received last with the same
// selection of the same document, or why there is none.
func (t *Tab) Swap(who Caller, now Seen) (last Seen, resync string) {
	return t.last.swap(callerTab{who, t.tab.ID()}, now)
}

type callerTab struct {
	caller Caller
	tab    string
}

// baseline is what one caller received of one tab, the newest last.
type baseline struct {
	key       callerTab
	views     []Seen
	landmarks landmarks
	// state is the newest state that the caller received; streams counts the streams that send it every
	// state.
	state   State
	streams int
	// structural is the document whose last read asked for structural elements; zero: the last read did not. denser is
	// the same for reads as DENSE.
	structural, denser document
	// shown is the newest state of the whole page that the caller was shown as DENSE or DENSE_DIFF; nil: none.
	shown *dom.Snapshot
}

// document names a document of a tab.
type document struct {
	number uint64
	epoch  string
}

func documentOf(s *dom.Snapshot) document { return document{s.Document, s.Epoch} }

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
	entry.state = State{now.View.Snapshot, now.Mark}
	b.size += now.size()
	b.trim(entry)
	if resync == "" {
		resync = last.stale(now.View.Snapshot)
	}
	return last, resync
}

// LastState returns the newest state of the tab that a caller received; zero if unknown, or if a stream
// sends it every state.
func (t *Tab) LastState(who Caller) State {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known(callerTab{who, t.tab.ID()})
	if known == nil || known.streams > 0 {
		return State{}
	}
	return known.state
}

// SetState records that a caller received a state of the tab.
func (t *Tab) SetState(who Caller, now State) {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(callerTab{who, t.tab.ID()})
	entry.state = now
	b.trim(entry)
}

// Asked records what a caller's read of the tab asked for, so that the diffs of its actions list the same: structural
// elements only if the last read of the whole page names them (interactive_only false, or full_snapshot). A read of a
// part, by root_ref or frame_id, changes nothing, and neither does what formats show besides the view.
func (t *Tab) Asked(who Caller, r Request, s *dom.Snapshot) {
	if isSet(r, "root_ref") || r.GetFrameId() != "" {
		return
	}
	var structural document
	if r.GetFullSnapshot() || isSet(r, "interactive_only") && !r.GetInteractiveOnly() {
		structural = documentOf(s)
	}
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(callerTab{who, t.tab.ID()})
	entry.structural = structural
	if SelectionOf(r).dense {
		entry.denser = structural
		if !r.GetViewportOnly() {
			entry.shown = s
		}
	}
	b.trim(entry)
}

// ListsStructural reports whether the diffs of a caller's actions list structural elements. After a navigation they do
// not until the next read: it depends on no other caller's reads whether the elements of the new document are known.
// For DENSE_DIFF the reads as DENSE count.
func (t *Tab) ListsStructural(who Caller, now *dom.Snapshot, dense bool) bool {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known(callerTab{who, t.tab.ID()})
	switch {
	case known == nil:
		return false
	case dense:
		return known.denser == documentOf(now)
	}
	return known.structural == documentOf(now)
}

// Shown returns the newest state before now that a caller was shown as DENSE or DENSE_DIFF; nil: none of this document.
func (t *Tab) Shown(who Caller, now *dom.Snapshot) *dom.Snapshot {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known(callerTab{who, t.tab.ID()})
	if known == nil || known.shown == nil || documentOf(known.shown) != documentOf(now) || known.shown.Revision > now.Revision {
		return nil
	}
	return known.shown
}

// SetShown records that a caller was shown the changes up to a state of the tab.
func (t *Tab) SetShown(who Caller, now *dom.Snapshot) {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(callerTab{who, t.tab.ID()})
	entry.shown = now
	b.trim(entry)
}

// Streams records that a stream sends a caller every state, until over is called.
func (t *Tab) Streams(who Caller) (over func()) {
	key := callerTab{who, t.tab.ID()}
	t.last.beginStream(key)
	return func() { t.last.endStream(key) }
}

func (b *baselines) beginStream(key callerTab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(key)
	entry.streams++
	entry.state = State{}
	b.trim(entry)
}

// endStream records that a stream is over, perhaps after its caller was forgotten.
func (b *baselines) endStream(key callerTab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known(key)
	if known == nil {
		return
	}
	known.streams = max(0, known.streams-1)
	known.state = State{}
}

// known returns the baseline of a caller; nil: there is none. mu is held.
func (b *baselines) known(key callerTab) *baseline {
	item := b.entries[key]
	if item == nil {
		return nil
	}
	return item.Value.(*baseline)
}

// entry returns the baseline of a caller and marks it as used; mu is held.
func (b *baselines) entry(key callerTab) *baseline {
	item := b.entries[key]
	if item == nil {
		item = b.used.PushFront(&baseline{key: key})
		b.entries[key] = item
	}
	b.used.MoveToFront(item)
	return item.Value.(*baseline)
}

// landmarks calls f with the landmarks of a caller.
func (b *baselines) landmarks(key callerTab, f func(*landmarks) hashes) hashes {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(key)
	b.trim(entry)
	return f(&entry.landmarks)
}

// stale returns why a view cannot be compared with a snapshot; "" if it can.
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

// trim enforces the bounds; the entry in use loses only its oldest views.
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

// forget drops the baselines of a caller.
func (b *baselines) forget(c Caller) {
	b.removeIf(func(key callerTab) bool { return key.caller == c })
}

// drop drops the baselines of a tab.
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
