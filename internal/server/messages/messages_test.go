package messages

import (
	"strconv"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/view"
)

func wantMessage(t *testing.T, what string, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestElements(t *testing.T) {
	elements := []*dom.Element{
		{Ref: 7, Parent: dom.NoRef, Tag: "input", Role: "checkbox", Text: "Gift", Href: "h", Name: "n", Type: "checkbox",
			Value: "on", Placeholder: "p", Frame: "F", Depth: 2, Level: 3, InViewport: true,
			States:     dom.States{Checked: dom.Mixed, Disabled: dom.False, Required: dom.True},
			Attributes: map[string]string{"id": "x"}},
		{Ref: 8, Parent: 0, Tag: "a"},
		{Ref: 9, Parent: 7, Tag: "b", Kind: dom.Structural, States: dom.States{
			Expanded: dom.True, Selected: dom.False, Pressed: dom.True, Readonly: dom.True, Focused: dom.True, Invalid: dom.False,
		}},
	}
	boxes := []dom.Box{{X: 1, Y: 2, Width: 3, Height: 4}, {}, {X: -1}}
	got := Elements(elements, boxes)
	want := []*domtapv1.Element{
		{Ref: 7, Index: 0, Tag: "input", Role: "checkbox", Text: "Gift", Href: "h", Name: "n", Type: "checkbox",
			Value: "on", Placeholder: "p", FrameId: "F", Depth: 2, Level: 3, InViewport: true,
			Checked:  domtapv1.CheckedState_CHECKED_STATE_MIXED.Enum(),
			Disabled: proto.Bool(false), Required: proto.Bool(true),
			Attributes: map[string]string{"id": "x"}, Rect: &domtapv1.Rect{X: 1, Y: 2, Width: 3, Height: 4}, Actionable: true},
		{Ref: 8, Index: 1, Tag: "a", ParentRef: proto.Uint32(0), Rect: &domtapv1.Rect{}, Actionable: true},
		{Ref: 9, Index: 2, Tag: "b", ParentRef: proto.Uint32(7), Rect: &domtapv1.Rect{X: -1},
			Expanded: proto.Bool(true), Selected: proto.Bool(false), Pressed: domtapv1.CheckedState_CHECKED_STATE_TRUE.Enum(),
			Readonly: proto.Bool(true), Focused: proto.Bool(true), Invalid: proto.Bool(false)},
	}
	for i := range want {
		wantMessage(t, "element "+strconv.Itoa(i), got[i], want[i])
	}
	if without := Elements(elements, nil); without[0].GetRect() != nil {
		t.Error("an element has a box though there are none")
	}
}

func manyElements(n int) ([]*dom.Element, []dom.Box) {
	elements, boxes := make([]*dom.Element, n), make([]dom.Box, n)
	for i := range elements {
		elements[i] = &dom.Element{Ref: dom.Ref(i), Tag: "button", Role: "button", Text: "Button",
			States: dom.States{Disabled: dom.True, Pressed: dom.Mixed}}
	}
	return elements, boxes
}

func TestElementsAllocateLittle(t *testing.T) {
	elements, boxes := manyElements(5000)
	if n := testing.AllocsPerRun(5, func() { Elements(elements, boxes) }); n > 6 {
		t.Errorf("%v allocations for 5000 elements, want at most 6", n)
	}
}

func BenchmarkElements(b *testing.B) {
	elements, boxes := manyElements(5000)
	b.ReportAllocs()
	for b.Loop() {
		Elements(elements, boxes)
	}
}

func TestDiff(t *testing.T) {
	el := func(ref dom.Ref, text string) *dom.Element {
		return &dom.Element{Ref: ref, Parent: dom.NoRef, Tag: "a", Text: text, Href: "h", Name: "n"}
	}
	first, second := el(1, "one"), el(2, "two")
	second2 := el(2, "two")
	second2.Value, second2.States.Checked = "v", dom.True
	old := []*dom.Element{first, second, el(3, "three"), el(4, "four")}
	now := []*dom.Element{old[3], el(5, "five"), first, second2}
	d := diff.Compute(old, now)
	d.From, d.To = 8, 9
	wantMessage(t, "diff", Diff(d, 0), &domtapv1.Diff{
		FromRevision: 8, ToRevision: 9, AddedCount: 1, RemovedCount: 1, ChangedCount: 1,
		Added:   []*domtapv1.Element{{Ref: 5, Index: 1, Tag: "a", Text: "five", Href: "h", Name: "n", Actionable: true}},
		Removed: []*domtapv1.RemovedElement{{Ref: 3, Tag: "a", Text: "three", Href: "h", Name: "n"}},
		Moved:   []*domtapv1.MovedElement{{Ref: 4, FromIndex: 3, ToIndex: 0}},
		Changed: []*domtapv1.ChangedElement{{
			Ref:     2,
			Fields:  []*domtapv1.FieldChange{{Field: "value", New: "v"}, {Field: "checked", New: "true"}},
			Element: &domtapv1.Element{Ref: 2, Index: 3, Tag: "a", Text: "two", Href: "h", Name: "n", Value: "v", Checked: domtapv1.CheckedState_CHECKED_STATE_TRUE.Enum(), Actionable: true},
		}},
	})
}

func TestDiffListsAreBoundedAndCountsAreNot(t *testing.T) {
	now, _ := manyElements(120)
	m := Diff(diff.Compute(nil, now), 50)
	if len(m.GetAdded()) != 50 || m.GetAddedCount() != 120 {
		t.Errorf("%d added listed, %d counted; want 50 and 120", len(m.GetAdded()), m.GetAddedCount())
	}
	m = Diff(diff.Compute(now, nil), 50)
	if len(m.GetRemoved()) != 50 || m.GetRemovedCount() != 120 {
		t.Errorf("%d removed listed, %d counted; want 50 and 120", len(m.GetRemoved()), m.GetRemovedCount())
	}
}

func TestVisibleOmitsInternalFields(t *testing.T) {
	plain := &dom.Element{Ref: 1, Kind: dom.Structural}
	kind, value := &dom.Element{Ref: 1, Kind: dom.FrameHost}, &dom.Element{Ref: 1, Kind: dom.FrameHost, Value: "v"}
	hidden := diff.Compute([]*dom.Element{plain}, []*dom.Element{kind})
	if len(hidden.Changed) != 1 {
		t.Fatal("the test's elements do not differ")
	}
	if got := Visible(hidden); !got.Empty() || len(hidden.Changed) != 1 || hidden.Changed[0].New == nil {
		t.Errorf("a change of kind is visible as %v, or the diff was written to", got.Changed)
	}
	both := Visible(diff.Compute([]*dom.Element{plain}, []*dom.Element{value}))
	if m := Diff(both, 0); len(m.GetChanged()) != 1 || len(m.GetChanged()[0].GetFields()) != 1 {
		t.Errorf("a change of kind and value came as %v", m.GetChanged())
	}
	acts := Visible(diff.Compute([]*dom.Element{plain}, []*dom.Element{{Ref: 1}}))
	if m := Diff(acts, 0); len(m.GetChanged()) != 1 || m.GetChanged()[0].GetFields()[0].GetField() != "actionable" {
		t.Errorf("an element that became actionable came as %v", m.GetChanged())
	}
}

func TestWithBoxes(t *testing.T) {
	a, b, c := &dom.Element{Ref: 1, Text: "a"}, &dom.Element{Ref: 2, Text: "b"}, &dom.Element{Ref: 3, Text: "c"}
	b2, c2 := &dom.Element{Ref: 2, Text: "b", Value: "v"}, &dom.Element{Ref: 3, Text: "other key"}
	old := Boxed{[]*dom.Element{a, b, c}, []dom.Box{{X: 1}, {X: 2}, {X: 3}}}
	now := Boxed{[]*dom.Element{a, b2, c2}, []dom.Box{{X: 1, Width: 0.5}, {X: 20}, {X: 30}}}
	d := Diff(diff.Compute(old.Elements, now.Elements), 0)
	got := WithBoxes(d.GetChanged(), old, now)
	if len(got) != 2 || len(d.GetChanged()[0].GetFields()) != 1 {
		t.Fatalf("%d changes, want those of 1 and 2: %v", len(got), got)
	}
	wantMessage(t, "moved", got[0].GetFields()[0], &domtapv1.FieldChange{Field: "rect", Old: "1,0 0x0", New: "1,0 0.5x0"})
	wantMessage(t, "changed and moved", got[1], &domtapv1.ChangedElement{
		Ref:     2,
		Fields:  []*domtapv1.FieldChange{{Field: "value", New: "v"}, {Field: "rect", Old: "2,0 0x0", New: "20,0 0x0"}},
		Element: &domtapv1.Element{Ref: 2, Index: 1, Text: "b", Value: "v", ParentRef: proto.Uint32(0), Rect: &domtapv1.Rect{X: 20}, Actionable: true},
	})
	if same := WithBoxes(d.GetChanged(), Boxed{Elements: old.Elements}, now); len(same) != 1 {
		t.Errorf("without older boxes there are %d changes, want 1", len(same))
	}
}

func TestMetadata(t *testing.T) {
	wantMessage(t, "cut", Metadata(view.View{
		Elements: dom.ListOf(make([]*dom.Element, 2)), Total: 5, Reason: view.TokenBudget, Tokens: 99, OmittedByRole: map[string]int{"link": 3},
	}, "o200k_base"), &domtapv1.ViewMetadata{
		TotalElements: 5, IncludedElements: 2, Truncated: true, Tokens: 99, Tokenizer: "o200k_base",
		TruncationReason: domtapv1.TruncationReason_TRUNCATION_REASON_TOKEN_BUDGET, OmittedByRole: map[string]int32{"link": 3},
	})
	wantMessage(t, "whole", Metadata(view.View{Total: 0}, "o200k_base"), &domtapv1.ViewMetadata{})
	if r := Metadata(view.View{Reason: view.ElementLimit}, "").GetTruncationReason(); r != domtapv1.TruncationReason_TRUNCATION_REASON_ELEMENT_LIMIT {
		t.Errorf("an element limit came as %v", r)
	}
}

func TestTab(t *testing.T) {
	wantMessage(t, "tab", Tab(actor.Info{
		ID: "t1", Session: "default", URL: "u", Title: "T", Status: actor.StatusUnresponsive, Revision: 4, Epoch: "e",
		Opener: "t0", HTTPStatus: 404, Dialog: &driver.Dialog{Type: "prompt", Message: "m", Default: "d"},
	}), &domtapv1.Tab{
		Id: "t1", SessionId: "default", Url: "u", Title: "T", Status: domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE,
		Revision: 4, Epoch: "e", OpenerTabId: "t0", HttpStatus: 404,
		Dialog: &domtapv1.Dialog{Type: domtapv1.DialogType_DIALOG_TYPE_PROMPT, Message: "m", DefaultPrompt: "d"},
	})
}

// Every value of one side maps to a different value of the other.
func TestEnumsAreKeptApart(t *testing.T) {
	statuses, verdicts := map[domtapv1.TabStatus]bool{}, map[domtapv1.Verdict]bool{}
	for _, s := range []actor.Status{
		actor.StatusLoading, actor.StatusReady, actor.StatusCrashed, actor.StatusUnresponsive, actor.StatusClosed,
	} {
		statuses[Status(s)] = true
	}
	for _, v := range []turn.Verdict{turn.NoChange, turn.Changed, turn.Navigated, turn.DialogShown, turn.NewTab} {
		verdicts[Verdict(v)] = true
	}
	if len(statuses) != 5 || statuses[0] || len(verdicts) != 5 || verdicts[0] {
		t.Errorf("statuses %v, verdicts %v", statuses, verdicts)
	}
	for name, want := range map[string]domtapv1.DialogType{
		"alert": 1, "confirm": 2, "prompt": 3, "beforeunload": 4, "other": 0,
	} {
		if got := Dialog(&driver.Dialog{Type: name}).GetType(); got != want {
			t.Errorf("dialog %s is %v", name, got)
		}
	}
}
