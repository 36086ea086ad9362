package tabview

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

// TestLandmarksOfThePageBefore reads pages in an order that includes late readers.
func TestLandmarksOfThePageBefore(t *testing.T) {
	page := func(epoch string, document uint64) *dom.Snapshot {
		return &dom.Snapshot{Epoch: epoch, Document: document}
	}
	hash := func(name byte) [32]byte { return [32]byte{name} }
	var l landmarks
	for i, c := range []struct {
		s    *dom.Snapshot
		got  byte // landmarks sent with this page
		want string
	}{
		{page("e", 1), 'A', ""},
		{page("e", 1), 'B', ""}, // the same page is not its own previous page
		{page("e", 2), 'A', "AB"},
		{page("e", 1), 'C', ""}, // late: removes nothing, adds nothing
		{page("e", 2), 'D', "AB"},
		{page("e", 3), 'A', "AD"},
		{page("f", 1), 'B', "A"}, // another epoch is another page
		{page("f", 2), 'A', "B"},
	} {
		got := ""
		for name := byte('A'); name <= 'D'; name++ {
			if _, ok := l.previous(c.s)[hash(name)]; ok {
				got += string(name)
			}
		}
		if got != c.want {
			t.Errorf("page %d: the one before had %q, want %q", i, got, c.want)
		}
		l.sent(c.s, hashes{hash(c.got): {}})
	}
}
