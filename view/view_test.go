package view

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// page is a small snapshot:
//
//	0 navigation (structural)
//	  1 link, 2 link in the viewport
//	3 form (structural)
//	  4 textbox in the viewport, 5 checkbox, 6 button, 7 button in the viewport
//	8 frame host
//	  9 link and 10 button in frame F
func page() *dom.Snapshot {
	at := func(ref dom.Ref, kind dom.Kind, parent dom.Ref, role string, inViewport bool) *dom.Element {
		return &dom.Element{Ref: ref, Kind: kind, Parent: parent, Role: role, InViewport: inViewport}
	}
	all := []*dom.Element{
		at(0, dom.Structural, dom.NoRef, "navigation", true),
		at(1, dom.Interactive, 0, "link", false),
		at(2, dom.Interactive, 0, "link", true),
		at(3, dom.Structural, dom.NoRef, "form", true),
		at(4, dom.Interactive, 3, "textbox", true),
		at(5, dom.Interactive, 3, "checkbox", false),
		at(6, dom.Interactive, 3, "button", false),
		at(7, dom.Interactive, 3, "button", true),
		at(8, dom.FrameHost, dom.NoRef, "iframe", true),
		at(9, dom.Interactive, 8, "link", false),
		at(10, dom.Interactive, 8, "button", true),
	}
	all[9].Frame, all[10].Frame = "F", "F"
	return &dom.Snapshot{Elements: dom.ListOf(all)}
}

func refs(elements []*dom.Element) string {
	var out []string
	for _, e := range elements {
		out = append(out, fmt.Sprint(e.Ref))
	}
	return strings.Join(out, " ")
}

func ten(*dom.Element) int { return 10 }

func TestOf(t *testing.T) {
	tests := []struct {
		name   string
		o      Options
		want   string
		total  int
		reason Reason
		tokens int
	}{
		{"everything", Options{}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 0},
		{"interactive", Options{InteractiveOnly: true}, "1 2 4 5 6 7 9 10", 8, NotTruncated, 0},
		{"viewport", Options{ViewportOnly: true}, "0 2 3 4 7 8 10", 7, NotTruncated, 0},
		{"both", Options{InteractiveOnly: true, ViewportOnly: true}, "2 4 7 10", 4, NotTruncated, 0},
		{"subtree", Options{HasRoot: true, Root: 3}, "3 4 5 6 7", 5, NotTruncated, 0},
		{"subtree, interactive", Options{HasRoot: true, Root: 3, InteractiveOnly: true}, "4 5 6 7", 4, NotTruncated, 0},
		{"subtree of ref 0", Options{HasRoot: true}, "0 1 2", 3, NotTruncated, 0},
		{"subtree of a frame's host", Options{HasRoot: true, Root: 8}, "8 9 10", 3, NotTruncated, 0},
		{"root outside the viewport", Options{HasRoot: true, Root: 1, ViewportOnly: true}, "", 0, NotTruncated, 0},
		{"root without HasRoot", Options{Root: 99}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 0},
		{"frame", Options{HasFrame: true, Frame: "F"}, "9 10", 2, NotTruncated, 0},
		{"main frame", Options{HasFrame: true}, "0 1 2 3 4 5 6 7 8", 9, NotTruncated, 0},
		{"unknown frame", Options{HasFrame: true, Frame: "G"}, "", 0, NotTruncated, 0},
		{"one element", Options{MaxElements: 1}, "7", 11, ElementLimit, 0},
		{"three elements", Options{MaxElements: 3}, "4 7 10", 11, ElementLimit, 0},
		{"six elements", Options{MaxElements: 6}, "0 2 3 4 7 10", 11, ElementLimit, 0},
		{"all but the last", Options{MaxElements: 10}, "0 1 2 3 4 5 6 7 8 10", 11, ElementLimit, 0},
		{"just enough elements", Options{MaxElements: 11}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 0},
		{"ties go by place", Options{HasRoot: true, MaxElements: 2}, "0 2", 3, ElementLimit, 0},
		{"budget for three", Options{MaxTokens: 35, Cost: ten}, "4 7 10", 11, TokenBudget, 30},
		{"budget with overhead", Options{MaxTokens: 35, Overhead: 6, Cost: ten}, "7 10", 11, TokenBudget, 26},
		{"just enough budget", Options{MaxTokens: 111, Overhead: 1, Cost: ten}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 111},
		{"one token short", Options{MaxTokens: 110, Overhead: 1, Cost: ten}, "0 1 2 3 4 5 6 7 8 10", 11, TokenBudget, 101},
		{"no budget for any", Options{MaxTokens: 9, Cost: ten}, "", 11, TokenBudget, 0},
		{"overhead above budget", Options{MaxTokens: 5, Overhead: 6, Cost: ten}, "", 11, TokenBudget, 6},
		{"limit below budget", Options{MaxElements: 2, MaxTokens: 50, Cost: ten}, "7 10", 11, ElementLimit, 20},
		{"budget below limit", Options{MaxElements: 4, MaxTokens: 30, Cost: ten}, "4 7 10", 11, TokenBudget, 30},
		{"overhead without budget", Options{Overhead: 6}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 0},
		{"negative limits", Options{MaxElements: -1, MaxTokens: -1}, "0 1 2 3 4 5 6 7 8 9 10", 11, NotTruncated, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := Of(page(), test.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := refs(v.Elements.Slice()); got != test.want {
				t.Errorf("elements %s, want %s", got, test.want)
			}
			if v.Total != test.total || v.Reason != test.reason || v.Tokens != test.tokens {
				t.Errorf("total %d, reason %q, tokens %d, want %d, %q, %d",
					v.Total, v.Reason, v.Tokens, test.total, test.reason, test.tokens)
			}
		})
	}
}

func TestScore(t *testing.T) {
	tests := map[string]int{
		"button": 100, "textbox": 95, "searchbox": 95, "checkbox": 90, "radio": 90, "switch": 90,
		"combobox": 85, "listbox": 85, "slider": 85, "spinbutton": 85, "link": 80, "tab": 75,
		"menuitem": 70, "menuitemcheckbox": 70, "menuitemradio": 70, "option": 70,
		"navigation": 60, "menu": 60, "tablist": 55,
		"form": 50, "dialog": 50, "alertdialog": 50, "heading": 50, "": 50,
	}
	for role, want := range tests {
		if got := Score(&dom.Element{Role: role}); got != want {
			t.Errorf("Score(%s) = %d, want %d", role, got, want)
		}
		if got := Score(&dom.Element{Role: role, InViewport: true}); got != want+50 {
			t.Errorf("Score(%s in the viewport) = %d, want %d", role, got, want+50)
		}
	}
}

func TestOmittedByRole(t *testing.T) {
	s := page()
	s.Elements.Slice()[9].Role = ""
	v, err := Of(s, Options{InteractiveOnly: true, MaxElements: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"link": 2, "checkbox": 1, "button": 1, "generic": 1}
	if !maps.Equal(v.OmittedByRole, want) {
		t.Errorf("omitted %v, want %v", v.OmittedByRole, want)
	}
	if v, _ = Of(s, Options{InteractiveOnly: true}); v.OmittedByRole != nil {
		t.Errorf("without limits %v is said to be omitted", v.OmittedByRole)
	}
}

func TestUnknownRoot(t *testing.T) {
	_, err := Of(page(), Options{HasRoot: true, Root: 99, InteractiveOnly: true})
	var noRoot ErrNoRoot
	if !errors.As(err, &noRoot) || noRoot.Ref != 99 {
		t.Errorf("got %v, want ErrNoRoot{99}", err)
	}
}

func TestBudgetWithoutCost(t *testing.T) {
	if _, err := Of(page(), Options{MaxTokens: 100}); err == nil {
		t.Error("a budget without a cost is accepted")
	}
}

func TestCostIsAskedOnlyForWhatMayBeShown(t *testing.T) {
	asked := map[dom.Ref]int{}
	_, err := Of(page(), Options{MaxElements: 5, MaxTokens: 25, Cost: func(e *dom.Element) int {
		asked[e.Ref]++
		return 10
	}})
	if want := (map[dom.Ref]int{7: 1, 10: 1, 4: 1}); err != nil || !maps.Equal(asked, want) {
		t.Errorf("cost of %v asked (%v), want %v", asked, err, want)
	}
}

func TestAttributes(t *testing.T) {
	s := &dom.Snapshot{Elements: dom.ListOf([]*dom.Element{
		{Ref: 0},
		{Ref: 1, Attributes: map[string]string{"id": "a", "class": "b"}},
		{Ref: 2, Attributes: map[string]string{"id": "c"}},
		{Ref: 3, Attributes: map[string]string{"class": "d"}},
	})}
	before := slices.Clone(s.Elements.Slice())
	get := func(wanted ...string) []*dom.Element {
		v, err := Of(s, Options{Attributes: wanted})
		if err != nil {
			t.Fatal(err)
		}
		return v.Elements.Slice()
	}
	all := get("class", "id")
	if !slices.Equal(all, s.Elements.Slice()) {
		t.Error("elements are copied though they have no other attributes")
	}
	id := get("id")
	want := []map[string]string{nil, {"id": "a"}, {"id": "c"}, nil}
	for i, e := range id {
		if !reflect.DeepEqual(e.Attributes, want[i]) {
			t.Errorf("element %d has %v, want %v", i, e.Attributes, want[i])
		}
	}
	if id[2] != s.Elements.Slice()[2] || id[0] != s.Elements.Slice()[0] {
		t.Error("elements are copied though they have no other attributes")
	}
	for i, e := range get() {
		if len(e.Attributes) > 0 || e.Ref != dom.Ref(i) {
			t.Errorf("element %d came as %d with %v", i, e.Ref, e.Attributes)
		}
	}
	if !slices.Equal(s.Elements.Slice(), before) || len(s.Elements.Slice()[1].Attributes) != 2 {
		t.Error("the snapshot was written to")
	}
}

func TestKeyTellsOptionsApart(t *testing.T) {
	different := []Options{
		{}, {InteractiveOnly: true}, {ViewportOnly: true},
		{HasRoot: true}, {HasRoot: true, Root: 1}, {HasFrame: true}, {HasFrame: true, Frame: "F"},
		{HasFrame: true, Frame: `" elements=3`}, {MaxElements: 3}, {MaxElements: 30},
		{MaxTokens: 300}, {MaxTokens: 300, Overhead: 1},
		{Attributes: []string{"id"}}, {Attributes: []string{"id", "class"}}, {Attributes: []string{"id class"}},
	}
	keys := map[string]Options{}
	for _, o := range different {
		if other, ok := keys[o.Key()]; ok {
			t.Errorf("%+v and %+v have the key %q", o, other, o.Key())
		}
		keys[o.Key()] = o
	}
	equal := [][2]Options{
		{{}, {Root: 5, Frame: "F", MaxElements: -1, MaxTokens: -1, Overhead: 7}},
		{{Attributes: []string{"a", "b"}}, {Attributes: []string{"b", "a", "b"}}},
		{{MaxTokens: 9, Cost: ten}, {MaxTokens: 9}},
	}
	for _, pair := range equal {
		if a, b := pair[0].Key(), pair[1].Key(); a != b {
			t.Errorf("%+v and %+v have different keys %q and %q", pair[0], pair[1], a, b)
		}
	}
}
