package views

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestSelectionOfATree(t *testing.T) {
	request := &domtapv1.GetCompactRequest{Format: domtapv1.Format_FORMAT_TREE, DedupeNavigation: true}
	if got, want := SelectionOf(request), (Selection{tree: true, dedupe: true, maxElements: 300, maxTokens: 8000}); got != want {
		t.Errorf("a tree is %+v, want %+v", got, want)
	}
	request.InteractiveOnly = proto.Bool(true)
	if !SelectionOf(request).interactiveOnly {
		t.Error("interactive_only is not heard")
	}
	request.Format = domtapv1.Format_FORMAT_LINES
	if got := SelectionOf(request); got.tree || got.dedupe {
		t.Errorf("lines are %+v", got)
	}
	if !SelectionOf(&domtapv1.GetCompactRequest{}).interactiveOnly {
		t.Error("lines show what is not interactive")
	}
}

// TestLandmarksOfThePageBefore reads pages in an order in which late readers come too.
func TestLandmarksOfThePageBefore(t *testing.T) {
	page := func(epoch string, document, revision uint64, name string) *dom.Snapshot {
		return &dom.Snapshot{Epoch: epoch, Document: document, Revision: revision, Elements: []*dom.Element{
			{Parent: dom.NoRef, Role: "navigation", Text: name},
		}}
	}
	var l landmarks
	for i, c := range []struct {
		s    *dom.Snapshot
		want bool
	}{
		{page("e", 1, 1, "A"), false},
		{page("e", 1, 2, "A"), false}, // the same page is not the one before
		{page("e", 2, 3, "A"), true},
		{page("e", 2, 5, "B"), false}, // it changed
		{page("e", 2, 4, "A"), true},  // late: forgets nothing
		{page("e", 1, 2, "A"), false}, // later still: what was before is not known any more
		{page("e", 3, 6, "B"), true},
		{page("f", 1, 1, "B"), true}, // another epoch counts anew
		{page("f", 2, 2, "A"), false},
	} {
		now, before := l.of(c.s)
		if _, got := before[now[0].Hash]; got != c.want {
			t.Errorf("page %d: the one before had it is %v, want %v", i, got, c.want)
		}
	}
}
