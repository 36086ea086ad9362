package condition

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// page returns, in order: a heading, an enabled and a disabled button, a field, and an element without a role.
func page() *dom.Snapshot {
	return &dom.Snapshot{URL: "https://shop.example/cart?x=1", Elements: dom.ListOf([]*dom.Element{
		{Ref: 0, Tag: "h1", Role: "heading", Text: "Your Cart", Kind: dom.Structural},
		{Ref: 1, Tag: "button", Role: "button", Text: "Pay now"},
		{Ref: 2, Tag: "button", Role: "button", Text: "Pay later", States: dom.States{Disabled: dom.True}},
		{Ref: 3, Tag: "input", Role: "textbox", Text: "Coupon", Value: "SPRING", Placeholder: "code"},
		{Ref: 4, Tag: "p", Text: "Straße 7"},
	})}
}

func some(ref dom.Ref) func(*Element) { return func(e *Element) { e.Ref = ref } }

// none means that a condition holds without an element; no means that it does not hold.
const none, no = dom.NoRef, dom.NoRef - 1

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name     string
		element  Element
		more     func(*Element)
		selected *dom.Selection
		want     dom.Ref
	}{
		{"by role", Element{Role: "button"}, nil, nil, 1},
		{"by role in another case", Element{Role: "Button"}, nil, nil, 1},
		{"a part of a role", Element{Role: "but"}, nil, nil, no},
		{"a tag where there is no role", Element{Role: "p"}, nil, nil, 4},
		{"no tag where there is a role", Element{Role: "input"}, nil, nil, no},
		{"by name", Element{Name: "later"}, nil, nil, 2},
		{"by name in another case", Element{Name: "PAY LATER"}, nil, nil, 2},
		{"by name of another role", Element{Role: "textbox", Name: "pay"}, nil, nil, no},
		{"a name is not a value", Element{Name: "spring"}, nil, nil, no},
		{"by text, the value", Element{Text: "spring"}, nil, nil, 3},
		{"by text, the placeholder", Element{Text: "code"}, nil, nil, 3},
		{"by text with other white space", Element{Text: " your\n cart "}, nil, nil, 0},
		{"exact", Element{Name: "Pay later", Exact: true}, nil, nil, 2},
		{"exact, but a part", Element{Name: "later", Exact: true}, nil, nil, no},
		{"exact, but another case", Element{Name: "pay later", Exact: true}, nil, nil, no},
		{"by ref", Element{}, some(3), nil, 3},
		{"by ref and role", Element{Role: "button"}, some(3), nil, no},
		{"enabled", Element{Name: "pay", State: Enabled}, nil, nil, 1},
		{"not enabled", Element{Name: "later", State: Enabled}, nil, nil, no},
		{"visible", Element{Name: "later", State: Visible}, nil, nil, 2},
		{"gone", Element{Name: "nothing", State: Gone}, nil, nil, none},
		{"not gone", Element{Name: "pay", State: Gone}, nil, nil, no},
		{"a gone ref", Element{State: Gone}, some(9), nil, none},
		{"selector not known", Element{Selector: "a"}, nil, nil, no},
		{"gone by a selector not known", Element{Selector: "a", State: Gone}, nil, nil, no},
		{"selector", Element{Selector: "a"}, nil, &dom.Selection{Count: 2, Refs: []dom.Ref{3, 2}}, 2},
		{"selector that matches what is hidden", Element{Selector: "a"}, nil, &dom.Selection{Count: 1}, none},
		{"selector that matches nothing", Element{Selector: "a"}, nil, &dom.Selection{}, no},
		{"selector enabled", Element{Selector: "a", State: Enabled}, nil, &dom.Selection{Count: 2, Enabled: 1, Refs: []dom.Ref{2, 1}}, 1},
		{"selector not enabled", Element{Selector: "a", State: Enabled}, nil, &dom.Selection{Count: 1, Refs: []dom.Ref{2}}, no},
		{"selector gone", Element{Selector: "a", State: Gone}, nil, &dom.Selection{}, none},
		{"selector not gone though hidden", Element{Selector: "a", State: Gone}, nil, &dom.Selection{Count: 1}, no},
		{"selector and role", Element{Selector: "a", Role: "button"}, nil, &dom.Selection{Count: 2, Refs: []dom.Ref{3, 2}}, 2},
		{"selector and another role", Element{Selector: "a", Role: "heading"}, nil, &dom.Selection{Count: 1, Refs: []dom.Ref{3}}, no},
		{"selector and role gone", Element{Selector: "a", Role: "heading", State: Gone}, nil, &dom.Selection{Count: 1, Refs: []dom.Ref{3}}, none},
	} {
		e := c.element
		e.Ref = dom.NoRef
		if c.more != nil {
			c.more(&e)
		}
		el, holds := e.Match(page(), c.selected)
		got := no
		if holds {
			got = none
		}
		if el != nil && holds {
			got = el.Ref
		}
		if got != c.want {
			t.Errorf("%s: got %v, %v; want %d", c.name, el, holds, c.want)
		}
	}
}

func TestURL(t *testing.T) {
	const url = "https://shop.example/cart?x=1"
	for pattern, want := range map[string]bool{
		"": true, "cart": true, "/cart?x": true, "card": false, "CART": false,
		"*": true, "**": true, "*/cart*": true, "https://*": true, "*cart": false, "*x=1": true, "http:*": false,
		"https://shop.example/cart?x=1": true, "https://*/cart?x=*": true, "*cart*cart*": false, "*1*1": false, "*=*1": true,
	} {
		if got := URL(pattern, url); got != want {
			t.Errorf("URL(%q) = %v, want %v", pattern, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for want, e := range map[string]Element{
		`button "Pay later" (ref 2, disabled)`: {Name: "Pay later", State: Enabled, Ref: dom.NoRef},
		`button "Pay now" (ref 1)`:             {Role: "button", Name: "Order", Ref: dom.NoRef},
		`heading "Your Cart" (ref 0)`:          {Name: "cart overview", Ref: dom.NoRef},
		`p "Straße 7" (ref 4)`:                 {Ref: 4},
	} {
		if el := e.Nearest(page()); el == nil || Describe(el) != want {
			t.Errorf("%+v: got %v, want %s", e, el, want)
		}
	}
	if el := (Element{Name: "zebra", Ref: dom.NoRef}).Nearest(page()); el != nil {
		t.Errorf("got %v for what shares nothing", el)
	}
}

func FuzzContainsIgnoresCase(f *testing.F) {
	f.Add("Straße 7", "straße")
	f.Add("İstanbul", "i")
	f.Fuzz(func(t *testing.T, text, part string) {
		want := strings.Contains(strings.ToLower(text), strings.ToLower(strings.Join(strings.Fields(part), " "))) || strings.Contains(text, part)
		if got := Contains(text, part); got != want && len(strings.Join(strings.Fields(part), " ")) <= 2*len(text) {
			t.Errorf("Contains(%q, %q) = %v", text, part, got)
		}
	})
}
