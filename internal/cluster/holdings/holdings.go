// Package holdings keeps the sessions that a node of a cluster has: under which membership and fencing token, and which it has said that it
// takes no more. It decides nothing that others must know of, and asks nobody.
package holdings

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Holding is a session that this node has.
type Holding[M any] struct {
	// Member is the membership under which the node has the session.
	Member M
	// Restore: others take the session over when the node is gone.
	Restore bool
	// Revision is that of the session's entry, and Token its fencing token; 0 while the session is being acquired.
	Revision, Token uint64
	// Phase and Settings are those of the session's entry.
	Phase    registry.Phase
	Settings json.RawMessage
	// Lost: the registry has lost the entry.
	Lost bool
}

// Set are the sessions that this node has, by name. Its methods may be called by several goroutines; functions that they are given run under
// its lock, and must not call it.
type Set[M any] struct {
	mu  sync.RWMutex
	all map[string]*Holding[M]
	// forgone are the fencing tokens up to which this node takes a session no more, because it said so.
	forgone map[string]uint64
}

// New returns an empty set.
func New[M any]() *Set[M] {
	return &Set[M]{all: map[string]*Holding[M]{}, forgone: map[string]uint64{}}
}

// Add adds a session, unless there is one of that name, or it was forgone under this token.
func (s *Set[M]) Add(name string, h Holding[M]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] != nil || h.Token > 0 && h.Token <= s.forgone[name] {
		return false
	}
	s.all[name] = &h
	return true
}

// Get returns a session as it is now; false: the node does not have the session.
func (s *Set[M]) Get(name string) (Holding[M], bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	h := s.all[name]
	if h == nil {
		return Holding[M]{}, false
	}
	return *h, true
}

// Update changes a session, if it is still there.
func (s *Set[M]) Update(name string, change func(*Holding[M])) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[name]
	if h != nil {
		change(h)
	}
	return h != nil
}

// Forgo reports whether this node does not have a session, and sees to it that it never will under a token up to one.
func (s *Set[M]) Forgo(name string, token uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] != nil {
		return false
	}
	s.forgone[name] = max(s.forgone[name], token)
	return true
}

// ForgoneUpTo is the fencing token up to which this node takes a session no more; not ok: the node has the session.
func (s *Set[M]) ForgoneUpTo(name string) (token uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.forgone[name], s.all[name] == nil
}

// Rebase takes the loss of an entry: the session goes on from the entry that the registry has instead. When that is of another node, which was
// given the session since then, the revision becomes 0, so that every entry of that node is newer.
func (s *Set[M]) Rebase(c registry.Change[registry.Session]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[c.Key]
	switch {
	case h == nil || h.Revision > c.Old.Revision:
	case ledger.TokenOf(c.New) > h.Token:
		h.Revision = 0
	default:
		h.Revision, h.Lost = ledger.BaseOf(c), true
	}
}

// Claim marks a session that can be used as one that is about to move, so that only one caller moves it.
func (s *Set[M]) Claim(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[name]
	if h == nil || h.Phase != registry.Ready {
		return false
	}
	h.Phase = registry.Moving
	return true
}

// Remove forgets a session.
func (s *Set[M]) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, name)
}

// RemoveIf removes a session that a test accepts.
func (s *Set[M]) RemoveIf(name string, accept func(*Holding[M]) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.all[name]; h != nil && accept(h) {
		delete(s.all, name)
	}
}

// List lists the names of the sessions that a test accepts, sorted.
func (s *Set[M]) List(accept func(*Holding[M]) bool) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for name, h := range s.all {
		if accept(h) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Drop removes the sessions that a test accepts, and returns their names, sorted.
func (s *Set[M]) Drop(accept func(*Holding[M]) bool) []string {
	names := s.List(accept)
	for _, name := range names {
		s.Remove(name)
	}
	return names
}
