package compact

import (
	"strconv"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// Diff formats a diff as text in format DIFF:
//
//	Changes: +1 -1 ~1 >1
//	Added:
//	  [5] <button>New Button</button>
//	  [6] <input type="text" value="Ada" required> Name
//	Removed:
//	  [2] <a>Old Link</a>
//	Changed:
//	  [9] <input type="checkbox"> Gift wrap: checked false → true
//	Moved:
//	  [4] <a>Home</a>: 3 → 7
//
// Sections without entries are omitted, and so is the number of moves if there are none. A diff without changes is "Changes: none". Added
// elements have their values and states. Every entry is one line, and the lists are complete. A field that was or is empty is printed as
// "(none)".
func Diff(d diff.Diff) string { return DiffWithin(d, len(d.Removed), 0) }

// DiffWithin works like Diff, with at most limit entries in each list. 0 means no limit. A truncated list ends with a line with the number
// of missing entries. The first line counts everything; removed is the number of removed elements, of which d may have fewer.
func DiffWithin(d diff.Diff, removed, limit int) string {
	if d.Empty() && removed == 0 {
		return "Changes: none\n"
	}
	dst := make([]byte, 0, 64+48*(len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Moved)))
	dst = appendCounts(dst, d, removed)
	dst = appendList(dst, "Added:\n", d.Added, limit, func(dst []byte, a diff.Added) []byte { return appendNode(dst, a.Element, true) })
	dst = appendList(dst, "Removed:\n", d.Removed, limit, func(dst []byte, r diff.Removed) []byte { return appendNode(dst, r.Element, false) })
	dst = appendList(dst, "Changed:\n", d.Changed, limit, func(dst []byte, c diff.Changed) []byte {
		return appendFields(appendNode(dst, c.New, false), c.Fields())
	})
	dst = appendList(dst, "Moved:\n", d.Moved, limit, func(dst []byte, m diff.Moved) []byte {
		dst = append(appendNode(dst, m.Element, false), ": "...)
		dst = strconv.AppendInt(dst, int64(m.From), 10)
		dst = append(dst, " → "...)
		return strconv.AppendInt(dst, int64(m.To), 10)
	})
	return string(dst)
}

// appendList appends a heading and a line for each entry, unless the list is empty.
func appendList[E any](dst []byte, heading string, list []E, limit int, one func([]byte, E) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, heading...)
	for i, e := range list {
		if limit > 0 && i == limit {
			dst = append(dst, "  … and "...)
			dst = strconv.AppendInt(dst, int64(len(list)-limit), 10)
			return append(dst, " more\n"...)
		}
		dst = append(one(dst, e), '\n')
	}
	return dst
}

func appendCounts(dst []byte, d diff.Diff, removed int) []byte {
	dst = append(dst, "Changes: +"...)
	dst = strconv.AppendInt(dst, int64(len(d.Added)), 10)
	dst = append(dst, " -"...)
	dst = strconv.AppendInt(dst, int64(removed), 10)
	dst = append(dst, " ~"...)
	dst = strconv.AppendInt(dst, int64(len(d.Changed)), 10)
	if len(d.Moved) > 0 {
		dst = append(dst, " >"...)
		dst = strconv.AppendInt(dst, int64(len(d.Moved)), 10)
	}
	return append(dst, '\n')
}

// appendNode appends an element as in HTML, with its ref and, if whole is set, its value and states. For tags without content, the text
// follows the tag.
func appendNode(dst []byte, e *dom.Element, whole bool) []byte {
	dst = append(dst, "  "...)
	dst = append(appendRef(dst, e.Ref), '<')
	dst = appendTag(dst, e.Tag)
	if e.Tag == "input" {
		dst = appendAttribute(dst, ` type="`, e.Type)
	}
	if !hasOwnRole(e) {
		dst = appendAttribute(dst, ` role="`, e.Role)
	}
	if whole {
		dst = appendHeld(dst, e)
	}
	dst = append(dst, '>')
	if isVoid(e.Tag) {
		return part.AppendLeft(part.AppendAfter(dst, " ", e.Text, part.MaxText), e.Left)
	}
	dst = part.AppendLeft(part.AppendClean(dst, e.Text, part.MaxText), e.Left)
	dst = append(dst, "</"...)
	return append(appendTag(dst, e.Tag), '>')
}

// appendHeld appends the value and the states of an element.
func appendHeld(dst []byte, e *dom.Element) []byte {
	start := len(dst)
	if part.HasReadableValue(e) {
		dst = part.AppendQuoted(append(dst, " value="...), e.Value, e.ValueLeft)
		if len(dst) == start+len(` value=""`) {
			dst = dst[:start]
		}
	}
	return part.AppendStates(dst, &e.States)
}

func appendAttribute(dst []byte, prefix, s string) []byte {
	start := len(dst)
	if dst = part.AppendAfter(dst, prefix, s, part.MaxWord); len(dst) > start {
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
		dst = part.AppendClean(dst, f.Name, part.MaxAttribute)
		dst = append(dst, ' ')
		dst = appendOrNone(dst, f.Old)
		dst = append(dst, " → "...)
		dst = appendOrNone(dst, f.New)
	}
	return dst
}

func appendOrNone(dst []byte, s string) []byte {
	start := len(dst)
	if dst = part.AppendClean(dst, s, part.MaxAttribute); len(dst) == start {
		dst = append(dst, "(none)"...)
	}
	return dst
}
