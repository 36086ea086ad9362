package diff_test

import (
	"fmt"

	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

func Example() {
	coupon := &dom.Element{Ref: 0, Tag: "input", Text: "Coupon"}
	pay := &dom.Element{Ref: 1, Tag: "button", Text: "Pay now"}
	help := &dom.Element{Ref: 2, Tag: "a", Text: "Help"}
	filled := &dom.Element{Ref: 0, Tag: "input", Text: "Coupon", Value: "SPRING"}
	old, now := []*dom.Element{coupon, pay}, []*dom.Element{filled, pay, help}

	d := diff.Compute(old, now)
	for _, c := range d.Changed {
		for _, f := range c.Fields() {
			fmt.Printf("ref %d: %s %q → %q\n", c.New.Ref, f.Name, f.Old, f.New)
		}
	}
	for _, a := range d.Added {
		fmt.Printf("ref %d: added at %d\n", a.Element.Ref, a.Index)
	}
	// Output:
	// ref 0: value "" → "SPRING"
	// ref 2: added at 2
}
