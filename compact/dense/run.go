package dense

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// A run is a sequence of consecutive elements on a page that differ only in their refs and in numbers with equal steps; a few may be in
// another state. A brief page has one line for a run, which is equivalent to a line for each element: Parse returns the same elements.

const (
	// maxRunPieces limits how many ranges of refs the line of a run has.
	maxRunPieces = 8
	// maxRunLength limits the number of elements in a run, because they are examined again for each element that starts no run.
	maxRunLength = 400
)

// foldRun appends the elements of one kind that start at a node, with each run as one line, and returns the next node. It returns the node
// itself if it starts no run.
func (l *layout) foldRun(i int) (next int) {
	if !l.brief {
		return i
	}
	if next := l.foldBoard(i); next > i {
		return next
	}
	if !l.beginsAlike(i) {
		return i
	}
	alike := l.alike(i)
	if len(alike) < minFolded {
		return i
	}
	for len(alike) > 0 {
		next = alike[0].m.node
		l.leave(next)
		n, columns := runOf(alike, true)
		if n < minFolded {
			l.element(next)
			n = 1
		} else {
			l.appendRun(alike[:n], columns)
		}
		next = alike[n-1].m.node + 1
		alike = alike[n:]
	}
	return next
}

// beginsAlike reports whether the elements after a node look like it. This check is cheaper than creating their entries.
func (l *layout) beginsAlike(i int) bool {
	n := 1
	for j := i + 1; j < len(l.nodes) && n < minFolded; j++ {
		if e := l.shown[j]; e != nil {
			if e.Role != l.shown[i].Role || !equalButNumbers(e.Text, l.shown[i].Text) {
				return false
			}
			n++
		}
	}
	return n == minFolded
}

// equalButNumbers reports whether two texts are equal apart from their digits.
func equalButNumbers(a, b string) bool {
	words := func(s string) string { return strings.TrimLeft(s, "0123456789") }
	for {
		if a, b = words(a), words(b); a == "" || b == "" {
			return a == b
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// alike returns the entries of the elements of one kind that start at a node, with no other line between them.
func (l *layout) alike(i int) (all []entry) {
	for j := i; j < len(l.nodes); j++ {
		if l.shown[j] == nil {
			if l.hasLine(j) {
				break
			}
			continue
		}
		m := l.item(j)
		if l.needsContext(j) {
			l.addContext(&m)
		}
		e, plain := l.plainEntry(m)
		if !plain || l.group[j] != l.group[i] || len(all) > 0 && e.like != all[0].like {
			break
		}
		all = append(all, e)
	}
	return all
}

// hasLine reports whether a node that is not shown has a line, or causes one before the next element.
func (l *layout) hasLine(i int) bool {
	e := &l.nodes[i]
	return e.context && l.mention != MentionNone && e.Kind != dom.Interactive && !l.isShownAround(i) &&
		(e.Role == "heading" || e.Role == "row" || landmarkWord(e.Element) != "")
}

// plainEntry returns the entry of an element, and whether it may be in a run: it contains no elements, and its line can be restored from
// the line of a run.
func (l *layout) plainEntry(m item) (e entry, plain bool) {
	if m.Kind != dom.Interactive || l.below[m.node] > 0 || l.level(m.node) > 0 {
		return e, false
	}
	if !isPlain(&m) {
		return e, false
	}
	return newEntry(m, nil), true
}

// isPlain reports whether the line of an element can be restored from the line of a run.
func isPlain(m *item) bool {
	return m.around == dom.NoRef && m.target == "" && m.Left == 0 && !hasPrintedValue(m.Element) &&
		!strings.Contains(m.Text+m.which, part.Ellipsis) && utf8.RuneCountInString(m.Text) < part.MaxText && utf8.RuneCountInString(m.which) < maxContext
}

// runOf returns how many of the first entries form a run, and the number of columns if their names show rows, or else 0. If mixed is set,
// some of them may be in other states.
func runOf(all []entry, mixed bool) (n, columns int) {
	all = all[:min(len(all), maxRunLength)]
	all = all[:inOneState(all, mixed)]
	all = all[:listed(all)]
	n = countOn(all)
	if rows, columns := countInRows(all); rows*columns > n {
		return rows * columns, columns
	}
	return n, 0
}

// inOneState returns how many of the first entries are in the state of the first, with a few exceptions if mixed is set.
func inOneState(all []entry, mixed bool) int {
	same := 0
	for same < len(all) && all[same].detail == all[0].detail {
		same++
	}
	if !mixed || same == len(all) {
		return same
	}
	n, others, details := same, 0, []string{all[0].detail}
	for ; n < len(all) && others < maxPieces; n++ {
		if all[n].detail != all[0].detail {
			others++
		}
		if !slices.Contains(details, all[n].detail) {
			if details = append(details, all[n].detail); len(details) > maxDetails+1 {
				break
			}
		}
	}
	for n > same && all[n-1].detail != all[0].detail {
		n--
	}
	if !isFolded(byDetail(all[:n])) {
		return same
	}
	return n
}

func isFolded(groups [][]entry) bool { return len(groups) == 1 && len(groups[0]) > 1 }

// listed returns how many of the first entries have refs that a line can list.
func listed(all []entry) int {
	if len(all) < 2 || all[1].m.Ref < all[0].m.Ref {
		return min(len(all), 1)
	}
	stepped, step := 1, all[1].m.Ref-all[0].m.Ref
	for stepped < len(all) && all[stepped].m.Ref == all[stepped-1].m.Ref+step {
		stepped++
	}
	n, pieces := 1, 1
	for ; n < len(all) && all[n].m.Ref > all[n-1].m.Ref; n++ {
		if all[n].m.Ref != all[n-1].m.Ref+1 {
			if pieces++; pieces > maxRunPieces {
				break
			}
		}
	}
	return max(n, stepped)
}

// countOn returns how many of the first entries have numbers that are constant or increase by equal steps.
func countOn(all []entry) int {
	if len(all) < 2 {
		return len(all)
	}
	for k := 1; k < len(all); k++ {
		for i := range all[0].numbers {
			if all[k].numbers[i] != countedFrom(all[0].numbers[i], all[1].numbers[i], k) {
				return k
			}
		}
	}
	return len(all)
}

// countInRows returns the rows and columns that the first entries form, if one number is constant within a row and increases from row to
// row, and a later number increases in the same way within each row. Otherwise it returns 0, 0.
func countInRows(all []entry) (rows, columns int) {
	if len(all) < minFolded {
		return 0, 0
	}
	column := firstDifference(all[0].numbers, all[1].numbers)
	if column < 1 {
		return 0, 0
	}
	for columns = 2; columns < len(all) && all[columns].numbers[column] != all[0].numbers[column]; columns++ {
	}
	if 2*columns > len(all) {
		return 0, 0
	}
	row := firstDifference(all[0].numbers, all[columns].numbers)
	if row < 0 || row >= column {
		return 0, 0
	}
	n := 0
	for ; n < len(all); n++ {
		for i, number := range all[n].numbers {
			want := all[0].numbers[i]
			switch i {
			case row:
				want = countedFrom(want, all[columns].numbers[i], n/columns)
			case column:
				want = countedFrom(want, all[1].numbers[i], n%columns)
			}
			if number != want {
				return wholeRows(n, columns)
			}
		}
	}
	return wholeRows(n, columns)
}

func wholeRows(n, columns int) (rows, _ int) {
	if n < 2*columns {
		return 0, 0
	}
	return n / columns, columns
}

// firstDifference returns the index of the first difference between two lists of numbers, or -1 if there is none.
func firstDifference(a, b []string) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// countedFrom returns the k-th number of a sequence that starts with first and second and has equal steps, with the same leading zeros. It
// returns an empty string if there is none.
func countedFrom(first, second string, k int) string {
	if first == second || k == 0 {
		return first
	}
	a, wrongA := strconv.Atoi(first)
	b, wrongB := strconv.Atoi(second)
	if wrongA != nil || wrongB != nil {
		return ""
	}
	return padded(a+k*(b-a), first)
}

// padded formats a number with the leading zeros of another one. It returns an empty string if n is negative.
func padded(n int, first string) string {
	if n < 0 {
		return ""
	}
	text := strconv.Itoa(n)
	if first[0] == '0' && len(first) > len(text) {
		text = strings.Repeat("0", len(first)-len(text)) + text
	}
	return text
}

// appendRun appends the line of a run.
func (l *layout) appendRun(run []entry, columns int) {
	l.surround()
	l.beginLine(run[0].m.Covered)
	rows := 0
	if columns > 0 {
		rows = len(run) / columns
	} else if varying(run) < 2 { // with two, the first would count rows
		rows, columns = l.grid(run)
	}
	l.dst = append(appendFolded(l.dst, run, rows, columns, firstToLast(run)), '\n')
}

// varying returns how many numbers differ within a run.
func varying(run []entry) (n int) {
	for i, number := range run[0].numbers {
		if number != run[1].numbers[i] {
			n++
		}
	}
	return n
}

// firstToLast returns the printed texts for the numbers of a run.
func firstToLast(run []entry) []string {
	out := slices.Clone(run[0].numbers)
	for i, last := range run[len(run)-1].numbers {
		if out[i] != last {
			out[i] += part.Ellipsis + last
		}
	}
	return out
}

// runOfCells returns the run of the first cells of a row that contain only one element each, or nil if there is no run.
func (l *layout) runOfCells(cells []cell) (run []entry) {
	if !l.brief {
		return nil
	}
	for _, c := range cells {
		if len(c.items) != 1 || rest(c.words, c.items) != "" {
			break
		}
		e, plain := l.plainEntry(c.items[0])
		if !plain || len(run) > 0 && e.like != run[0].like {
			break
		}
		run = append(run, e)
	}
	if len(run) < minFolded {
		return nil
	}
	n, columns := runOf(run, false)
	if n < minFolded || columns > 0 {
		return nil
	}
	return run[:n]
}
