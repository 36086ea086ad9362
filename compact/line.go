package compact

import (
	"strconv"

	"github.com/domtap/domtap/dom"
)

// Line returns the line of an element in format LINES, without its line end.
func Line(e *dom.Element, base Base) string {
	return string(AppendLine(nil, e, base))
}

// AppendLine appends the line of an element in format LINES, without its line end.
func AppendLine(dst []byte, e *dom.Element, base Base) []byte {
	dst = appendRef(dst, e.Ref)
	start := len(dst)
	dst = appendClean(dst, e.Text, maxText)
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	dst = append(dst, '(')
	dst = appendTag(dst, e.Tag)
	if !hasOwnRole(e) {
		dst = appendAfter(dst, " role=", e.Role, maxWord)
	}
	dst = appendDetail(dst, e, base)
	dst = appendStates(dst, &e.States)
	if e.Covered {
		dst = append(dst, " covered"...)
	}
	return append(dst, ')')
}

func appendRef(dst []byte, ref dom.Ref) []byte {
	dst = append(dst, '[')
	dst = strconv.AppendUint(dst, uint64(ref), 10)
	return append(dst, "] "...)
}

func appendTag(dst []byte, tag string) []byte {
	start := len(dst)
	dst = appendClean(dst, tag, maxWord)
	if len(dst) == start {
		dst = append(dst, "unknown"...)
	}
	return dst
}

// appendDetail appends the one thing that says most about the element: where it leads, what it holds,
// or what it takes.
func appendDetail(dst []byte, e *dom.Element, base Base) []byte {
	start := len(dst)
	if e.Href != "" {
		dst = base.appendHref(append(dst, " →"...), e.Href)
		if len(dst) > start+len(" →") {
			return dst
		}
		dst = dst[:start]
	}
	if hasReadableValue(e) {
		dst = appendAfter(dst, " =", e.Value, maxValue)
	}
	if len(dst) == start && (e.Tag == "input" || isStandIn(e)) {
		dst = appendAfter(dst, " type=", e.Type, maxWord)
	}
	return dst
}

// isStandIn reports whether a label stands in for a control that is hidden: it is of the control's type.
func isStandIn(e *dom.Element) bool { return e.Tag == "label" && e.Type != "" }

// hasReadableValue reports whether the value is something that a person sees in the element. Of a
// checkbox or a button it is what a form would send.
func hasReadableValue(e *dom.Element) bool {
	switch e.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		return false
	}
	switch e.Tag {
	case "button":
		return false
	case "input":
		switch e.Type {
		case "checkbox", "radio", "button", "submit", "reset", "image":
			return false
		}
	}
	return true
}

// appendStates appends the states that say something, in a fixed order.
func appendStates(dst []byte, s *dom.States) []byte {
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

func appendIf(dst []byte, state dom.Tri, word string) []byte {
	if state == dom.True {
		return append(dst, word...)
	}
	return dst
}
