// Package health knows whether a tab's page can answer: whether its renderer has crashed, whether it stopped answering, and whether
// it is being probed.
//
// A State is a plain value of the tab's goroutine: it starts nothing, and reports to the caller what to start and to stop.
// It guarantees that there is one probe at a time, that a page behind a dialog is not called unresponsive, and that a
// renderer which a navigation ended on purpose fails no call.
package health

// State is the health of a page. The zero value is a page that answers.
type State struct {
	crashed, unresponsive, probing bool
	crashes                        int
}

// Crashed reports whether the renderer is gone.
func (s *State) Crashed() bool { return s.crashed }

// Crashes counts the crashes that calls fail by.
func (s *State) Crashes() int { return s.crashes }

// Unresponsive reports whether the page did not answer in time and has shown no life since.
func (s *State) Unresponsive() bool { return s.unresponsive }

// Probing reports whether a probe asks the page for a sign of life.
func (s *State) Probing() bool { return s.probing }

// Alive takes a sign of life; stop says that the probe is to end.
func (s *State) Alive() (stop bool) {
	stop = s.probing
	s.unresponsive, s.probing = false, false
	return stop
}

// Suspect says that the page may hang; probe says that a probe is to begin.
func (s *State) Suspect() (probe bool) {
	if s.probing || s.crashed {
		return false
	}
	s.probing = true
	return true
}

// Missed takes that a probe had no answer in time.
func (s *State) Missed(behindDialog bool) { s.unresponsive = !s.crashed && !behindDialog }

// Hangs says that the page stopped answering.
func (s *State) Hangs() { s.unresponsive = true }

// Dialog says that a dialog opened or closed: whatever the page did not answer by then it had no chance to.
func (s *State) Dialog() { s.unresponsive = false }

// Crash says that the renderer is gone. One that a navigation sacrificed fails no call.
func (s *State) Crash(sacrificed bool) {
	s.crashed = true
	if !sacrificed {
		s.crashes++
	}
}

// Lose says that there is no page for now.
func (s *State) Lose() { s.crashed, s.unresponsive = true, false }

// Replaced says that another document is there; revived says that the renderer had crashed before.
func (s *State) Replaced() (revived bool) {
	revived = s.crashed
	s.crashed = false
	return revived
}
