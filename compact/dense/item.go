package dense

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

const (
	// maxCell limits the characters printed of a cell. A longer text is cut to maxCutCell.
	maxCell, maxCutCell = 60, 32
	// maxContext limits the characters printed of a context. A longer one is cut to maxCutContext, to maxCell if others begin alike, or not at
	// all if others share even these.
	maxContext, maxCutContext = 40, 24
	// minSaid is the minimum length in bytes of words that are omitted beside a name that contains them.
	minSaid = 6
	// roleLink is the role of elements for which no role is printed.
	roleLink = "link"
	// ditto stands for the last printed target.
	ditto = `"`
)

// appendSpaced appends a space, words, and how many characters of them are omitted. It appends nothing if there are no words.
func appendSpaced(dst []byte, s string, limit int, also string, left int) []byte {
	start := len(dst) + len(" ")
	if dst = part.AppendWords(append(dst, ' '), s, limit, also); len(dst) == start {
		return dst[:start-1]
	}
	return part.AppendLeft(dst, left)
}

// appendName appends a space and the name of an element. It escapes an arrow at its end, which would look like a target.
func appendName(dst []byte, e *dom.Element) []byte {
	start := len(dst)
	dst = appendSpaced(dst, e.Text, part.MaxText, "", e.Left)
	if bytes.HasSuffix(dst[start:], []byte(" →")) {
		dst = append(dst[:len(dst)-len("→")], `\→`...)
	}
	return dst
}

// appendOpening appends words at the beginning of a line or cell, which must not look like a mark.
func appendOpening(dst []byte, s string, limit, left int) []byte {
	start := len(dst)
	dst = part.AppendWords(dst, s, limit, "")
	if len(dst) > start && strings.IndexByte("#<!", dst[start]) >= 0 {
		dst = slices.Insert(dst, start, '\\')
	}
	return part.AppendLeft(dst, part.Beyond(s, limit, left))
}

// appendLevel appends the mark of a heading.
func appendLevel(dst []byte, level int) []byte {
	return append(append(dst, "######"[:min(max(level, 1), 6)]...), ' ')
}

// appendBracket appends a ref in the form that all texts use.
func appendBracket(dst []byte, ref dom.Ref) []byte {
	dst = append(dst, '[')
	return append(strconv.AppendUint(dst, uint64(ref), 10), ']')
}

// item is an element with the data that is printed.
type item struct {
	*dom.Element
	// node is the index of the element on the page.
	node int
	// same is an element that was printed with the same words and target, or NoRef.
	same dom.Ref
	// around is the element that only contains this one, or NoRef.
	around dom.Ref
	// target is the printed target of a link. which is the context that distinguishes the element from others with its role and name.
	target, which string
	// whichLimit limits how many characters of which are printed.
	whichLimit int
	// assumed is the role and states at the beginning of the line, which apply to elements without their own. Empty means link.
	assumed string
	// repeats and repeatsTarget mean that the context or the target equals the last printed one.
	repeats, repeatsTarget bool
}

// append appends an item: `[ref] name →target (role ="value" states hints) ‹which›`. The assumed role is omitted.
func (m *item) append(dst []byte) []byte {
	if m.same != dom.NoRef {
		return strconv.AppendUint(append(appendBracket(dst, m.Ref), '='), uint64(m.same), 10)
	}
	if m.around != dom.NoRef {
		dst = append(appendBracket(dst, m.around), '=')
	}
	return m.appendBody(appendBracket(dst, m.Ref))
}

// appendBody appends the part of an item after its ref.
func (m *item) appendBody(dst []byte) []byte {
	start := len(dst)
	dst = appendName(dst, m.Element)
	hasName := len(dst) > start
	switch {
	case m.target == named:
		dst = append(dst, " →"...)
	case m.repeatsTarget:
		dst = append(dst, " →"+ditto...)
	case m.target == ditto: // a target that is a quotation mark
		dst = append(dst, " →%22"...)
	case m.target != "":
		dst = append(append(dst, " →"...), m.target...)
	}
	return m.appendWhich(m.appendDetail(dst, m.around != dom.NoRef && !hasName))
}

// appendWhich appends ` ‹words›`, or ` ‹›` for the words that were printed last, or nothing if there are no words.
func (m *item) appendWhich(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, " ‹"...)
	if m.repeats {
		return append(dst, "›"...)
	}
	words := part.AppendWords(dst, m.which, m.whichLimit, "›")
	if len(words) == len(dst) {
		return dst[:start]
	}
	return append(words, "›"...)
}

// appendDetail appends ` (role ="value" type=T states)`, unless the element has only the assumed role and states.
func (m *item) appendDetail(dst []byte, always bool) []byte {
	var buffer [96]byte
	if !always && !m.hasOwnDetail() && string(m.appendDetails(buffer[:0])) == cmp.Or(m.assumed, roleLink) {
		return dst
	}
	dst = part.AppendRole(append(dst, " ("...), m.Role)
	if hasPrintedValue(m.Element) {
		dst = appendQuotedValue(dst, m.Element)
	}
	if m.Tag == "input" && needsType(m.Type) {
		dst = append(append(dst, " type="...), m.Type...)
	}
	return append(part.AppendHints(part.AppendStates(dst, &m.States), m.Hints), ')')
}

// hasOwnDetail reports whether an element has a value or a type to print, which the beginning of a line never contains.
func (m *item) hasOwnDetail() bool {
	return hasPrintedValue(m.Element) || m.Tag == "input" && needsType(m.Type)
}

// hasStateWords reports whether there are states or hints to print.
func hasStateWords(e *dom.Element) bool {
	var buffer [96]byte
	return e.Hints != "" || len(part.AppendStates(buffer[:0], &e.States)) > 0
}

// needsType reports whether the role of an input does not show how to fill it in, so that its type is needed.
func needsType(t string) bool { return t == "file" || t == "color" || t == "month" || t == "week" }

func hasPrintedValue(e *dom.Element) bool { return e.Value != "" && part.HasReadableValue(e) }

// appendQuotedValue appends ` ="value"`, or nothing if nothing of the value is visible.
func appendQuotedValue(dst []byte, e *dom.Element) []byte {
	start := len(dst)
	dst = append(dst, " ="...)
	filled := part.AppendQuoted(dst, e.Value, e.ValueLeft)
	if len(filled) == len(dst)+len(`""`) {
		return dst[:start]
	}
	return filled
}

// rest returns the part of a text that is not printed with the items at its end, or an empty string if the items cover all of its words. A
// text of some length that is part of an item's name is also covered.
func rest(text string, items []item) string {
	if len(text) >= minSaid && slices.ContainsFunc(items, func(m item) bool { return strings.Contains(m.Text, text) }) {
		return ""
	}
	before := text
	for i := len(items) - 1; i >= 0; i-- {
		end := strings.LastIndex(before, items[i].Text)
		if end < 0 || items[i].Text == "" || hasWords(before[end+len(items[i].Text):]) {
			return text
		}
		before = before[:end]
	}
	if !hasWords(before) {
		return ""
	}
	return before
}

// hasWords reports whether a text has letters or digits.
func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) })
}
