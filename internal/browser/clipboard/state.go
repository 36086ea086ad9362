package clipboard

import "time"

// activation is how long after an action a page is counted among those that may write. Chromium's own limit is 5 s.
const activation = 10 * time.Second

// state says whose content may be on the clipboard. It is a plain value; a Clipboard guards it.
type state struct {
	// acting counts what is being done in each session. acted is when each was acted on last, and closed the latest of those
	// that are closed.
	acting map[*Session]int
	acted  map[*Session]time.Time
	closed time.Time
	// owner is whose content was put there, at since; nil: nobody's was, so it was empty when the browser began.
	owner *Session
	since time.Time
	// readers are the sessions that were granted clipboard-read; true: it is in force. writers may write at any time.
	readers map[*Session]bool
	writers map[*Session]bool
}

func newState() state {
	return state{acting: map[*Session]int{}, acted: map[*Session]time.Time{}, readers: map[*Session]bool{}, writers: map[*Session]bool{}}
}

// begin notes that a session is acted on, until done is called. It returns the other sessions that may read now, and
// whether the session's own permission to read is withheld.
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

// done ends what began.
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

// foreign reports whether the clipboard may hold what another session copied.
func (s *state) foreign(c *Session) bool {
	return s.owner != nil && s.owner != c || s.others(c, s.since.Add(-activation))
}

// others reports whether another session may have written after a moment.
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

// own notes that the clipboard holds what is a session's own.
func (s *state) own(c *Session, now time.Time) { s.owner, s.since = c, now }

// mayRead puts the permission to read in force, unless another session may write, or its content may be there.
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

// withhold takes the permission to read out of force: who may read may write without being acted on.
func (s *state) withhold(c *Session, now time.Time) {
	if s.readers[c] {
		s.readers[c] = false
		s.acted[c] = now
	}
}

// grant notes what a session is granted.
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

// end forgets a session that is closed; what it copied may still be there.
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
