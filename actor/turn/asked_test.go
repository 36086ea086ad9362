package turn

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// TestWhatWasAskedIsExpected checks that the expected state of an element contains exactly what was requested.
func TestWhatWasAskedIsExpected(t *testing.T) {
	field := func(value string, left int) *dom.Element {
		return &dom.Element{Ref: 7, Tag: "input", Role: "textbox", Type: "text", Value: value, ValueLeft: left}
	}
	box := func(checked dom.Tri) *dom.Element {
		return &dom.Element{Ref: 7, Tag: "input", Role: "checkbox", Type: "checkbox", States: dom.States{Checked: checked}}
	}
	do := func(kind driver.ActionKind, text string, values ...string) driver.Action {
		return driver.Action{Kind: kind, Text: text, Values: values}
	}
	const fill, typed = driver.Fill, driver.Type
	long := strings.Repeat("a b ", 30)
	tests := []struct {
		name     string
		actions  []driver.Action
		note     string
		was, now *dom.Element
		expected bool
	}{
		{"filled", []driver.Action{do(fill, "Ada")}, "", field("", 0), field("Ada", 0), true},
		{"cleared", []driver.Action{do(fill, "")}, "", field("Ada", 0), field("", 0), true},
		{"lines", []driver.Action{do(fill, "a\nb")}, "", field("", 0), field("a b", 0), true},
		{"cut", []driver.Action{do(fill, long+"c")}, "", field("", 0), field(long[:50]+"…", 71), true},
		{"cut elsewhere", []driver.Action{do(fill, long+"c")}, "", field("", 0), field(long[:50]+"…", 70), false},
		{"upper case", []driver.Action{do(fill, "ada")}, "", field("", 0), field("ADA", 0), false},
		{"taken back", []driver.Action{do(fill, "ada")}, "", field("x", 0), field("y", 0), false},
		{"perhaps trimmed", []driver.Action{do(fill, " ada")}, "", field("", 0), field("ada", 0), false},
		{"formatted, as the summary says", []driver.Action{do(fill, "555")}, `ok, holds "(555)"`, field("", 0), field("(555)", 0), true},
		{"formatted anew since", []driver.Action{do(fill, "555")}, `ok, holds "(555)"`, field("", 0), field("(555) ", 0), false},
		{"something else", []driver.Action{do(fill, "555")}, "ok, but it holds something else", field("", 0), field("555", 0), false},
		{"a password", []driver.Action{do(fill, "secret")}, "", field("", 0), field("••••", 0), true},
		{"a password that is gone", []driver.Action{do(fill, "")}, "", field("", 0), field("••••", 0), false},
		{"typed behind", []driver.Action{do(typed, "x")}, "", field("Ada", 0), field("Adax", 0), true},
		{"typed twice", []driver.Action{do(typed, "x"), do(typed, "y")}, "", field("Ada", 0), field("Adaxy", 0), true},
		{"typed over", []driver.Action{do(typed, "x")}, "", field("Ada", 0), field("x", 0), false},
		{"filled and typed", []driver.Action{do(fill, "Bo"), do(typed, "b")}, "", field(long[:50]+"…", 70), field("Bob", 0), true},
		{"typed behind what is cut", []driver.Action{do(typed, "x")}, "", field(long[:50]+"…", 70), field(long[:50]+"…", 71), false},
		{"selected", []driver.Action{do(driver.Select, "", "Large", "Huge")}, "", field("Small", 0), field("Large, Huge", 0), true},
		{"selected by value", []driver.Action{do(driver.Select, "", "lg")}, "", field("Small", 0), field("Large", 0), false},
		{"checked", []driver.Action{do(driver.Check, "")}, "", box(dom.False), box(dom.True), true},
		{"unchecked", []driver.Action{do(driver.Uncheck, "")}, "", box(dom.True), box(dom.False), true},
		{"checked and back", []driver.Action{do(driver.Check, "")}, "", box(dom.True), box(dom.False), false},
		{"clicked", []driver.Action{do(driver.Click, "")}, "", box(dom.False), box(dom.True), false},
	}
	for _, test := range tests {
		var all []FieldRequest
		for _, a := range test.actions {
			all = append(all, fieldRequests(a, test.was, test.note)...)
		}
		if got := Expected(all, test.was, test.now).Same(test.now); got != test.expected {
			t.Errorf("%s: expected %v, want %v", test.name, got, test.expected)
		}
	}
}

// TestAnotherRadioButtonOfTheGroupIsUnchecked covers buttons of the same name in the same frame.
func TestAnotherRadioButtonOfTheGroupIsUnchecked(t *testing.T) {
	radio := func(ref dom.Ref, name string, checked dom.Tri) *dom.Element {
		return &dom.Element{Ref: ref, Tag: "input", Role: "radio", Type: "radio", Name: name, States: dom.States{Checked: checked}}
	}
	all := fieldRequests(driver.Action{Kind: driver.Check}, radio(1, "by", dom.False), "")
	for name, expected := range map[string]bool{"by": true, "size": false} {
		was, now := radio(2, name, dom.True), radio(2, name, dom.False)
		if got := Expected(all, was, now).Same(now); got != expected {
			t.Errorf("a radio button of %q: expected %v", name, got)
		}
	}
}
