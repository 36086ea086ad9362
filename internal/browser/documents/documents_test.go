package documents

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domdebugger"

	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

func TestRefsAreSentAsRuns(t *testing.T) {
	for _, c := range []struct {
		refs []dom.Ref
		want []int
	}{{nil, []int{}}, {[]dom.Ref{7}, []int{7, 1}}, {[]dom.Ref{1, 2, 3, 9, 4, 5}, []int{1, 3, 9, 1, 4, 2}}} {
		if got := runs(c.refs); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.refs, got, c.want)
		}
	}
}

func TestADocumentIsProbedSoOftenForOneRead(t *testing.T) {
	for rounds, isFirst := range map[int]bool{probeRounds: false, firstProbeRounds: true} {
		list := []reading{{Readable: frames.Readable{ID: "A"}, unprobed: true, isFirst: isFirst}, {Readable: frames.Readable{ID: "B"}}}
		for round := range rounds {
			if list = unprobed(list); len(list) != 1 || list[0].ID != "A" || list[0].probes != round+1 {
				t.Fatalf("round %d: %+v", round, list)
			}
			list[0].unprobed = true // the document has grown again
		}
		if list = unprobed(list); len(list) != 0 {
			t.Errorf("it is probed once more: %+v", list)
		}
	}
}

// TestSlowProbesAreNotRepeated expects an answer after one slow probe, or a very slow one if the document was never read.
func TestSlowProbesAreNotRepeated(t *testing.T) {
	again, first := reading{probes: 1}, reading{probes: 1, isFirst: true}
	if slow := 2 * reprobeLimit; !again.isProbed(slow) || again.isProbed(reprobeLimit) || first.isProbed(slow) || !first.isProbed(2*firstReprobeLimit) {
		t.Errorf("%t, %t, %t", again.isProbed(slow), again.isProbed(reprobeLimit), first.isProbed(slow))
	}
}

func TestListenersThatMatter(t *testing.T) {
	all := []*domdebugger.EventListener{
		{Type: "click", BackendNodeID: 9}, {Type: "scroll", BackendNodeID: 1}, {Type: "mouseup", BackendNodeID: 2}, {Type: "click", BackendNodeID: 9}, {Type: "click"},
		{Type: "mouseenter", BackendNodeID: 9}, {Type: "pointerover", BackendNodeID: 5}, {Type: "mouseover", BackendNodeID: 5}, {Type: "mouseout", BackendNodeID: 6},
	}
	got := listening(all)
	if want := []cdp.BackendNodeID{2, 9}; !slices.Equal(got.clicks, want) {
		t.Errorf("%v listen to clicks, want %v", got.clicks, want)
	}
	if want := []cdp.BackendNodeID{5}; !slices.Equal(got.hovers, want) {
		t.Errorf("%v listen to the pointer alone, want %v", got.hovers, want)
	}
	for id := range cdp.BackendNodeID(maxHovers) {
		all = append(all, &domdebugger.EventListener{Type: "mouseover", BackendNodeID: 100 + id})
	}
	if got := listening(all); len(got.hovers) != maxHovers || len(got.clicks) != 2 {
		t.Errorf("%d listen to the pointer, %d to clicks", len(got.hovers), len(got.clicks))
	}
}

// TestAnAnswerIsNotTrusted converts results that no observer sends.
func TestAnAnswerIsNotTrusted(t *testing.T) {
	got := finding(observer.FindAnswer{
		Found:  [][2]int64{{5, 0}, {-1, 0}, {-2, 0}, {int64(dom.NoRef), 0}, {1, -1}, {1, int64(target.Not)}},
		Hidden: -3, Was: strings.Repeat("x", 5000),
	})
	if len(got.Matches) != 2 || got.Matches[0].Ref != 5 || got.Matches[1].Ref != dom.NoRef || got.Hidden != 0 || len(got.HiddenWas) != maxWas {
		t.Errorf("%+v", got)
	}
}

func TestAPlanTravelsWithItsRoot(t *testing.T) {
	text, err := json.Marshal(extractPlan{Plan: []byte(`{"fields":[]}`), root: 7})
	if err != nil || string(text) != `{"root":7,"fields":[]}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := json.Marshal(extractPlan{Plan: []byte(`[]`)}); err == nil {
		t.Error("a plan that is not an object is sent")
	}
}

func TestWhatAScriptThrewIsBounded(t *testing.T) {
	var r evaluation
	if r.thrown() != "" {
		t.Error("it threw nothing")
	}
	if err := json.Unmarshal([]byte(`{"exceptionDetails":{"text":"Uncaught","exception":{"value":7}}}`), &r); err != nil || r.thrown() != "Uncaught 7" {
		t.Errorf("it threw %q, %v", r.thrown(), err)
	}
	r.Exception.Exception.Description = strings.Repeat("ä", 9000)
	if got := []rune(r.thrown()); len(got) != maxException+1 {
		t.Errorf("%d characters are kept", len(got))
	}
}
