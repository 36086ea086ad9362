package view_test

import (
	"fmt"
	"log"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

func Example() {
	page := &dom.Snapshot{Elements: dom.ListOf([]*dom.Element{
		{Ref: 0, Parent: dom.NoRef, Tag: "h1", Role: "heading", Text: "Your cart", Kind: dom.Structural},
		{Ref: 1, Parent: dom.NoRef, Tag: "a", Role: "link", Text: "Home"},
		{Ref: 2, Parent: dom.NoRef, Tag: "input", Role: "textbox", Text: "Coupon"},
		{Ref: 3, Parent: dom.NoRef, Tag: "button", Role: "button", Text: "Pay now"},
	})}

	v, err := view.Of(page, view.Options{InteractiveOnly: true, MaxElements: 2})
	if err != nil {
		log.Fatal(err)
	}
	for e := range v.Elements.All() {
		fmt.Println(e.Ref, e.Text)
	}
	fmt.Printf("%d of %d: %v, omitted %v\n", v.Elements.Len(), v.Total, v.Reason, v.OmittedByRole)
	// Output:
	// 2 Coupon
	// 3 Pay now
	// 2 of 3: element limit, omitted map[link:1]
}
