package view

import (
	"fmt"
	"testing"

	"github.com/domtap/domtap/dom"
)

// menu returns a navigation with links, with refs starting at ref, followed by a button.
func menu(ref dom.Ref, name string, links ...string) []*dom.Element {
	out := []*dom.Element{{Ref: ref, Parent: dom.NoRef, Kind: dom.Structural, Role: "navigation", Text: name}}
	for i, text := range links {
		out = append(out, &dom.Element{Ref: ref + 1 + dom.Ref(i), Parent: ref, Depth: 1, Role: "link", Text: text})
	}
	return append(out, &dom.Element{Ref: ref + 100, Parent: dom.NoRef, Role: "button", Text: "Go"})
}

func TestNavigationHash(t *testing.T) {
	first := NavigationHash(menu(0, "Main", "Home", "Shop"))
	if len(first) != 1 || first[0].Element.Ref != 0 || len(first[0].Below) != 2 {
		t.Fatalf("found %+v, want one landmark with two elements", first)
	}
	valued := menu(0, "Main", "Home", "Shop")
	valued[1].Value, valued[2].States.Focused = "x", dom.True
	for _, c := range []struct {
		what     string
		elements []*dom.Element
		same     bool
	}{
		{"another ref", menu(7, "Main", "Home", "Shop"), true},
		{"another order", menu(0, "Main", "Shop", "Home"), true},
		{"values and states", valued, true},
		{"another name", menu(0, "Foot", "Home", "Shop"), false},
		{"another link", menu(0, "Main", "Home", "Cart"), false},
		{"one more", menu(0, "Main", "Home", "Shop", "Shop"), false},
		{"names joined", menu(0, "Main", "Homelink:Shop"), false},
	} {
		if got := NavigationHash(c.elements); (got[0].Hash == first[0].Hash) != c.same {
			t.Errorf("%s: same is %v, want %v", c.what, !c.same, c.same)
		}
	}
}

func TestNestedLandmarksCountForBoth(t *testing.T) {
	elements := []*dom.Element{
		{Ref: 0, Parent: dom.NoRef, Role: "banner"},
		{Ref: 1, Parent: 0, Role: "link", Text: "Logo"},
		{Ref: 2, Parent: 0, Role: "navigation"},
		{Ref: 3, Parent: 2, Role: "link", Text: "Home"},
		{Ref: 4, Parent: dom.NoRef, Role: "contentinfo"},
	}
	got := NavigationHash(elements)
	if len(got) != 3 || len(got[0].Below) != 3 || len(got[1].Below) != 1 || len(got[2].Below) != 0 {
		t.Errorf("got %+v, want banner 3, navigation 1, contentinfo 0", got)
	}
}

func TestLandmarksAreBounded(t *testing.T) {
	var deep, wide []*dom.Element
	parent := dom.NoRef
	for i := range dom.Ref(1000) {
		deep = append(deep, &dom.Element{Ref: i, Parent: parent, Role: "navigation", Text: fmt.Sprint(i)})
		wide = append(wide, &dom.Element{Ref: i, Parent: dom.NoRef, Role: "navigation"})
		parent = i
	}
	if got := NavigationHash(deep); len(got) != maxNested || len(got[0].Below) != 999 {
		t.Errorf("%d landmarks of nested ones, want %d", len(got), maxNested)
	}
	if got := NavigationHash(wide); len(got) != maxLandmarks {
		t.Errorf("%d landmarks in a row, want %d", len(got), maxLandmarks)
	}
}

func TestFoldOmitsDescendants(t *testing.T) {
	elements := menu(0, "Main", "Home", "Shop")
	elements = append(elements, &dom.Element{Ref: 50, Parent: 1, Role: "image"})
	got := Fold(elements, map[dom.Ref]int{0: 3})
	if len(got) != 2 || got[0].Ref != 0 || got[1].Ref != 100 {
		t.Errorf("%d elements are left, want the landmark and the button", len(got))
	}
	if got := Fold[int](elements, nil); len(got) != len(elements) {
		t.Errorf("nothing is folded, %d elements are left", len(got))
	}
}
