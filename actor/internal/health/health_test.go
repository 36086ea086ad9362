package health_test

import (
	"testing"

	"github.com/domtap/domtap/actor/internal/health"
)

func TestOneProbeAtATime(t *testing.T) {
	var s health.State
	if !s.Suspect() || s.Suspect() {
		t.Error("a page that is suspected twice is probed twice, or not at all")
	}
	s.Missed(false)
	if !s.Unresponsive() {
		t.Error("a page that did not answer is responsive")
	}
	if !s.Alive() || s.Unresponsive() || s.Alive() || !s.Suspect() {
		t.Error("a sign of life does not end the probe once")
	}
}

func TestAPageBehindADialogIsNotUnresponsive(t *testing.T) {
	var s health.State
	if s.Missed(true); s.Unresponsive() {
		t.Error("it is unresponsive")
	}
	s.Hangs()
	if s.Dialog(); s.Unresponsive() {
		t.Error("a dialog did not clear it")
	}
}

func TestCrashes(t *testing.T) {
	var s health.State
	s.Crash(true)
	if !s.Crashed() || s.Crashes() != 0 || s.Suspect() {
		t.Error("a renderer that was ended deliberately fails calls, or is probed")
	}
	s.Crash(false)
	s.Missed(false)
	if s.Crashes() != 1 || s.Unresponsive() {
		t.Errorf("after a crash: %+v", s)
	}
	if !s.Replaced() || s.Crashed() || s.Replaced() {
		t.Error("another document does not bring it back once")
	}
}
