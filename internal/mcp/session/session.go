// Package session has the state of a model's session with the MCP server: its current tab, the tabs that it opened, and what it has seen of them.
// It calls nobody: tools tell it what they did.
package session

import (
	"slices"
	"sync"
)

// Session is the state of a model's session: its current tab, the tabs that it opened, and what it has seen of
// them. It may be used from any goroutine.
type Session struct {
	// ClientID names the session to the daemon, at most 100 characters. The daemon keeps the baseline of diffs
	// under this name.
	ClientID string
	// Browser is the browser session in which tabs are opened; empty: the default one.
	Browser string

	mu      sync.Mutex
	current string
	opened  []string
	// seen has, for each tab, the newest state that the model looked at as lines or in detail. What it was shown as
	// DENSE and by actions, the daemon knows.
	seen map[string]Point
	// logged has, for each tab, the sequence of the log after which entries are new to the model.
	logged map[string]uint64
}

// Point is a state of a tab.
type Point struct {
	Epoch    string
	Revision uint64
}

// SetSeen records that the model has seen a tab at a revision.
func (s *Session) SetSeen(id string, at Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]Point{}
	}
	s.seen[id] = at
}

// LastSeen returns the newest state of a tab that the model has seen.
func (s *Session) LastSeen(id string) (Point, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.seen[id]
	return at, known
}

// ReadLog returns the sequence after which the log of a tab is new to the model.
func (s *Session) ReadLog(id string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged[id]
}

// SetReadLog records up to which sequence the model was shown the log of a tab.
func (s *Session) SetReadLog(id string, next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == nil {
		s.logged = map[string]uint64{}
	}
	s.logged[id] = next
}

// Current returns the tab of calls that name none; empty: no tab is open.
func (s *Session) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// SetCurrent makes a tab the current one.
func (s *Session) SetCurrent(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = id
}

// AddOpened records a tab that the session opened.
func (s *Session) AddOpened(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, id)
}

// Remove forgets a closed tab. The newest remaining tab of the session becomes the current one.
func (s *Session) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = slices.DeleteFunc(s.opened, func(one string) bool { return one == id })
	delete(s.seen, id)
	delete(s.logged, id)
	if s.current != id {
		return
	}
	s.current = ""
	if n := len(s.opened); n > 0 {
		s.current = s.opened[n-1]
	}
}

// Clear resets the session and returns the tabs that it opened.
func (s *Session) Clear() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened := s.opened
	s.opened, s.current, s.seen, s.logged = nil, "", nil, nil
	return opened
}
