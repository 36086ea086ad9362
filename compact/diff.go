package compact

import (
	"strconv"

	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// Diff returns what changed as text, as format DIFF:
//
//	Changes: +1 -1 ~1 >1
//	Added:
//	  [5] <button>New Button</button>
//	Removed:
//	  [2] <a>Old Link</a>
//	Changed:
//	  [9] <input type="checkbox"> Gift wrap: checked false → true
//	Moved:
//	  [4] <a>Home</a>: 3 → 7
//
// Sections without entries are left out, and so is the count of moves when there are none; a diff
// that changes nothing is "Changes: none". Every entry is one line, and nothing is left out of the
// lists. A field that was or is empty reads "(none)".
func Diff(d diff.Diff) string {
	if d.Empty() {
		return "Changes: none\n"
	}
	dst := make([]byte, 0, 64+48*(len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Moved)))
	dst = appendCounts(dst, d)
	if len(d.Added) > 0 {
		dst = append(dst, "Added:\n"...)
	}
	for _, a := range d.Added {
		dst = append(appendNode(dst, a.Element), '\n')
	}
	if len(d.Removed) > 0 {
		dst = append(dst, "Removed:\n"...)
	}
	for _, r := range d.Removed {
		dst = append(appendNode(dst, r.Element), '\n')
	}
	if len(d.Changed) > 0 {
		dst = append(dst, "Changed:\n"...)
	}
	for _, c := range d.Changed {
		dst = append(appendFields(appendNode(dst, c.New), c.Fields()), '\n')
	}
	if len(d.Moved) > 0 {
		dst = append(dst, "Moved:\n"...)
	}
	for _, m := range d.Moved {
		dst = append(appendNode(dst, m.Element), ": "...)
		dst = strconv.AppendInt(dst, int64(m.From), 10)
		dst = append(dst, " → "...)
		dst = strconv.AppendInt(dst, int64(m.To), 10)
		dst = append(dst, '\n')
	}
	return string(dst)
}

func appendCounts(dst []byte, d diff.Diff) []byte {
	dst = append(dst, "Changes: +"...)
	dst = strconv.AppendInt(dst, int64(len(d.Added)), 10)
	dst = append(dst, " -"...)
	dst = strconv.AppendInt(dst, int64(len(d.Removed)), 10)
	dst = append(dst, " ~"...)
	dst = strconv.AppendInt(dst, int64(len(d.Changed)), 10)
	if len(d.Moved) > 0 {
		dst = append(dst, " >"...)
		dst = strconv.AppendInt(dst, int64(len(d.Moved)), 10)
	}
	return append(dst, '\n')
}

// appendNode appends an element as HTML would write it, with its ref. Tags that can hold nothing are
// followed by the text. A missing element, which a diff may have that came over the network, is told.
func appendNode(dst []byte, e *dom.Element) []byte {
	dst = append(dst, "  "...)
	if e == nil {
		return append(dst, "(unknown element)"...)
	}
	dst = append(appendRef(dst, e.Ref), '<')
	dst = appendTag(dst, e.Tag)
	if e.Tag == "input" {
		dst = appendAttribute(dst, ` type="`, e.Type)
	}
	if !hasOwnRole(e) {
		dst = appendAttribute(dst, ` role="`, e.Role)
	}
	dst = append(dst, '>')
	if isVoid(e.Tag) {
		return appendAfter(dst, " ", e.Text, maxText)
	}
	dst = appendClean(dst, e.Text, maxText)
	dst = append(dst, "</"...)
	return append(appendTag(dst, e.Tag), '>')
}

func appendAttribute(dst []byte, prefix, s string) []byte {
	start := len(dst)
	if dst = appendAfter(dst, prefix, s, maxWord); len(dst) > start {
		dst = append(dst, '"')
	}
	return dst
}

// isVoid reports whether HTML allows no content in the tag.
func isVoid(tag string) bool {
	switch tag {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// appendFields appends ": checked false → true, value (none) → 3".
func appendFields(dst []byte, fields []diff.Field) []byte {
	for i, f := range fields {
		if i == 0 {
			dst = append(dst, ": "...)
		} else {
			dst = append(dst, ", "...)
		}
		dst = appendClean(dst, f.Name, maxAttribute)
		dst = append(dst, ' ')
		dst = appendOrNone(dst, f.Old)
		dst = append(dst, " → "...)
		dst = appendOrNone(dst, f.New)
	}
	return dst
}

func appendOrNone(dst []byte, s string) []byte {
	start := len(dst)
	if dst = appendClean(dst, s, maxAttribute); len(dst) == start {
		dst = append(dst, "(none)"...)
	}
	return dst
}
