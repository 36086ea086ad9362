package dense

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
)

// likeness holds what two elements must have in common to count as the same element, rendered again.
type likeness struct {
	tag, role, text, href, name, typ, value, placeholder, hints string
	states                                                      dom.States
	kind                                                        dom.Kind
	level, left, valueLeft                                      int
	frame                                                       dom.FrameID
	// groups describes the groups around. record is the text of the row, list item or card, or else the nearest texts before and after.
	groups, record string
}

// redrawn removes elements that were replaced by equal ones from the added and removed elements. Only certain matches count: the two are
// printed identically and are in groups of the same names and in rows of the same text. Of several equal elements, all must have been
// replaced. For rows that differ, the first two texts of the row must be equal, and the match must be unique. The others must have names, be
// between elements or texts of the same unique names, and be unique there.
func (d *differ) redrawn() {
	if len(d.added) == 0 || len(d.removed) == 0 {
		return
	}
	if d.from.hasTexts() && d.to.hasTexts() {
		d.match(d.from.alike(d.removed, true), d.to.alike(d.added, true), true)
		d.match(d.from.alike(d.removed, false), d.to.alike(d.added, false), false)
	}
	d.match(d.from.alikeBetween(d.removed), d.to.alikeBetween(d.added), false)
	slices.SortFunc(d.pairs, func(a, b pair) int { return cmp.Compare(a.old, b.old) })
}

// match pairs removed and added elements that are alike. If several is set, it also pairs groups of several equal elements.
func (d *differ) match(old, now map[likeness][]int32, several bool) {
	gone, come := map[int32]bool{}, map[int32]bool{}
	for what, places := range old {
		if n := len(places); n != len(now[what]) || n > 1 && !several {
			continue
		}
		for k, at := range places {
			other := now[what][k]
			gone[at], come[other] = true, true
			d.pairs = append(d.pairs, pair{d.from.shown[at].Ref, d.to.shown[other].Ref})
		}
	}
	d.removed = slices.DeleteFunc(d.removed, func(at int32) bool { return gone[at] })
	d.added = slices.DeleteFunc(d.added, func(at int32) bool { return come[at] })
}

// hasTexts reports whether the page has structural elements, such as headings and texts.
func (l *laidOut) hasTexts() bool {
	return slices.ContainsFunc(l.nodes, func(n node) bool { return n.Kind == dom.Structural })
}

// alike groups elements by likeness, with the text of their whole row or only its first texts.
func (l *laidOut) alike(places []int32, whole bool) map[likeness][]int32 {
	out := make(map[likeness][]int32, len(places))
	records := map[int32]string{}
	for _, at := range places {
		what := likenessOf(l.shown[at])
		var row int32
		what.groups, row = l.around(at)
		switch text, known := records[row]; {
		case row < 0 && whole:
			what.record = l.neighbours(at)
		case row < 0: // only the neighbours show what it belongs to
			continue
		case known:
			what.record = text
		default:
			records[row] = l.textOf(row, whole)
			what.record = records[row]
		}
		if what.record == "" {
			continue
		}
		out[what] = append(out[what], at)
	}
	return out
}

func likenessOf(e *dom.Element) likeness {
	what := likeness{
		tag: e.Tag, role: e.Role, text: e.Text, href: e.Href, name: e.Name, typ: e.Type, value: e.Value, placeholder: e.Placeholder, hints: e.Hints,
		states: e.States, kind: e.Kind, level: e.Level, left: e.Left, valueLeft: e.ValueLeft, frame: e.Frame,
	}
	what.states.Focused = dom.Absent
	return what
}

// alikeBetween groups elements with names by the nearest elements and texts before and after that have unique names. It omits elements
// without such a neighbour.
func (l *laidOut) alikeBetween(places []int32) map[likeness][]int32 {
	called := func(e *dom.Element) string { return e.Role + "\x00" + e.Text + "\x00" + e.Href }
	count := map[string]int{}
	named := func(at int) bool {
		return l.nodes[at].Text != "" && (l.shown[at] != nil || l.nodes[at].Kind == dom.Structural)
	}
	for at := range l.nodes {
		if named(at) {
			count[called(l.nodes[at].Element)]++
		}
	}
	records := make([]string, len(l.nodes))
	note := func(nearest string, at int) string {
		records[at] += nearest + "\x00"
		if e := l.nodes[at].Element; named(at) && count[called(e)] == 1 {
			return called(e)
		}
		return nearest
	}
	before, behind := "", ""
	for at := range l.shown {
		before = note(before, at)
	}
	for at := len(l.shown) - 1; at >= 0; at-- {
		behind = note(behind, at)
	}
	out := make(map[likeness][]int32, len(places))
	for _, at := range places {
		what := likenessOf(l.shown[at])
		if what.record = records[at]; what.text == "" || what.record == "\x00\x00" {
			continue
		}
		var row int32
		if what.groups, row = l.around(at); row >= 0 && l.hasTexts() {
			continue // the texts of its row decide
		}
		out[what] = append(out[what], at)
	}
	return out
}

// around returns the names of the groups around an element, and the innermost row, list item or card, or -1 if there is none.
func (l *laidOut) around(at int32) (groups string, row int32) {
	row = -1
	for up := l.nodes[at].parent; up >= 0; up = l.nodes[up].parent {
		e := l.nodes[up].Element
		if row < 0 && isRecord(e) {
			row = up
		}
		if word := landmarkWord(e); word != "" && !isLive(e.Role) {
			groups += word + "\x00" + e.Text + "\x00"
		}
	}
	return groups, row
}

// textOf returns all text in an element, or its first two texts of structural elements.
func (l *laidOut) textOf(at int32, whole bool) string {
	var b strings.Builder
	n := 0
	for j := at; j < l.nodes[at].end && (whole || n < 2); j++ {
		e := &l.nodes[j]
		if whole {
			b.WriteString(e.Tag + "\x00" + e.Text + "\x00")
		} else if e.Kind == dom.Structural && j > at && e.Text != "" {
			b.WriteString(e.Text + "\x00")
			n++
		}
	}
	if !whole && n < 2 {
		return "" // not enough to distinguish rows
	}
	return b.String()
}

// neighbours returns the texts of the nearest structural elements before and after an element.
func (l *laidOut) neighbours(at int32) string {
	before, behind := "", ""
	for j := at - 1; j >= 0 && before == ""; j-- {
		if l.nodes[j].Kind == dom.Structural && l.nodes[j].end <= at {
			before = l.nodes[j].Text
		}
	}
	for j := l.nodes[at].end; int(j) < len(l.nodes) && behind == ""; j++ {
		if l.nodes[j].Kind == dom.Structural {
			behind = l.nodes[j].Text
		}
	}
	return before + "\x00" + behind
}

// appendRedrawn appends the line of the elements that were replaced by equal ones. `281-313 → 325-357` means that ref 281 is now 325, 282
// is 326, and so on, for the refs in the views.
func (d *differ) appendRedrawn() {
	if len(d.pairs) == 0 {
		return
	}
	d.dst = strconv.AppendInt(append(d.dst, "= "...), int64(len(d.pairs)), 10)
	d.dst = append(d.dst, " redrawn unchanged: refs"...)
	old, now := ranks(d.from.at), ranks(d.to.at)
	for i := 0; i < len(d.pairs); {
		j := i + 1
		for ; j < len(d.pairs); j++ {
			a, b := d.pairs[j-1], d.pairs[j]
			if b.old-a.old != b.now-a.now || old[b.old] != old[a.old]+1 || now[b.now] != now[a.now]+1 {
				break
			}
		}
		if i > 0 {
			d.dst = append(d.dst, ',')
		}
		first, last := d.pairs[i], d.pairs[j-1]
		d.dst = appendRange(append(d.dst, ' '), first.old, last.old)
		d.dst = appendRange(append(d.dst, " → "...), first.now, last.now)
		i = j
	}
	d.dst = append(d.dst, '\n')
}

// ranks maps refs to their ranks in ascending order.
func ranks(places map[dom.Ref]int32) map[dom.Ref]int {
	out := make(map[dom.Ref]int, len(places))
	for i, ref := range slices.Sorted(maps.Keys(places)) {
		out[ref] = i
	}
	return out
}

func appendRange(dst []byte, first, last dom.Ref) []byte {
	dst = strconv.AppendUint(dst, uint64(first), 10)
	if last != first {
		dst = strconv.AppendUint(append(dst, '-'), uint64(last), 10)
	}
	return dst
}
