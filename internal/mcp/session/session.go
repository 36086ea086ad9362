// Package session holds the state of a model's session with the MCP server: its current tab, the tabs that it opened, and the states of
// these tabs that it has seen. The package makes no calls; tools update the state.
package session

import (
	"slices"
	"sync"
)

// Session is the state of a model's session: its current tab, the tabs that it opened, and the states of these tabs that it has seen. It is
// safe for concurrent use.
type Session struct {
	// ClientID identifies the session to the daemon, in at most 100 characters. The daemon stores the baseline of diffs under this ID.
	ClientID string
	// Browser is the browser session in which tabs are opened. An empty string selects the default session.
	Browser string

	mu      sync.Mutex
	current string
	opened  []string
	// seen maps tabs to the newest state that the model has read as lines or in detail. The daemon tracks what the model was shown as DENSE
	// and by actions.
	seen map[string]Point
	// logged maps tabs to the log sequence after which entries are new to the model.
	logged map[string]uint64
}

// Point identifies a state of a tab.
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

// SetReadLog records the log sequence up to which the model was shown the log of a tab.
func (s *Session) SetReadLog(id string, next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == nil {
		s.logged = map[string]uint64{}
	}
	s.logged[id] = next
}

// Current returns the tab for calls that name none. It returns "" if no tab is open.
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
