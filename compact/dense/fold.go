package dense

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

const (
	// minFolded is how many lines of one pattern become one.
	minFolded = 5
	// maxNumbers is how many numbers of a name may differ within a pattern.
	maxNumbers = 4
	// maxPieces is how many ranges of refs a line has.
	maxPieces = 16
	// maxOthers is how many of the elements of a line may be in other states, of maxDetails kinds.
	maxOthers, maxDetails = 24, 3
)

// entry is the line of an element, and what elements of one pattern have in common.
type entry struct {
	m item
	// was has what the element was; nil: it is new, or gone.
	was *changedItem
	// like is the same for all of a pattern, and detail for those of them in one state.
	like, detail string
	// numbers are those of the name, the context, and the name and the context before, in this order.
	numbers []string
}

// newEntry makes the entry of an element, and of what it was.
func newEntry(m item, was *changedItem) entry {
	e := entry{m: m, was: was, detail: string(m.appendDetail(nil, true))}
	add := func(text string) {
		pattern, numbers := patternOf(text)
		e.like += pattern + "\x01"
		e.numbers = append(e.numbers, numbers...)
	}
	add(m.Text)
	add(m.which)
	e.like += m.Role + "\x01" + m.target + "\x01" + strconv.FormatBool(m.Covered) + strconv.FormatBool(m.whichLeft > 0)
	if m.around != dom.NoRef {
		e.like += strconv.Itoa(m.node) // stands alone
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

// patternOf cuts the numbers out of a text. A text with many numbers is its own pattern.
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

// ofOneLine is what has one line: a board, several entries of one pattern, or one entry.
type ofOneLine struct {
	entries []entry
	board   *board
}

// fold groups entries, in the order of their first ones: boards, and those of one pattern.
func fold(all []entry) (out []ofOneLine) {
	var rest []entry
	boards(all, func(b *board) { out = append(out, ofOneLine{b.entries, b}) }, func(some []entry) { rest = append(rest, some...) })
	for _, g := range byPattern(rest) {
		out = append(out, ofOneLine{entries: g})
	}
	slices.SortStableFunc(out, func(a, b ofOneLine) int { return cmp.Compare(a.entries[0].m.node, b.entries[0].m.node) })
	return out
}

// byPattern groups entries of one pattern. Groups that are too small are taken apart.
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

// byDetail takes a group apart unless almost all of it is in one state.
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

// usual returns the entries of a group in the state that most of them are in.
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

// others returns the entries of a group in other states than most, by state, in the order of their first ones.
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

// appendBriefly appends the lines of elements, those of one pattern as one, up to the limit, and one for the others.
func (d *differ) appendBriefly(mark string, l *laidOut, all []entry, limit int) {
	groups := fold(all)
	if mark == "- " {
		groups = d.appendClosed(l, groups)
	}
	for i, g := range groups {
		if limit > 0 && i >= limit {
			d.moreOf(mark, groups[i:])
			return
		}
		switch first := &g.entries[0]; {
		case g.board != nil:
			d.appendBoard(mark, g.board)
		case len(g.entries) > 1:
			d.appendGroup(mark, l, g.entries)
		case first.was != nil:
			d.appendChanged(first.was)
		default:
			d.dst = append(first.m.append(appendMark(d.dst, mark, &first.m)), '\n')
		}
	}
}

// moreOf appends how many elements have no line, and names of the first ones.
func (d *differ) moreOf(mark string, groups []ofOneLine) {
	var names []string
	n := 0
	for _, g := range groups {
		n += len(g.entries)
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

// appendClosed appends one line for the elements that are gone together with a board, as those of a calendar that was closed, and returns
// the groups that have no line yet.
func (d *differ) appendClosed(l *laidOut, groups []ofOneLine) (rest []ofOneLine) {
	stretches := l.stretches(groups)
	for i := 0; i < len(groups); {
		j, hasBoard := i, false
		for ; j < len(groups) && stretches[j] == stretches[i]; j++ {
			hasBoard = hasBoard || groups[j].board != nil
		}
		if hasBoard && j > i+1 {
			d.moreOf("- ", groups[i:j])
		} else {
			rest = append(rest, groups[i:j]...)
		}
		i = j
	}
	return rest
}

// stretches numbers groups of elements that are gone, so that those with nothing between them that stays have the same number.
func (l *laidOut) stretches(groups []ofOneLine) []int {
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

// appendGroup appends one line for the elements of a pattern:
//
//   - [62…158] ×97 Keep scrolling! 97…1% to go… (button)
//   - [161…224] 8×8 (generic) but [161, 166, 173] (generic ~blue)
//     ~ [30…39] ×10 Seat 1…10 (button disabled) ← (button)
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

// appendFolded appends the refs of a group, how many there are, and what they have in common, with what is printed of their numbers. rows
// below 2 are none.
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
	dst = m.appendBody(dst)
	joint := " but "
	for _, g := range others(group) {
		dst = append(appendPieces(append(dst, joint...), g), g[0].detail...)
		joint = ", "
	}
	return dst
}

// appendBoard appends one line for a board, and how its elements were named. Of one that is gone it says no more than that.
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

// oldNames returns the names that the elements of a board had, or that of the first if they were no board.
func (b *board) oldNames() string {
	var was []entry
	for _, e := range b.entries {
		was = append(was, newEntry(e.was.was, nil))
	}
	if old := boardOf(was); old != nil && len(old.entries) == len(was) {
		return old.names
	}
	return was[0].m.Text + untilDate
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

// numberRanges returns what is printed of the numbers of a group: those that are the same, and of others from where to where they go.
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

// isSequence reports whether a number goes up, or down, from each element of a group to the next by the same step, or stays.
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

// compareNumbers compares digits by what they stand for.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// numbered puts numbers in place of those of a text, and takes them from the list.
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

// grid returns how many rows of how many elements a group is made of; 0: it is none. A row ends where the next element stands further
// out in the tree than others in a row.
func (l *layout) grid(group []entry) (rows, columns int) {
	outer := make([]int, len(group)) // how far out each element leaves what it shares with the one before
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

// appendRefs appends the refs of elements in one bracket: `[3…9]`, `[3, 4, 8…12]`, or in equal steps `[3, 5…9]`. How many there are, which
// is said behind it, tells which.
func appendRefs(dst []byte, group []entry) []byte {
	last := len(group) - 1
	if step := stepOf(group); step < 2 || last < 3 {
		return appendPieces(dst, group)
	}
	dst = appendRef(append(dst, '['), group[0])
	dst = appendRef(append(dst, ", "...), group[1])
	return append(appendRef(append(dst, part.Ellipsis...), group[last]), ']')
}

// appendPieces appends the refs of elements in one bracket, those that follow each other as one range.
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

// stepOf returns what leads from each ref of a group to the next; 0: not the same everywhere.
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
