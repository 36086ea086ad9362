package dom_test

import (
	"fmt"

	"github.com/domtap/domtap/dom"
)

// A new state shares the unchanged elements with the previous one, and contains a copy of each changed element.
func Example() {
	home := &dom.Element{Ref: 0, Parent: dom.NoRef, Tag: "a", Role: "link", Text: "Home", Href: "https://shop.example/"}
	pay := &dom.Element{Ref: 1, Parent: dom.NoRef, Tag: "button", Role: "button", Text: "Pay now"}
	before := &dom.Snapshot{Revision: 1, Elements: dom.ListOf([]*dom.Element{home, pay})}

	disabled := *pay // published elements must not be modified
	disabled.States.Disabled = dom.True
	after := &dom.Snapshot{Revision: 2, Elements: dom.ListOf([]*dom.Element{home, &disabled})}

	for _, gap := range dom.Gaps(before.Elements, after.Elements) {
		fmt.Printf("index %d: %d old, %d new\n", gap.NowAt, len(gap.Old), len(gap.Now))
	}
	found := after.Find(1)
	fmt.Println(found.Text, "disabled:", found.States.Disabled)
	fmt.Println("same key:", found.Key() == pay.Key(), "same:", found.Same(pay))
	// Output:
	// index 1: 1 old, 1 new
	// Pay now disabled: true
	// same key: true same: false
}
