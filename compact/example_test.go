package compact_test

import (
	"fmt"
	"log"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

func Example() {
	gift := &dom.Element{Ref: 9, Parent: dom.NoRef, Tag: "input", Type: "checkbox", Role: "checkbox", Text: "Gift wrap", States: dom.States{Checked: dom.False}}
	pay := &dom.Element{Ref: 12, Parent: dom.NoRef, Tag: "button", Role: "button", Text: "Pay now"}
	page := &dom.Snapshot{URL: "https://shop.example/cart", Title: "Your cart", Elements: dom.ListOf([]*dom.Element{gift, pay})}

	v, err := view.Of(page, view.Options{InteractiveOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(compact.Lines(compact.Header{URL: page.URL, Title: page.Title}, v))

	checked := *gift
	checked.States.Checked = dom.True
	fmt.Print(compact.Diff(diff.Compute(v.Elements.Slice(), []*dom.Element{&checked, pay})))
	// Output:
	// URL: https://shop.example/cart | Title: Your cart
	// [9] Gift wrap (input type=checkbox)
	// [12] Pay now (button)
	// Changes: +0 -0 ~1
	// Changed:
	//   [9] <input type="checkbox"> Gift wrap: checked false → true
}
