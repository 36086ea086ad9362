package views

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/content/injection"
)

// noticed knows which elements of the last snapshot that was asked for have signals, so that of the next only what is new is
// looked at.
type noticed struct {
	mu       sync.Mutex
	snapshot *dom.Snapshot
	elements map[dom.Ref]sign
}

// sign is what one element has.
type sign struct {
	set   injection.Set
	where string
}

// Signals returns what a snapshot has that looks made for a model, a signal for each kind. After the first call it costs as
// much as what changed since.
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

// follow goes from the snapshot before to the next.
func (n *noticed) follow(s *dom.Snapshot) {
	before := dom.List{}
	if n.snapshot != nil && n.snapshot.Document == s.Document && n.snapshot.Epoch == s.Epoch {
		before = n.snapshot.Elements
	} else {
		n.elements = map[dom.Ref]sign{}
	}
	for _, gap := range dom.Gaps(before, s.Elements) {
		for _, e := range gap.Old {
			delete(n.elements, e.Ref)
		}
		for _, e := range gap.Now {
			if set, where := injection.Element(e); set != 0 {
				n.elements[e.Ref] = sign{set, where}
			}
		}
	}
	n.snapshot = s
}

// Signals returns what the page has that looks made for a model, seen or not.
func (v *View) Signals() []injection.Signal { return v.signals }
