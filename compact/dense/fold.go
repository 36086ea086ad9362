package dense

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

const (
	// minFolded is the minimum number of lines of one pattern that are folded into one.
	minFolded = 5
	// maxNumbers limits how many numbers of a name may differ within a pattern.
	maxNumbers = 4
	// maxPieces limits how many ranges of refs a line has.
	maxPieces = 16
	// maxOthers limits how many elements of a line may be in other states, and maxDetails the number of these states.
	maxOthers, maxDetails = 24, 3
)

// entry is the line of an element, with its common parts for comparison.
type entry struct {
	m item
	// was is the old state of a changed element. It is nil for an added or removed element.
	was *changedItem
	// like is equal for all elements of a pattern, and detail for those in the same state.
	like, detail string
	// numbers are the numbers in the name, the context, the old name and the old context, in this order.
	numbers []string
}

// newEntry creates the entry of an element and of its old state.
func newEntry(m item, was *changedItem) entry {
	e := entry{m: m, was: was, detail: string(m.appendDetail(nil, true))}
	add := func(text string) {
		pattern, numbers := patternOf(text)
		e.like += pattern + "\x01"
		e.numbers = append(e.numbers, numbers...)
	}
	add(m.Text)
	add(m.which)
	e.like += m.Role + "\x01" + m.target + "\x01" + strconv.FormatBool(m.Covered)
	if m.around != dom.NoRef {
		e.like += strconv.Itoa(m.node) // is never folded
	}
	if was != nil {
		add(was.was.Text)
		add(was.was.which)
		e.like += e.detail + "\x01" + string(was.was.appendDetail(nil, true)) + was.was.target + "\x01"
		for _, differs := range []bool{was.name, was.target, was.detail, was.record} {
			e.like += strconv.FormatBool(differs)
		}
	}
	return e
}

// patternOf removes the numbers from a text. A text with too many numbers is its own pattern.
func patternOf(text string) (pattern string, numbers []string) {
	if strings.Contains(text, "\x00") {
		return text, nil
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		start := strings.IndexAny(rest, "0123456789")
		if start < 0 {
			b.WriteString(rest)
			break
		}
		end := start
		for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
			end++
		}
		b.WriteString(rest[:start] + "\x00")
		numbers = append(numbers, rest[start:end])
		rest = rest[end:]
	}
	if len(numbers) > maxNumbers {
		return text, nil
	}
	return b.String(), numbers
}

// lineContent is the content of one line: a board, rows of a table, several entries of one pattern, or one entry. In the result of boards, it
// is a board or a stretch of entries that still have to be divided into lines.
type lineContent struct {
	entries []entry
	board   *board
	// rows holds one row, or with isCount set rows that are only counted.
	rows    []int32
	isCount bool
	// isList reports that the entries differ in their names.
	isList bool
}

// fold groups entries into boards, rows and patterns, each in the order of their first entries. A few new elements have a line each if that of
// their pattern would not tell their names, such as prices.
func (d *differ) fold(mark string, l *laidOut, all []entry) (out []lineContent) {
	var rest []entry
	for _, some := range boards(all) {
		if some.board != nil {
			out = append(out, some)
		} else {
			rest = append(rest, some.entries...)
		}
	}
	rows, rest := d.rowContents(mark, l, rest)
	out = append(out, rows...)
	for _, g := range byPattern(rest) {
		if mark == "+ " && len(g) <= maxListed && !isCounted(g) {
			for _, e := range g {
				out = append(out, lineContent{entries: []entry{e}})
			}
			continue
		}
		out = append(out, lineContent{entries: g})
	}
	slices.SortStableFunc(out, func(a, b lineContent) int { return cmp.Compare(a.entries[0].m.node, b.entries[0].m.node) })
	return out
}

// byPattern groups entries by pattern. Groups that are too small are split into single entries.
func byPattern(all []entry) (out [][]entry) {
	var groups [][]entry
	at := map[string]int{}
	for _, e := range all {
		i, known := at[e.like]
		if !known {
			i = len(groups)
			at[e.like] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	for _, g := range groups {
		out = append(out, byDetail(g)...)
	}
	return out
}

// byDetail splits a group unless almost all of its entries are in the same state.
func byDetail(group []entry) (out [][]entry) {
	if len(group) >= minFolded && len(others(group)) <= maxDetails && len(group)-len(usual(group)) <= min(maxOthers, len(group)/2) {
		return [][]entry{group}
	}
	rest := group
	for len(rest) >= minFolded {
		most := usual(rest)
		if len(most) < minFolded {
			break
		}
		out = append(out, most)
		rest = slices.DeleteFunc(slices.Clone(rest), func(e entry) bool { return e.detail == most[0].detail })
	}
	for _, e := range rest {
		out = append(out, []entry{e})
	}
	return out
}

// usual returns the entries of a group that are in its most frequent state.
func usual(group []entry) []entry {
	count := map[string]int{}
	best := group[0].detail
	for _, e := range group {
		count[e.detail]++
	}
	for _, e := range group {
		if count[e.detail] > count[best] {
			best = e.detail
		}
	}
	return slices.DeleteFunc(slices.Clone(group), func(e entry) bool { return e.detail != best })
}

// others returns the entries of a group that are in other states, grouped by state, in the order of their first entries.
func others(group []entry) (out [][]entry) {
	most := usual(group)[0].detail
	at := map[string]int{}
	for _, e := range group {
		if e.detail == most {
			continue
		}
		i, known := at[e.detail]
		if !known {
			i = len(out)
			at[e.detail] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	return out
}

// appendBriefly appends the lines of elements, folded by pattern, up to the limit, and one line for the rest.
func (d *differ) appendBriefly(mark string, l *laidOut, all []entry, limit int) {
	groups := d.fold(mark, l, all)
	switch mark {
	case "+ ":
		groups = joinLists(groups)
	case "- ":
		if groups = d.appendClosed(l, groups); len(groups) > limit {
			d.moreOf(mark, groups)
			return
		}
	}
	for i := 0; i < len(groups); i++ {
		if limit > 0 && i >= limit {
			d.moreOf(mark, groups[i:])
			return
		}
		if line := l.lineOf(groups[i:]); len(line) > 1 {
			d.dst = append(appendLine(appendMark(d.dst, mark, &line[0]), line, &said{}), '\n')
			i += len(line) - 1
			continue
		}
		switch g := groups[i]; {
		case g.board != nil:
			d.appendBoard(mark, g.board)
		case g.rows != nil:
			d.appendRowContent(mark, l, g)
		case g.isList:
			d.appendList(mark, g.entries)
		case len(g.entries) > 1:
			d.appendGroup(mark, l, g.entries)
		case g.entries[0].was != nil:
			d.appendChanged(g.entries[0].was)
		default:
			m := &g.entries[0].m
			d.dst = append(m.append(appendMark(d.dst, mark, m)), '\n')
		}
	}
}

// lineOf returns the elements at the beginning of groups that a page would have in one line.
func (l *laidOut) lineOf(groups []lineContent) (line []item) {
	width := 0
	for _, g := range groups {
		if g.board != nil || g.rows != nil || len(g.entries) > 1 || g.entries[0].was != nil {
			break
		}
		m := g.entries[0].m
		width += utf8.RuneCount(m.append(nil))
		if isLong(&m) || len(line) > 0 && (width > maxRun || m.Covered != line[0].Covered || l.group[m.node] != l.group[line[0].node]) {
			break
		}
		line = append(line, m)
	}
	return line
}

// countElements returns how many elements entries represent: an element that only contains another one shares its entry.
func countElements(entries []entry) int {
	n := len(entries)
	for _, e := range entries {
		if e.m.around != dom.NoRef {
			n++
		}
	}
	return n
}

// moreOf appends the number of elements without a line, and the names of the first ones.
func (d *differ) moreOf(mark string, groups []lineContent) {
	var names []string
	n := 0
	for _, g := range groups {
		n += countElements(g.entries)
		name := g.entries[0].m.Text
		if g.board != nil {
			name = g.board.names
		}
		if mark != "~ " && hasWords(name) && len(names) < maxNamed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	d.more(mark, n, names...)
}

// appendClosed appends one line for many elements that were removed from one place, such as the content of a closed dialog, and for elements
// that were removed together with a board, such as a calendar. It returns the groups that have no line yet.
func (d *differ) appendClosed(l *laidOut, groups []lineContent) (rest []lineContent) {
	stretches := l.stretches(groups)
	var counted []lineContent
	for i := 0; i < len(groups); {
		j, hasBoard := i, false
		for ; j < len(groups) && stretches[j] == stretches[i]; j++ {
			hasBoard = hasBoard || groups[j].board != nil
		}
		if hasBoard && j > i+1 || j-i > maxTogether {
			counted = append(counted, groups[i:j]...)
		} else {
			rest = append(rest, groups[i:j]...)
		}
		i = j
	}
	if len(counted) > 0 {
		d.moreOf("- ", counted)
	}
	return rest
}

// stretches numbers groups of removed elements. Groups have the same number if no surviving element is between them.
func (l *laidOut) stretches(groups []lineContent) []int {
	at := map[int]int{}
	for i, g := range groups {
		for _, e := range g.entries {
			at[e.m.node] = i
		}
	}
	out, n := make([]int, len(groups)), 0
	for i, e := range l.shown {
		if g, gone := at[i]; gone {
			out[g] = n
		} else if e != nil && !l.isHolder(i) {
			n++
		}
	}
	return out
}

// appendGroup appends one line for the elements of a pattern, such as
// "+ [62…158] ×97 Keep scrolling! 97…1% to go… (button)",
// "+ [161…224] 8×8 (generic) but [161, 166, 173] (generic ~blue)", or
// "~ [30…39] ×10 Seat 1…10 (button disabled) ← (button)".
func (d *differ) appendGroup(mark string, l *laidOut, group []entry) {
	first, numbers := usual(group)[0], numberRanges(group)
	rows, columns := l.grid(group)
	d.dst = appendFolded(appendMark(d.dst, mark, &first.m), group, rows, columns, numbers)
	if first.was != nil {
		was := *first.was
		numbers = numbers[len(numbersOf(first.m.Text))+len(numbersOf(first.m.which)):]
		was.was.Element = renamed(was.was.Element, numbered(was.was.Text, &numbers))
		was.was.which = numbered(was.was.which, &numbers)
		d.appendOld(&was)
	}
	d.dst = append(d.dst, '\n')
}

// appendFolded appends the refs of a group, their count and what the elements have in common, with numbers in place of their own. If rows
// is less than 2, the elements are not in rows.
func appendFolded(dst []byte, group []entry, rows, columns int, numbers []string) []byte {
	m := usual(group)[0].m
	m.Element = renamed(m.Element, numbered(m.Text, &numbers))
	if slices.ContainsFunc(group, func(e entry) bool { return e.m.Left != m.Left }) {
		m.Left = 0
	}
	m.which = numbered(m.which, &numbers)
	dst = append(appendRefs(dst, group), ' ')
	if rows > 1 {
		dst = strconv.AppendInt(append(strconv.AppendInt(dst, int64(rows), 10), "×"...), int64(columns), 10)
	} else {
		dst = strconv.AppendInt(append(dst, "×"...), int64(len(group)), 10)
	}
	return appendOthers(m.appendBody(dst), group)
}

// appendOthers appends the entries of a group whose roles and states are not the usual ones.
func appendOthers(dst []byte, group []entry) []byte {
	joint := " but "
	for _, g := range others(group) {
		dst = append(appendPieces(append(dst, joint...), g), g[0].detail...)
		joint = ", "
	}
	return dst
}

// appendBoard appends one line for a board and the old names of its elements. For a removed board, it omits how its elements differ.
func (d *differ) appendBoard(mark string, b *board) {
	d.dst = appendMark(d.dst, mark, &b.entries[0].m)
	if mark == "- " {
		b.kinds = slices.Repeat([]string{mostOf(b.kinds)}, len(b.kinds))
	}
	d.dst = b.append(d.dst)
	if b.entries[0].was != nil {
		d.dst = append(d.dst, " ←"...)
		d.dst = appendSpaced(d.dst, b.oldNames(), 2*part.MaxText, "", 0)
	}
	d.dst = append(d.dst, '\n')
}

// oldNames returns the earlier names of the elements of a board. If these do not form a board, it returns the first and the last one.
func (b *board) oldNames() string {
	var was []entry
	for _, e := range b.entries {
		was = append(was, newEntry(e.was.was, nil))
	}
	if old := boardOf(was); old != nil && len(old.entries) == len(was) {
		return old.names
	}
	return was[0].m.Text + untilDate + was[len(was)-1].m.Text
}

func numbersOf(text string) []string {
	_, numbers := patternOf(text)
	return numbers
}

// renamed returns an element with another name.
func renamed(e *dom.Element, name string) *dom.Element {
	other := *e
	other.Text = name
	return &other
}

// numberRanges returns the texts for the numbers of a group: a number that is the same everywhere, or a range from the first to the last.
func numberRanges(group []entry) []string {
	out := make([]string, len(group[0].numbers))
	for i := range out {
		first, last := group[0].numbers[i], group[len(group)-1].numbers[i]
		if !isSequence(group, i) {
			for _, e := range group {
				first, last = lesser(first, e.numbers[i]), greater(last, e.numbers[i])
			}
		}
		if out[i] = first; first != last {
			out[i] += part.Ellipsis + last
		}
	}
	return out
}

// isCounted reports whether the line of a group tells the number in each of its elements.
func isCounted(group []entry) bool {
	for i := range group[0].numbers {
		if len(group) > 1 && !isSequence(group, i) {
			return false
		}
	}
	return true
}

// isSequence reports whether a number changes by the same step, possibly 0, from each element of a group to the next.
func isSequence(group []entry, i int) bool {
	at := func(k int) int { n, _ := strconv.Atoi(group[k].numbers[i]); return n }
	step := at(1) - at(0)
	for k := 1; k < len(group); k++ {
		if at(k)-at(k-1) != step {
			return false
		}
	}
	return true
}

func lesser(a, b string) string {
	if compareNumbers(a, b) <= 0 {
		return a
	}
	return b
}

func greater(a, b string) string {
	if compareNumbers(a, b) >= 0 {
		return a
	}
	return b
}

// compareNumbers compares two strings of digits by value.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// numbered replaces the numbers in a text by the first ones of a list, and removes them from the list.
func numbered(text string, numbers *[]string) string {
	pattern, own := patternOf(text)
	if len(own) == 0 {
		return text
	}
	var b strings.Builder
	for i, words := range strings.Split(pattern, "\x00") {
		if i > 0 {
			b.WriteString((*numbers)[i-1])
		}
		b.WriteString(words)
	}
	*numbers = (*numbers)[len(own):]
	return b.String()
}

// grid returns the number of rows and columns that a group forms, or 0 if it forms no grid. A row ends where the closest common ancestor
// with the next element is further out than within a row.
func (l *layout) grid(group []entry) (rows, columns int) {
	outer := make([]int, len(group)) // how far out the closest common ancestor with the previous element is
	inner := 0
	for i := 1; i < len(group); i++ {
		outer[i] = l.nodes[group[i].m.node].Join
		for j := group[i-1].m.node + 1; j < group[i].m.node; j++ {
			outer[i] = min(outer[i], l.nodes[j].Join)
		}
		inner = max(inner, outer[i])
	}
	for i := 1; i < len(group); i++ {
		if outer[i] == inner {
			continue
		}
		if columns == 0 {
			columns = i
		}
		if i%columns != 0 || outer[i] != outer[columns] {
			return 0, 0
		}
	}
	if columns < 2 || len(group)%columns != 0 {
		return 0, 0
	}
	for i := columns; i < len(group); i += columns {
		if outer[i] == inner {
			return 0, 0
		}
	}
	return len(group) / columns, columns
}

// appendRefs appends the refs of elements in one bracket: `[3…9]`, `[3, 4, 8…12]`, or in equal steps `[3, 5…9]`. The count that follows
// makes the form unambiguous.
func appendRefs(dst []byte, group []entry) []byte {
	last := len(group) - 1
	if step := stepOf(group); step < 2 || last < 3 {
		return appendPieces(dst, group)
	}
	dst = appendRef(append(dst, '['), group[0])
	dst = appendRef(append(dst, ", "...), group[1])
	return append(appendRef(append(dst, part.Ellipsis...), group[last]), ']')
}

// appendPieces appends the refs of elements in one bracket, with consecutive refs as a range.
func appendPieces(dst []byte, group []entry) []byte {
	dst = append(dst, '[')
	last := len(group) - 1
	for i, pieces := 0, 1; i <= last; pieces++ {
		j := i
		for j < last && group[j+1].m.Ref == group[j].m.Ref+1 {
			j++
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if pieces == maxPieces && j < last {
			dst, i, j = append(append(dst, part.Ellipsis...), ' '), last, last
		}
		dst = appendRef(dst, group[i])
		switch {
		case j-i > 1:
			dst = appendRef(append(dst, part.Ellipsis...), group[j])
		case j-i == 1:
			dst = appendRef(append(dst, ", "...), group[j])
		}
		i = j + 1
	}
	return append(dst, ']')
}

func appendRef(dst []byte, e entry) []byte { return strconv.AppendUint(dst, uint64(e.m.Ref), 10) }

// stepOf returns the step between the refs of a group, or 0 if the steps differ.
func stepOf(group []entry) dom.Ref {
	if len(group) < 2 || group[1].m.Ref < group[0].m.Ref {
		return 0
	}
	step := group[1].m.Ref - group[0].m.Ref
	for k := 1; k < len(group); k++ {
		if group[k].m.Ref != group[k-1].m.Ref+step {
			return 0
		}
	}
	return step
}
