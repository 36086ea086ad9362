// Package owned keeps the sessions that a node of a cluster owns, with their memberships and fencing tokens, and the tokens that the
// node has disclaimed. Its decisions are local: it makes no requests.
package owned

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// Session is a session that this node owns.
type Session[M any] struct {
	// Member is the membership under which the node owns the session.
	Member M
	// Restore reports whether other nodes take the session over when this node is gone.
	Restore bool
	// Revision is the revision of the session's entry, and Token its fencing token. Both are 0 while the session is being acquired.
	Revision, Token uint64
	// Phase and Settings are copies from the session's entry.
	Phase    registry.Phase
	Settings json.RawMessage
	// Lost reports that the registry has lost the entry.
	Lost bool
}

// Set holds the sessions of this node by name. It is safe for concurrent use. Functions passed to its methods run under its lock and must
// not call its methods.
type Set[M any] struct {
	mu  sync.RWMutex
	all map[string]*Session[M]
	// disclaimed maps sessions to the highest fencing token under which this node has promised not to own them.
	disclaimed map[string]uint64
}

// New returns an empty set.
func New[M any]() *Set[M] {
	return &Set[M]{all: map[string]*Session[M]{}, disclaimed: map[string]uint64{}}
}

// Add adds a session, unless the set has one of that name or the token was disclaimed.
func (s *Set[M]) Add(name string, h Session[M]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] != nil || h.Token > 0 && h.Token <= s.disclaimed[name] {
		return false
	}
	s.all[name] = &h
	return true
}

// Get returns a copy of a session. It returns false if the node does not own the session.
func (s *Set[M]) Get(name string) (Session[M], bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	h := s.all[name]
	if h == nil {
		return Session[M]{}, false
	}
	return *h, true
}

// Update changes a session and reports whether the set has it.
func (s *Set[M]) Update(name string, change func(*Session[M])) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[name]
	if h != nil {
		change(h)
	}
	return h != nil
}

// Disclaim ensures that this node never owns a session under the given token or a lower one. It returns false if the node owns the session.
func (s *Set[M]) Disclaim(name string, token uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[name] != nil {
		return false
	}
	s.disclaimed[name] = max(s.disclaimed[name], token)
	return true
}

// DisclaimedUpTo returns the highest disclaimed token of a session. It returns false if the node owns the session.
func (s *Set[M]) DisclaimedUpTo(name string) (token uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.disclaimed[name], s.all[name] == nil
}

// Rebase handles the loss of an entry: the session continues from the entry that the registry has instead. If that entry belongs to another
// node, which has received the session in the meantime, the revision becomes 0, so every entry of that node is newer.
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

// Claim marks a ready session as about to move, so that only one caller moves it.
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

// Remove removes a session.
func (s *Set[M]) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, name)
}

// RemoveIf removes a session if accept returns true.
func (s *Set[M]) RemoveIf(name string, accept func(*Session[M]) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.all[name]; h != nil && accept(h) {
		delete(s.all, name)
	}
}

// List returns the sorted names of the accepted sessions.
func (s *Set[M]) List(accept func(*Session[M]) bool) []string {
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

// Drop removes the accepted sessions and returns their sorted names.
func (s *Set[M]) Drop(accept func(*Session[M]) bool) []string {
	names := s.List(accept)
	for _, name := range names {
		s.Remove(name)
	}
	return names
}
