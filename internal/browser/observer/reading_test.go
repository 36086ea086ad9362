package observer

import (
	"testing"
	"time"

	"github.com/domtap/domtap/dom"
)

func TestABriefPatchHasTheTitleOfTheOneBefore(t *testing.T) {
	var r Reading
	whole := Message{Patch: dom.Patch{URL: "u", Title: "t"}}
	r.Complete(&whole)
	brief := Message{Brief: true}
	r.Complete(&brief)
	if brief.Patch.URL != "u" || brief.Patch.Title != "t" {
		t.Errorf("the brief patch is of %q, %q", brief.Patch.URL, brief.Patch.Title)
	}
}

// TestProbesTakeAShareOfTheTime checks when the next probe of a document may start, depending on how the last one ended.
func TestProbesTakeAShareOfTheTime(t *testing.T) {
	begin := time.Unix(1000, 0)
	ended := func(took time.Duration, failed, more bool) Probe {
		p := Probe{Busy: true, More: more}
		p.End(begin, begin.Add(took), failed)
		return p
	}
	for _, c := range []struct {
		name string
		p    Probe
		due  time.Duration // after the last probe
	}{
		{"never probed", Probe{}, 0},
		{"grown since", Probe{Ended: begin, Took: time.Second, Grown: true}, 0},
		{"a quick one", ended(time.Millisecond, false, false), probeEvery},
		{"a slow one", ended(time.Second, false, false), 50 * time.Second},
		{"it left nodes", ended(time.Second, false, true), 4 * time.Second},
		{"it failed soon", ended(time.Millisecond, true, false), 0},
		{"it failed late", ended(2*time.Second, true, false), 2 * time.Second},
	} {
		p := c.p
		if c.due > 0 && p.BeginIfDue(p.Ended.Add(c.due-1)) {
			t.Errorf("%s: another began too early", c.name)
		}
		if !p.BeginIfDue(p.Ended.Add(c.due)) || !p.Busy {
			t.Errorf("%s: no other began after %v", c.name, c.due)
		}
		if p.BeginIfDue(p.Ended.Add(time.Hour)) {
			t.Errorf("%s: two are under way", c.name)
		}
	}
}

func TestNoUnaskedProbeBeginsDuringARead(t *testing.T) {
	p := Probe{Reading: true}
	if p.BeginUnread(time.Now()) {
		t.Error("it began while the agent was read")
	}
	p.Reading = false
	if !p.BeginUnread(time.Now()) || p.BeginUnread(time.Now()) {
		t.Error("not one began after the read")
	}
}
