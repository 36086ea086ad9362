package frames

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
)

func agent(session target.SessionID, unique string) *Agent {
	return &Agent{Session: devtools.Session{ID: session}, Unique: unique}
}

// agentIn returns the unique ID of a frame's agent, or an empty string.
func agentIn(t *Tree, key dom.FrameID) string {
	if f := t.Lookup(key); f != nil && f.Agent != nil {
		return f.Agent.Unique
	}
	return ""
}

func TestACommitDropsTheAgentsOfTheDocumentBefore(t *testing.T) {
	tree := NewTree("T1")
	tree.Commit("S1", "T1", "", "L1", "http://a.test/")
	tree.Add("T1", agent("S1", "u1"))
	if agentIn(tree, "") != "u1" || tree.Main().Agent.Document != "L1" {
		t.Fatalf("the agent of the first document is %q", agentIn(tree, ""))
	}
	if kept := tree.Commit("S1", "T1", "", "L2", "http://a.test/2"); len(kept) != 0 || agentIn(tree, "") != "" {
		t.Errorf("%d agents live on, and the frame has %q", len(kept), agentIn(tree, ""))
	}
}

func TestAgentsOfErrorPagesAreTold(t *testing.T) {
	tree := NewTree("T1")
	for url, want := range map[string]bool{"chrome-error://chromewebdata/": true, "http://a.test/": false, "": false} {
		tree.Commit("S1", "T1", "", "L1", url)
		a := agent("S1", "u1")
		if tree.Add("T1", a); a.IsOfError != want {
			t.Errorf("the agent of %q is one of an error page: %v", url, a.IsOfError)
		}
	}
}

// TestTheWindowOfABlankDocumentLivesOn checks that agents are kept when the first document of the same origin reuses the window of the
// blank document.
func TestTheWindowOfABlankDocumentLivesOn(t *testing.T) {
	tree := NewTree("T1")
	tree.Add("T1", agent("S1", "u1"))
	kept := tree.Commit("S1", "T1", "", "L1", "http://a.test/")
	if len(kept) != 1 || kept[0].Unique != "u1" {
		t.Fatalf("%d agents live on", len(kept))
	}
	tree.Add("T1", kept[0])
	if a := tree.Main().Agent; a == nil || a.Document != "L1" {
		t.Errorf("the agent is of the document %+v", a)
	}
}

// TestAFrameBetweenTwoProcessesIsAskedInItsOwn lets two processes report a frame in either order.
func TestAFrameBetweenTwoProcessesIsAskedInItsOwn(t *testing.T) {
	for _, ownFirst := range []bool{true, false} {
		tree := NewTree("T1")
		tree.Attach("F1", "T1")
		if ownFirst {
			tree.Own("S2", "F1")
		}
		tree.Add("F1", agent("S2", "own"))
		tree.Add("F1", agent("S1", "old"))
		if !ownFirst {
			tree.Own("S2", "F1")
		}
		if got := agentIn(tree, "F1"); got != "own" {
			t.Errorf("own first %v: the frame is asked by %q", ownFirst, got)
		}
		tree.Own("S2", "")
		tree.Drop(func(a *Agent) bool { return a.Session.ID == "S2" }, func(*World) bool { return false })
		if got := agentIn(tree, "F1"); got != "old" {
			t.Errorf("back in the first process: the frame is asked by %q", got)
		}
	}
}

// TestFramesAreAdoptedOnce checks that a frame is adopted as soon as both documents have an agent, and again after the parent's document
// was replaced.
func TestFramesAreAdoptedOnce(t *testing.T) {
	tree := NewTree("T1")
	tree.Add("F1", agent("S1", "inner"))
	if due := tree.adoptions(); len(due) != 0 {
		t.Errorf("a frame without a parent is adopted: %v", due)
	}
	tree.Attach("F1", "T1")
	tree.Add("T1", agent("S1", "outer"))
	if due := tree.adoptions(); len(due) != 1 || due["F1"].Unique != "outer" {
		t.Errorf("it is adopted by %v", due)
	}
	if due := tree.adoptions(); len(due) != 0 {
		t.Errorf("it is adopted again: %v", due)
	}
	tree.Commit("S1", "T1", "", "L2", "")
	tree.Commit("S1", "T1", "", "L3", "")
	tree.Add("T1", agent("S1", "next"))
	if due := tree.adoptions(); due["F1"] == nil || due["F1"].Unique != "next" {
		t.Errorf("the next document does not adopt it: %v", due)
	}
}

func TestReadableFramesBeginWithTheMainOne(t *testing.T) {
	tree := NewTree("T1")
	for _, id := range []cdp.FrameID{"Z", "A", "T1"} {
		tree.Add(id, agent("S1", string(id)))
	}
	tree.Attach("B", "T1") // has no agent
	var ids []cdp.FrameID
	for _, r := range tree.Readable() {
		ids = append(ids, r.ID)
	}
	if want := []cdp.FrameID{"T1", "A", "Z"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
}

func TestKeysNameTheMainFrameByTheEmptyString(t *testing.T) {
	tree := NewTree("T1")
	tree.Attach("F1", "T1")
	if up, ok := tree.ParentOf("F1"); !ok || up != "" {
		t.Errorf("around F1 is %q, %v", up, ok)
	}
	if _, ok := tree.ParentOf(""); ok {
		t.Error("something is around the main frame")
	}
	tree.Remove("T1")
	tree.Remove("F1")
	if tree.Main() == nil || tree.Lookup("F1") != nil {
		t.Error("not F1 alone was removed")
	}
}

// TestAFrameThatComesSlowlyIsLate checks that a frame is late from the time when reads no longer wait for it until it has arrived or is
// gone.
func TestAFrameThatComesSlowlyIsLate(t *testing.T) {
	tree := NewTree("T1")
	tree.Attach("F1", "T1")
	is := func(when string, arriving bool, late ...dom.FrameID) {
		t.Helper()
		if tree.Arriving() != arriving || !slices.Equal(tree.Late(), late) {
			t.Errorf("%s: arriving is %v, late are %q", when, tree.Arriving(), tree.Late())
		}
	}
	quick := tree.begin("F1")
	is("in time", true)
	tree.end(quick, false)
	tree.pass(quick)
	is("over in time", false)

	slow := tree.begin("F1")
	tree.pass(slow)
	tree.pass(slow)
	is("slow", false, "F1")
	tree.end(slow, true)
	is("in vain", false, "F1")
	tree.Add("F1", agent("S2", "own"))
	is("observed after all", false)

	gone := tree.begin("F1")
	tree.pass(gone)
	tree.Remove("F1")
	is("removed", false)
	tree.Attach("F1", "T1")
	tree.end(gone, false)
	is("back", false)
}

// TestATreeIsCompleteWhenAllFramesAnswer adds a frame without an agent, and then an agent that is late.
func TestATreeIsCompleteWhenAllFramesAnswer(t *testing.T) {
	tree := NewTree("T1")
	steps := []struct {
		what string
		do   func()
		want bool
	}{
		{"no agent", func() {}, false},
		{"an agent", func() { tree.Add("T1", agent("S1", "u1")) }, true},
		{"a new frame", func() { tree.Attach("F1", "T1") }, false},
		{"its agent", func() { tree.Add("F1", agent("S1", "u2")) }, true},
		{"a late agent", func() { tree.Lookup("F1").Agent.Reading.Late = true }, false},
		{"the frame is gone", func() { tree.Remove("F1") }, true},
	}
	for _, s := range steps {
		s.do()
		if got := tree.Complete(); got != s.want {
			t.Errorf("%s: complete is %t", s.what, got)
		}
	}
}
