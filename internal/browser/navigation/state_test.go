package navigation

import (
	"testing"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// TestAWayThatStopsIsGivenUpUnlessAnotherBegan checks that a stopped navigation is given up only later, because the browser may still
// report that it has become a download.
func TestAWayThatStopsIsGivenUpUnlessAnotherBegan(t *testing.T) {
	var s State
	if _, was := s.Stopped(); was {
		t.Error("a page at rest was on its way")
	}
	s.Departed()
	first, was := s.Stopped()
	if !was || !s.Navigating() {
		t.Error("a way that stopped is over at once")
	}
	s.Departed()
	if s.GiveUp(first) || !s.Navigating() {
		t.Error("another way was given up")
	}
	second, _ := s.Stopped()
	if !s.GiveUp(second) || s.Navigating() {
		t.Error("the way was not given up")
	}
}

func TestACrashIsReportedOnceUntilADocumentIsCommitted(t *testing.T) {
	var s State
	s.Departed()
	s.WindowOpening("http://a.test/")
	s.ExpectCrash()
	if again, deliberate := s.Crashed(); again || !deliberate {
		t.Errorf("the first crash: again %v, on purpose %v", again, deliberate)
	}
	if s.Navigating() || s.Opening() || !s.Down() {
		t.Errorf("a page without a renderer is %+v", s)
	}
	if again, deliberate := s.Crashed(); !again || deliberate {
		t.Errorf("the second crash: again %v, on purpose %v", again, deliberate)
	}
	s.Committed()
	if again, _ := s.Crashed(); again {
		t.Error("a crash of the next document is none")
	}
}

func TestWindowsArriveInTheirOrder(t *testing.T) {
	var s State
	s.WindowOpening("https://a.test/")
	s.WindowOpening("about:blank")
	if !s.WindowBound() {
		t.Error("the first one shows no document")
	}
	s.WindowOpened()
	if s.WindowBound() || !s.Opening() {
		t.Error("the second one shows a document")
	}
	s.WindowOpened()
	s.WindowOpened() // not opened by this page
	if s.Opening() {
		t.Error("a window is on its way still")
	}
}

// TestLateWindowsAreGivenUpOnce checks that the next action does not wait again for windows that a remote browser has not opened.
func TestLateWindowsAreGivenUpOnce(t *testing.T) {
	var s State
	s.WindowOpening("https://a.test/")
	s.WindowOpening("https://b.test/")
	s.WindowOpened()
	if n := s.GiveUpWindows(); n != 1 || s.Opening() || s.Arrivals() != 1 {
		t.Errorf("%d windows were given up, after %d; waited for: %v", n, s.Arrivals(), s.Opening())
	}
	s.WindowOpening("https://c.test/")
	if !s.Opening() {
		t.Error("nobody waits for the next one")
	}
	s.WindowOpened() // the late window
	if n := s.GiveUpWindows(); n != 1 {
		t.Errorf("%d windows were given up, want the one that is not late", n)
	}
}

func TestAPageIsOverdueAfterTheDocumentWasReceived(t *testing.T) {
	var s State
	now := time.Unix(1000, 0)
	if s.Overdue(now) {
		t.Error("nothing was received")
	}
	s.Receive(now)
	if s.Overdue(now.Add(arrivalPatience)) || !s.Overdue(now.Add(arrivalPatience+1)) {
		t.Error("it is not overdue when its patience is over")
	}
}

func TestARefusalIsOfItsDocument(t *testing.T) {
	var s State
	why := apierr.Errorf(apierr.Navigation, "refused")
	s.Refuse("L1", why)
	if s.Refused("L1") != why || s.Refused("L2") != nil {
		t.Error("it is of another document")
	}
	s.Refuse("L2", nil)
	if s.Refused("L1") != nil {
		t.Error("it outlived the next document")
	}
}
