// Package health tracks whether a tab's page can answer: whether its renderer has crashed, whether it has stopped answering, and whether a
// probe is running.
//
// A State is a plain value of the tab's goroutine. It starts nothing, but tells the caller what to start and stop. It guarantees that only
// one probe runs at a time, that a page behind a dialog does not count as unresponsive, and that a renderer that a navigation ended on
// purpose fails no call.
package health

// State is the health of a page. The zero value is a page that answers.
type State struct {
	crashed, unresponsive, probing bool
	crashes                        int
}

// Crashed reports whether the renderer has crashed.
func (s *State) Crashed() bool { return s.crashed }

// Crashes counts the crashes that make calls fail.
func (s *State) Crashes() int { return s.crashes }

// Unresponsive reports whether the page did not answer in time and has not answered since.
func (s *State) Unresponsive() bool { return s.unresponsive }

// Probing reports whether a probe is running.
func (s *State) Probing() bool { return s.probing }

// Alive records a sign of life. It returns true if the probe must be stopped.
func (s *State) Alive() (stop bool) {
	stop = s.probing
	s.unresponsive, s.probing = false, false
	return stop
}

// Suspect records that the page may hang. It returns true if a probe must be started.
func (s *State) Suspect() (probe bool) {
	if s.probing || s.crashed {
		return false
	}
	s.probing = true
	return true
}

// Missed records that a probe got no answer in time.
func (s *State) Missed(behindDialog bool) { s.unresponsive = !s.crashed && !behindDialog }

// Hangs records that the page has stopped answering.
func (s *State) Hangs() { s.unresponsive = true }

// Dialog records that a dialog opened or closed. A missing answer before that does not count, because the dialog prevented it.
func (s *State) Dialog() { s.unresponsive = false }

// Crash records that the renderer has crashed. A renderer that a navigation ended deliberately fails no call.
func (s *State) Crash(deliberate bool) {
	s.crashed = true
	if !deliberate {
		s.crashes++
	}
}

// Lose records that the tab has no page for now.
func (s *State) Lose() { s.crashed, s.unresponsive = true, false }

// Replaced records that another document was committed. It returns true if the renderer had crashed.
func (s *State) Replaced() (revived bool) {
	revived = s.crashed
	s.crashed = false
	return revived
}
