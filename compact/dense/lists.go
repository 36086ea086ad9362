package dense

import (
	"strconv"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
)

const (
	// maxListed limits how many new elements of a list are named. If there are more, the first printedNames are named.
	maxListed, printedNames = 20, 12
	// maxListName is the maximum length of the name of an element in a list, in characters.
	maxListName = 40
)

// joinLists makes lists of neighbouring new elements that differ only in their names, such as the options of a menu that opened. Their refs
// have equal steps, so that a reader can tell the ref of each name.
func joinLists(all []lineContent) (out []lineContent) {
	for len(all) > 0 {
		group := stepped(all)
		if n := max(len(group), 1); len(group) < minFolded || len(byDetail(group)) > 1 {
			out, all = append(out, all[:n]...), all[n:]
			continue
		}
		out, all = append(out, lineContent{entries: group, isList: true}), all[len(group):]
	}
	return out
}

// stepped returns the first elements as long as they differ only in their names and have refs in equal steps.
func stepped(all []lineContent) (group []entry) {
	for n := range all {
		if !all[n].isPlainName() {
			break
		}
		e := all[n].entries[0]
		if last := len(group) - 1; last >= 0 && (!sameButName(&group[0], &e) || e.m.Ref < group[last].m.Ref ||
			last > 0 && e.m.Ref-group[last].m.Ref != group[1].m.Ref-group[0].m.Ref) {
			break
		}
		group = append(group, e)
	}
	return group
}

// isPlainName reports whether the content is one new element with a short name and nothing else that tells it from others.
func (c *lineContent) isPlainName() bool {
	if len(c.entries) != 1 || c.board != nil || c.rows != nil {
		return false
	}
	m := &c.entries[0].m
	return isPlain(m) && m.which == "" && hasWords(m.Text) && utf8.RuneCountInString(m.Text) <= maxListName
}

func sameButName(a, b *entry) bool { return a.m.Role == b.m.Role && a.m.Covered == b.m.Covered }

// appendList appends the refs of a list, what the elements are, and their names, as in
// "+ [165…178] ×14 (menuitem) but [170] (menuitem disabled): Cut, Copy, Paste, Rename".
func (d *differ) appendList(mark string, group []entry) {
	d.dst = appendMark(d.dst, mark, &group[0].m)
	d.dst = append(appendRefs(d.dst, group), " ×"...)
	d.dst = usual(group)[0].m.appendDetail(strconv.AppendInt(d.dst, int64(len(group)), 10), false)
	d.dst = appendOthers(d.dst, group)
	n := len(group)
	if n > maxListed {
		n = printedNames
	}
	joint := ": "
	for i := range n {
		d.dst = part.AppendWords(append(d.dst, joint...), group[i].m.Text, part.MaxText, ",")
		joint = ", "
	}
	if n < len(group) {
		d.dst = append(strconv.AppendInt(append(d.dst, " … "...), int64(len(group)-n), 10), " more"...)
	}
	d.dst = append(d.dst, '\n')
}
