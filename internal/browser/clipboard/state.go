package clipboard

import "time"

// activation is how long after an action a page counts as able to write. Chromium's own limit is 5 s.
const activation = 10 * time.Second

// state tracks whose content may be on the clipboard. It is a plain value guarded by a Clipboard.
type state struct {
	// acting counts the running actions of each session. acted is the time of each session's last action. closed is the time of the last
	// action of any closed session.
	acting map[*Session]int
	acted  map[*Session]time.Time
	closed time.Time
	// owner is the session whose content was put on the clipboard, at since. It is nil if there was none, so the clipboard still has its
	// initial, empty state.
	owner *Session
	since time.Time
	// readers holds the sessions that were granted clipboard-read. The value reports whether the permission is in effect. writers holds the
	// sessions that may write at any time.
	readers map[*Session]bool
	writers map[*Session]bool
}

func newState() state {
	return state{acting: map[*Session]int{}, acted: map[*Session]time.Time{}, readers: map[*Session]bool{}, writers: map[*Session]bool{}}
}

// begin marks a session as being acted on until done is called. It returns the other sessions that may read now, and whether the session's
// own permission to read is withheld.
func (s *state) begin(c *Session) (reading []*Session, withheld bool) {
	s.acting[c]++
	for r, inForce := range s.readers {
		if r != c && inForce {
			reading = append(reading, r)
		}
	}
	inForce, granted := s.readers[c]
	return reading, granted && !inForce
}

// done ends an action that begin started.
func (s *state) done(c *Session, now time.Time) {
	if s.acting[c]--; s.acting[c] <= 0 {
		delete(s.acting, c)
	}
	if c.closed {
		s.closed = now
		return
	}
	s.acted[c] = now
}

// foreign reports whether the clipboard may hold another session's content.
func (s *state) foreign(c *Session) bool {
	return s.owner != nil && s.owner != c || s.others(c, s.since.Add(-activation))
}

// others reports whether another session may have written after the given time.
func (s *state) others(c *Session, after time.Time) bool {
	for x := range s.writers {
		if x != c {
			return true
		}
	}
	for x := range s.acting {
		if x != c {
			return true
		}
	}
	for x, at := range s.acted {
		if x != c && at.After(after) {
			return true
		}
	}
	return !s.closed.IsZero() && s.closed.After(after)
}

// own records that the clipboard holds a session's own content.
func (s *state) own(c *Session, now time.Time) { s.owner, s.since = c, now }

// mayRead reports whether a session may read, and if so, records that the permission is in effect. A session may not read while another
// session can write or its content may be on the clipboard.
func (s *state) mayRead(c *Session) bool {
	for r, inForce := range s.readers {
		if r != c && inForce {
			return false
		}
	}
	ok := !c.closed && (s.owner == nil || s.owner == c) && !s.others(c, s.since.Add(-activation))
	if ok {
		s.readers[c] = true
	}
	return ok
}

// withhold records that the permission to read is no longer in effect. It counts as an action, because a session that may read may also
// write without one.
func (s *state) withhold(c *Session, now time.Time) {
	if s.readers[c] {
		s.readers[c] = false
		s.acted[c] = now
	}
}

// grant records the permissions of a session.
func (s *state) grant(c *Session, read, write bool, now time.Time) {
	if s.readers[c] {
		s.acted[c] = now
	}
	delete(s.readers, c)
	delete(s.writers, c)
	if read && !c.closed {
		s.readers[c] = false
	}
	if write && !c.closed {
		s.writers[c] = true
	}
}

// end removes a closed session. Its content may still be on the clipboard.
func (s *state) end(c *Session, now time.Time) {
	c.closed = true
	at := s.acted[c]
	if s.readers[c] || s.writers[c] {
		at = now
	}
	if at.After(s.closed) {
		s.closed = at
	}
	delete(s.acted, c)
	delete(s.readers, c)
	delete(s.writers, c)
}
