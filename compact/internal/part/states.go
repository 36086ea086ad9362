package part

import (
	"strings"

	"github.com/domtap/domtap/dom"
)

// HasReadableValue reports whether a person sees the value in the element. It is false for checkboxes and buttons, whose value is only sent
// by forms, unless the button is a combobox.
func HasReadableValue(e *dom.Element) bool {
	switch e.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		return false
	}
	switch e.Tag {
	case "button":
		return e.Role == "combobox"
	case "input":
		switch e.Type {
		case "checkbox", "radio", "button", "submit", "reset", "image":
			return false
		}
	}
	return true
}

// AppendStates appends the states that are set, in a fixed order.
func AppendStates(dst []byte, s *dom.States) []byte {
	if *s == (dom.States{}) {
		return dst
	}
	switch s.Checked {
	case dom.True:
		dst = append(dst, " checked"...)
	case dom.Mixed:
		dst = append(dst, " mixed"...)
	}
	dst = appendIf(dst, s.Disabled, " disabled")
	dst = appendIf(dst, s.Expanded, " expanded")
	if s.Expanded == dom.False {
		dst = append(dst, " collapsed"...)
	}
	dst = appendIf(dst, s.Selected, " selected")
	dst = appendIf(dst, s.Pressed, " pressed")
	if s.Pressed == dom.Mixed {
		dst = append(dst, " pressed=mixed"...)
	}
	dst = appendIf(dst, s.Required, " required")
	dst = appendIf(dst, s.Readonly, " readonly")
	dst = appendIf(dst, s.Focused, " focused")
	return appendIf(dst, s.Invalid, " invalid")
}

// AppendHints appends the hints of an element, each with a sign that distinguishes it from a state.
func AppendHints(dst []byte, hints string) []byte {
	for word := range strings.FieldsSeq(hints) {
		dst = append(append(dst, " ~"...), word...)
	}
	return dst
}

func appendIf(dst []byte, state dom.Tri, word string) []byte {
	if state == dom.True {
		return append(dst, word...)
	}
	return dst
}
