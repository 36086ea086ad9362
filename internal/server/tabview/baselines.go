package tabview

import (
	"container/list"
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
)

// Limits of the baselines for incremental answers, over all callers.
const (
	maxCallers    = 1024
	maxRemembered = 1 << 20 // in elements
	// maxViews limits the selections of one tab that have a baseline for a caller.
	maxViews = 8
)

// baselines holds the last received views of each caller and tab. When a limit is exceeded, the least recently used baseline is dropped;
// its caller then gets the whole view once.
type baselines struct {
	mu      sync.Mutex
	entries map[callerTab]*list.Element
	// used holds the *baseline values, most recently used first.
	used *list.List
	size int
}

// Caller identifies calls that belong together: calls of an owner with the same client ID or, without an ID, calls over one connection.
type Caller struct {
	// Owner is the principal that chose the client ID.
	Owner  string
	Client string
	// Node is the process that has the connection. It is empty for this process.
	Node       string
	Connection uint64
}

// Seen is a view that a caller received, with the boxes of its elements. Boxes is nil if the answer had no boxes.
type Seen struct {
	View  *View
	Boxes []dom.Box
	// Mark is the mark of the read. See actor.Reading.
	Mark uint64
}

// State is the tab state that a caller received last. The zero value means unknown.
type State struct {
	Snapshot *dom.Snapshot
	// Mark is the mark of the read that returned it.
	Mark uint64
}

// Swap stores the view that a caller is about to receive. It returns the last view that the caller received with the same selection of the
// same document, or the reason why there is none.
func (t *Tab) Swap(who Caller, now Seen) (last Seen, resync string) {
	return t.last.swap(callerTab{who, t.tab.ID()}, now)
}

type callerTab struct {
	caller Caller
	tab    string
}

// baseline holds what one caller received of one tab. The newest view is last.
type baseline struct {
	key       callerTab
	views     []Seen
	landmarks landmarks
	// state is the newest state that the caller received. streams counts the streams that send it every state.
	state   State
	streams int
	// structural is the document whose last read included structural elements. It is zero if the last read did not include them. denser is
	// the same for reads as DENSE.
	structural, denser document
	// shown is the newest state of the whole page that the caller received as DENSE or DENSE_DIFF. It is nil if there is none.
	shown *dom.Snapshot
}

// document identifies a document of a tab.
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

// LastState returns the newest state of the tab that a caller received. It returns the zero State if that is unknown or if a stream sends
// every state.
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

// RecordRead records which elements a caller's read requested, so that the diffs of its actions list the same ones. Structural elements are
// listed only if the last read of the whole page requested them (interactive_only false, or full_snapshot). A read of a part, by root_ref
// or frame_id, does not count. Structural elements that a format adds to the view do not count either.
func (t *Tab) RecordRead(who Caller, r Request, s *dom.Snapshot) {
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

// ListsStructural reports whether the diffs of a caller's actions list structural elements. After a navigation they do not until the
// caller's next read, so that the reads of other callers have no influence. For DENSE_DIFF, only reads as DENSE count.
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

// LastShown returns the newest state up to current that a caller received as DENSE or DENSE_DIFF. It returns nil if there is none of the
// same document.
func (t *Tab) LastShown(who Caller, current *dom.Snapshot) *dom.Snapshot {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.known(callerTab{who, t.tab.ID()})
	if known == nil || known.shown == nil || documentOf(known.shown) != documentOf(current) || known.shown.Revision > current.Revision {
		return nil
	}
	return known.shown
}

// SetShown records that a caller received the changes up to a state of the tab.
func (t *Tab) SetShown(who Caller, current *dom.Snapshot) {
	b := t.last
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entry(callerTab{who, t.tab.ID()})
	entry.shown = current
	b.trim(entry)
}

// BeginStream records that a stream sends every state to a caller, until end is called.
func (t *Tab) BeginStream(who Caller) (end func()) {
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

// endStream records that a stream has ended. The caller may already be forgotten.
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

// known returns the baseline of a caller, or nil if there is none. The caller holds mu.
func (b *baselines) known(key callerTab) *baseline {
	item := b.entries[key]
	if item == nil {
		return nil
	}
	return item.Value.(*baseline)
}

// entry returns the baseline of a caller, creating it if needed, and marks it as used. The caller holds mu.
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

// stale returns the reason why a view cannot be compared with a snapshot, or "" if it can.
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

// trim enforces the limits. The entry in use loses only its oldest views.
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
