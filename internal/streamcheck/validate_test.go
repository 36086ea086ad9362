package streamcheck

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// story is a short history that satisfies all guarantees. It has a tab with one document whose elements A and B always have the same
// number, a reader from the start, a reader that left and resumed, and the end of the tab.
type story struct {
	*History
	prompt, again *Reader
}

var start = time.Unix(1_000_000_000, 0)

func elements(texts ...string) []*domtapv1.Element {
	out := make([]*domtapv1.Element, len(texts))
	for i, text := range texts {
		out[i] = &domtapv1.Element{Ref: uint32(i), Index: int32(i), Tag: "a", Text: text}
	}
	return out
}

// message returns a message at a revision, received without delay the given number of seconds after the start.
func message(sequence, revision uint64, after int, event *domtapv1.WatchDomResponse) Message {
	at := start.Add(time.Duration(after) * time.Second)
	event.Sequence, event.Revision, event.Epoch, event.ObservedAt = sequence, revision, "e", timestamppb.New(at)
	if event.GetCoalesced() == 0 {
		event.Coalesced = 1
	}
	return Message{event, at}
}

func snapshotOf(texts ...string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Snapshot{Snapshot: &domtapv1.Snapshot{Elements: elements(texts...)}}}
}

func resyncOf(reason string, texts ...string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{
		Reason: reason, Snapshot: &domtapv1.Snapshot{Elements: elements(texts...)},
	}}}
}

// diffOf returns a diff that replaces both elements.
func diffOf(from, to uint64, texts ...string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Coalesced: int32(to - from), Event: &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{
		FromRevision: from, ToRevision: to, Added: elements(texts...), AddedCount: 2, RemovedCount: 2,
		Removed: []*domtapv1.RemovedElement{{Ref: 0}, {Ref: 1}},
	}}}
}

func statusOf(s domtapv1.TabStatus) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Event: &domtapv1.WatchDomResponse_TabStatus{TabStatus: &domtapv1.TabStatusChange{Status: s}}}
}

func newStory() story {
	truth := map[Point][]*domtapv1.Element{
		{"e", 1}: elements("A 1", "B 1"), {"e", 2}: elements("A 2", "B 2"), {"e", 3}: elements("A 3", "B 3"),
	}
	closed := domtapv1.TabStatus_TAB_STATUS_CLOSED
	end := End{Code: "OK", At: start.Add(30 * time.Second)}
	s := story{History: &History{
		Elements: func(_ string, at Point) ([]*domtapv1.Element, bool) { list, ok := truth[at]; return list, ok },
		Last:     Point{"e", 3}, Heartbeat: 15 * time.Second, Log: 10,
		Answers: []Answer{{"all", Point{"e", 2}, elements("A 2", "B 2")}},
	}}
	for i := range 3 {
		s.States = append(s.States, State{Point: Point{"e", uint64(i + 1)}, Document: 1, Step: i})
	}
	s.prompt = &Reader{Name: "prompt", View: "all", Start: start, Alive: true, End: end, Messages: []Message{
		message(1, 1, 0, snapshotOf("A 1", "B 1")), message(2, 2, 10, diffOf(1, 2, "A 2", "B 2")),
		message(3, 3, 20, diffOf(2, 3, "A 3", "B 3")), message(4, 3, 30, statusOf(closed)),
	}}
	s.again = &Reader{
		Name: "again", View: "all", Pace: Stalling, Start: start, Alive: true, End: end, From: &Point{"e", 1}, Base: elements("A 1", "B 1"),
		Messages: []Message{message(1, 3, 25, diffOf(1, 3, "A 3", "B 3")), message(2, 3, 30, statusOf(closed))},
	}
	s.Readers = []*Reader{s.prompt, s.again}
	return s
}

// same is the rule that the story satisfies.
func same(list []*domtapv1.Element) error {
	if len(list) == 2 && strings.Fields(list[0].GetText())[1] != strings.Fields(list[1].GetText())[1] {
		return errors.New("half of a burst shows")
	}
	return nil
}

var validators = map[string]func(*History) []error{
	"Converges": (*History).Converges, "Ordered": (*History).Ordered,
	"Atomic":                func(h *History) []error { return h.Atomic(same) },
	"NeverDropsNeverBlocks": (*History).NeverDropsNeverBlocks,
	"Resumable":             (*History).Resumable, "EndsWithAReason": (*History).EndsWithAReason,
}

func TestAGoodHistoryPasses(t *testing.T) {
	for name, validate := range validators {
		for _, fault := range validate(newStory().History) {
			t.Errorf("%s: %v", name, fault)
		}
	}
}

// Every validator rejects what its guarantee excludes.
func TestBrokenHistoriesAreRefused(t *testing.T) {
	for _, c := range []struct {
		validator, what string
		ruin            func(s story)
		says            string
	}{
		{"Converges", "an element is not removed", func(s story) {
			d := s.prompt.Messages[1].GetDiff()
			d.Removed, d.Added = d.GetRemoved()[:1], d.GetAdded()[:1]
		}, "the reader has"},
		{"Converges", "an element is lost", func(s story) { s.prompt.Messages[1].GetDiff().Added = elements("A 2") }, "removed but missing"},
		{"Converges", "another order", func(s story) {
			d := s.prompt.Messages[2].GetDiff()
			d.Added[0].Index, d.Added[1].Index = 1, 0
		}, "the reader has"},
		{"Converges", "a message is lost", func(s story) { s.prompt.Messages = s.prompt.Messages[:1:1]; s.prompt.Messages[0].Revision = 2 }, "GetDom answers"},
		{"Converges", "a state that never was", func(s story) { s.prompt.Messages[3].Revision = 9 }, "never was"},
		{"Converges", "a change of what is not there", func(s story) {
			s.prompt.Messages[1].GetDiff().Changed = []*domtapv1.ChangedElement{{Ref: 7}}
		}, "changed but missing"},
		{"Converges", "GetDom says otherwise", func(s story) { s.Answers[0].Elements = elements("A 2") }, "GetDom of"},
		{"Ordered", "a message is lost", func(s story) { s.prompt.Messages = append(s.prompt.Messages[:1:1], s.prompt.Messages[2:]...) }, "diff from 2 follows 1"},
		{"Ordered", "a message comes twice", func(s story) { s.prompt.Messages[2] = s.prompt.Messages[1] }, "number 3"},
		{"Ordered", "it goes back", func(s story) { s.prompt.Messages[3].Revision = 1 }, "goes back"},
		{"Ordered", "a wrong count of revisions", func(s story) { s.again.Messages[0].Coalesced = 1 }, "folds 1"},
		{"Ordered", "a wrong count of elements", func(s story) { s.prompt.Messages[1].GetDiff().AddedCount = 3 }, "counts"},
		{"Ordered", "an empty diff", func(s story) {
			s.prompt.Messages[1].Event = &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{FromRevision: 1, ToRevision: 2}}
		}, "says nothing"},
		{"Ordered", "another epoch", func(s story) { s.prompt.Messages[1].Epoch = "f" }, "epoch changed"},
		{"Ordered", "another document unannounced", func(s story) {
			s.prompt.Messages[1] = message(2, 2, 10, resyncOf("navigated", "A 2", "B 2"))
		}, "nobody announced"},
		{"Atomic", "half of a burst in a diff", func(s story) { s.prompt.Messages[1].GetDiff().Added[1].Text = "B 1" }, "half"},
		{"Atomic", "half of a burst in a snapshot", func(s story) { s.prompt.Messages[0].GetSnapshot().Elements[0].Text = "A 0" }, "half"},
		{"Atomic", "half of a burst in a state", func(s story) {
			s.Elements = func(string, Point) ([]*domtapv1.Element, bool) { return elements("A 1", "B 2"), true }
		}, "the state"},
		{"NeverDropsNeverBlocks", "the last change is lost", func(s story) { s.again.Messages = s.again.Messages[1:] }, "is left with"},
		{"NeverDropsNeverBlocks", "a prompt reader waits", func(s story) { s.prompt.Messages[1].At = start.Add(11 * time.Second) }, "late"},
		{"NeverDropsNeverBlocks", "a prompt reader gets two steps in one", func(s story) {
			s.prompt.Messages[1] = message(2, 3, 20, diffOf(1, 3, "A 3", "B 3"))
		}, "the steps [1 2]"},
		{"NeverDropsNeverBlocks", "too soon", func(s story) { s.prompt.MinInterval = 12 * time.Second }, "after the one before"},
		{"Resumable", "a resync without need", func(s story) {
			s.again.Messages[0] = message(1, 3, 25, resyncOf("revision_too_old", "A 3", "B 3"))
		}, "must reach"},
		{"Resumable", "a false reason", func(s story) {
			s.again.Messages[0] = message(1, 3, 25, resyncOf("epoch_changed", "A 3", "B 3"))
		}, "same epoch"},
		{"Resumable", "a revision denied", func(s story) {
			s.again.Messages[0] = message(1, 3, 25, resyncOf("revision_unknown", "A 3", "B 3"))
		}, "had that revision"},
		{"Resumable", "no reason", func(s story) { s.again.Messages[0] = message(1, 3, 25, resyncOf("", "A 3", "B 3")) }, "no such reason"},
		{"Resumable", "a snapshot instead", func(s story) { s.again.Messages[0] = message(1, 3, 25, snapshotOf("A 3", "B 3")) }, "no reason"},
		{"EndsWithAReason", "no end", func(s story) { s.prompt.End = End{} }, "has no end"},
		{"EndsWithAReason", "no status before OK", func(s story) { s.prompt.Messages = s.prompt.Messages[:3] }, "ended with OK"},
		{"EndsWithAReason", "an unknown end", func(s story) { s.prompt.End.Code = "Internal" }, "ended with Internal"},
		{"EndsWithAReason", "an end without words", func(s story) { s.prompt.End.Code, s.prompt.End.Reason = "Unavailable", "PAGE_LOST" }, "no word"},
		{"EndsWithAReason", "a prompt reader called slow", func(s story) {
			s.prompt.End = End{Code: "DeadlineExceeded", Reason: "SLOW_READER", Text: "slow", At: s.prompt.End.At}
		}, "called slow"},
		{"EndsWithAReason", "silence", func(s story) { s.prompt.Messages = append(s.prompt.Messages[:1:1], s.prompt.Messages[2:]...) }, "silence"},
	} {
		s := newStory()
		c.ruin(s)
		faults := validators[c.validator](s.History)
		if text := errors.Join(faults...); text == nil || !strings.Contains(text.Error(), c.says) {
			t.Errorf("%s of %q says %v, want %q", c.validator, c.what, text, c.says)
		}
	}
}
