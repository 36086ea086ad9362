package compact

import (
	"bytes"
	"strconv"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// AppendLine appends the line of an element in format LINES, without its context and its line end.
func AppendLine(dst []byte, e *dom.Element, base Base) []byte {
	dst = appendRef(dst, e.Ref)
	start := len(dst)
	dst = part.AppendLeft(part.AppendClean(dst, e.Text, part.MaxText), e.Left)
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	dst = append(dst, '(')
	dst = appendTag(dst, e.Tag)
	if !hasOwnRole(e) {
		dst = part.AppendAfter(dst, " role=", e.Role, part.MaxWord)
	}
	dst = appendDetail(dst, e, base)
	dst = part.AppendHints(part.AppendStates(dst, &e.States), e.Hints)
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
	dst = part.AppendClean(dst, tag, part.MaxWord)
	if len(dst) == start {
		dst = append(dst, "unknown"...)
	}
	return dst
}

// appendDetail appends the most important detail of the element: its target, its value, or its type.
func appendDetail(dst []byte, e *dom.Element, base Base) []byte {
	start := len(dst)
	if e.Href != "" {
		dst = base.AppendHref(append(dst, " →"...), e.Href)
		if len(dst) > start+len(" →") {
			return dst
		}
		dst = dst[:start]
	}
	if part.HasReadableValue(e) {
		dst = appendValue(dst, e)
	}
	if len(dst) == start && (e.Tag == "input" || isStandIn(e)) {
		dst = part.AppendAfter(dst, " type=", e.Type, part.MaxWord)
	}
	return dst
}

// appendValue appends " =value", or nothing if nothing of the value is visible. A value that could be misread, such as "Mine disabled", is
// in double quotes.
func appendValue(dst []byte, e *dom.Element) []byte {
	start := len(dst)
	dst = part.AppendAfter(dst, " =", e.Value, part.MaxValue)
	if len(dst) == start || !bytes.ContainsAny(dst[start+len(" ="):], ` "\\()[]`) {
		return part.AppendLeft(dst, e.ValueLeft)
	}
	return part.AppendQuoted(append(dst[:start], " ="...), e.Value, e.ValueLeft)
}

// isStandIn reports whether the element is a label that represents a hidden control. It then has the control's type.
func isStandIn(e *dom.Element) bool { return e.Tag == "label" && e.Type != "" }
