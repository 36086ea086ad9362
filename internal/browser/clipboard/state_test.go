package clipboard

import (
	"testing"
	"time"
)

// clock is a manual clock.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func start() *clock { return &clock{time.Unix(1000, 0)} }

// TestWhoMayHaveWrittenToTheClipboard acts on two sessions, one of which writes late.
func TestWhoMayHaveWrittenToTheClipboard(t *testing.T) {
	at, s := start(), newState()
	a, b := new(Session), new(Session)
	foreign := func(when string, c *Session, want bool) {
		t.Helper()
		if got := s.foreign(c); got != want {
			t.Errorf("%s: foreign is %v, want %v", when, got, want)
		}
	}
	act := func(c *Session) {
		s.begin(c)
		s.done(c, at.now)
	}
	act(a)
	foreign("alone", a, false)
	foreign("after another", b, true)
	s.own(b, at.now)
	act(b)
	foreign("when the other may still write", b, true)
	foreign("when it was emptied for another", a, true)
	at.pass(activation)
	foreign("emptied before the other had ended", b, true)
	s.own(b, at.now)
	foreign("emptied after that", b, false)
	s.begin(a)
	at.pass(2 * activation)
	s.own(b, at.now)
	foreign("while the other is acted on for long", b, true)
	s.end(a, at.now)
	foreign("closed while it is acted on", b, true)
	s.done(a, at.now)
	foreign("after a session that is closed", b, true)
	at.pass(activation + 1)
	s.own(b, at.now)
	foreign("long after a session that is closed", b, false)
	if len(s.acted) != 1 {
		t.Errorf("%d sessions are remembered", len(s.acted))
	}
}

// TestOneSessionReadsTheClipboard checks sessions that may read and write without an action.
func TestOneSessionReadsTheClipboard(t *testing.T) {
	at, s := start(), newState()
	a, b := new(Session), new(Session)
	s.grant(a, true, false, at.now)
	s.grant(b, true, false, at.now)
	if !s.mayRead(a) || s.mayRead(b) {
		t.Fatal("not the first one alone may read")
	}
	if reading, withheld := s.begin(b); len(reading) != 1 || reading[0] != a || !withheld {
		t.Errorf("when the other is acted on, %v may read, and that is withheld: %v", reading, withheld)
	}
	s.grant(a, true, false, at.now) // a may write up to this time
	s.own(b, at.now)
	if s.mayRead(b) {
		t.Error("it may read what the other writes last")
	}
	at.pass(activation + 1)
	s.own(b, at.now)
	if !s.mayRead(b) {
		t.Error("it may not read although the other is not acted on")
	}
	s.grant(b, true, false, at.now)
	s.grant(a, false, true, at.now)
	at.pass(activation + 1)
	s.own(b, at.now)
	if s.mayRead(b) || !s.foreign(b) {
		t.Error("it may read although the other may write at any time")
	}
	s.end(a, at.now)
	at.pass(activation + 1)
	s.own(b, at.now)
	if !s.mayRead(b) {
		t.Error("it may not read although the other is closed")
	}
}
