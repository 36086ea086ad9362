package tabview

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/content/injection"
)

// signalCache caches the signals of the elements of the last requested snapshot, so that for the next one only changed elements are scanned.
type signalCache struct {
	mu       sync.Mutex
	snapshot *dom.Snapshot
	elements map[dom.Ref]elementSignals
}

// elementSignals holds the signals of one element.
type elementSignals struct {
	set   injection.Set
	where string
}

// Signals returns the suspected prompt injections of a snapshot, one for each kind. After the first call, the cost is proportional to the
// changes.
func (t *Tab) Signals(s *dom.Snapshot) []injection.Signal {
	n := &t.noticed
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.snapshot != s {
		n.follow(s)
	}
	if len(n.elements) == 0 {
		return nil
	}
	var all []injection.Signal
	for e := range s.Elements.All() {
		for _, kind := range n.elements[e.Ref].set.Names() {
			i := slices.IndexFunc(all, func(one injection.Signal) bool { return one.Kind == kind })
			if i < 0 {
				i, all = len(all), append(all, injection.Signal{Kind: kind, Ref: e.Ref, Where: n.elements[e.Ref].where})
			}
			all[i].Count++
		}
	}
	return all
}

// follow updates the signals from the previous snapshot to the next.
func (n *signalCache) follow(s *dom.Snapshot) {
	before := dom.List{}
	if n.snapshot != nil && n.snapshot.Document == s.Document && n.snapshot.Epoch == s.Epoch {
		before = n.snapshot.Elements
	} else {
		n.elements = map[dom.Ref]elementSignals{}
	}
	for _, gap := range dom.Gaps(before, s.Elements) {
		for _, e := range gap.Old {
			delete(n.elements, e.Ref)
		}
		for _, e := range gap.Now {
			if set, where := injection.Element(e); set != 0 {
				n.elements[e.Ref] = elementSignals{set, where}
			}
		}
	}
	n.snapshot = s
}

// Signals returns the suspected prompt injections of the whole page, including those outside the view.
func (v *View) Signals() []injection.Signal { return v.signals }
