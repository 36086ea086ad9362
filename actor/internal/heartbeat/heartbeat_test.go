package heartbeat_test

import (
	"testing"
	"time"

	"github.com/domtap/domtap/actor/internal/heartbeat"
)

func TestBoundGrowsWithTheLastReadAndForANewDocument(t *testing.T) {
	tests := []struct {
		read        time.Duration
		newDocument bool
		want        time.Duration
	}{
		{0, false, 2 * time.Second},
		{time.Second, false, 6 * time.Second},
		{time.Minute, false, 10 * time.Second},
		{0, true, 5 * time.Second},
		{time.Minute, true, 10 * time.Second},
	}
	for _, test := range tests {
		if got := heartbeat.Bound(test.read, test.newDocument); got != test.want {
			t.Errorf("after a read of %v, new document %v: the bound is %v, want %v", test.read, test.newDocument, got, test.want)
		}
	}
}

func TestASignOfAnEarlierPeriodDoesNotCount(t *testing.T) {
	var m heartbeat.Monitor
	m.Expect(time.Second)
	bound, period := m.Current()
	if bound != time.Second {
		t.Errorf("the bound is %v", bound)
	}
	if !m.Report(period, true) || !m.Missed() {
		t.Error("a missed sign is not missed")
	}
	m.Expect(2 * time.Second)
	if m.Missed() {
		t.Error("a period begins with a missed sign")
	}
	if m.Report(period, true) || m.Missed() {
		t.Error("the sign of the period before counts")
	}
	_, period = m.Current()
	m.Report(period, true)
	if m.Report(period, false) || m.Missed() {
		t.Error("a page that answered again is still silent")
	}
}
