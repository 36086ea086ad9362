package dense

import (
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
)

// foldBoard appends the board that starts at a node, which is an element or a row, and returns the next node. It returns the node itself if
// no board starts at it.
func (l *layout) foldBoard(i int) (next int) {
	if !l.brief {
		return i
	}
	if l.shown[i] == nil {
		return l.foldRows(i)
	}
	if i >= l.boardsTo && l.mayBeginBoard(i) {
		all, to := l.onBoard(i)
		l.boards, l.boardsTo = map[int]*board{}, max(to, i+1)
		for _, some := range boards(all) {
			l.boards[some.entries[0].m.node] = some.board
		}
	}
	b := l.boards[i]
	if b == nil {
		return i
	}
	last := b.entries[len(b.entries)-1].m.node + 1
	if n, _ := runOf(l.alike(i), true); n >= len(b.entries) {
		return i // a run covers at least as much
	}
	l.appendBoard(b)
	return last
}

// foldRows appends the boards in the rows that start at a node, if that takes fewer lines.
func (l *layout) foldRows(i int) (next int) {
	all, next := l.onBoard(i)
	if len(all) < minBoard {
		return i
	}
	rows, lines := 0, 0
	for j := i; j < next; j++ {
		if l.isRow(j) {
			rows++
		}
	}
	found := boards(all)
	for _, some := range found {
		if lines++; some.board == nil {
			lines += len(some.entries) / minBoard
		}
	}
	if len(all) < 2*rows || lines > rows || lines == rows && !isDated(found) { // a row with one element is a record, not a part of a board
		return i
	}
	for _, some := range found {
		if some.board != nil {
			l.appendBoard(some.board)
			continue
		}
		for _, e := range some.entries {
			l.leave(e.m.node)
			l.element(e.m.node)
		}
	}
	return next
}

// isDated reports whether entries form one board whose elements are named by dates.
func isDated(found []lineContent) bool {
	return len(found) == 1 && found[0].board != nil && strings.Contains(found[0].board.names, untilDate)
}

func (l *layout) appendBoard(b *board) {
	l.leave(b.entries[0].m.node)
	l.surround()
	l.beginLine(b.entries[0].m.Covered)
	l.dst = append(b.append(l.dst), '\n')
}

// mayBeginBoard reports whether the elements after a node have its role and names with numbers. This check is cheaper than creating their
// entries.
func (l *layout) mayBeginBoard(i int) bool {
	n := 0
	for j := i; j < len(l.nodes) && n < minBoard; j++ {
		if e := l.shown[j]; e != nil {
			if e.Role != l.shown[i].Role || !strings.ContainsAny(e.Text, "0123456789") {
				return false
			}
			n++
		}
	}
	return n == minBoard
}

// onBoard returns the entries of the elements, starting at a node, that may be in boards with each other, and the next node. They fill
// whole rows, or are in none, and belong to one group.
func (l *layout) onBoard(i int) (all []entry, next int) {
	whole, row := 0, -1 // the elements of complete rows, and the row that is not complete
	for j := i; ; j++ {
		if row < 0 || j >= int(l.nodes[row].end) {
			whole, next, row = len(all), j, -1
		}
		if j == len(l.nodes) || len(all) == maxRunLength {
			return all[:whole], next
		}
		switch e := l.shown[j]; {
		case e != nil:
			m := l.item(j)
			if row < 0 && l.needsContext(j) { // otherwise the header row distinguishes it
				l.addContext(&m)
			}
			one, plain := l.plainEntry(m)
			if !plain || !strings.ContainsAny(e.Text, "0123456789") || len(all) > 0 && (!isBeside(one, all[0]) || l.zone(j) != l.zone(all[0].m.node)) {
				return all[:whole], next
			}
			all = append(all, one)
		case l.isRow(j):
			row = j
		case l.hasLine(j) || row >= 0 && l.hasOwnWords(j):
			return all[:whole], next
		}
	}
}

// isRow reports whether a node is a row that has a line.
func (l *layout) isRow(i int) bool {
	return l.shown[i] == nil && l.nodes[i].Role == "row" && l.hasLine(i)
}

// hasOwnWords reports whether a node has a text that the elements beside it do not have. The number of a day or a week is no such text.
func (l *layout) hasOwnWords(i int) bool {
	e := &l.nodes[i]
	return e.context && int(e.end) == i+1 && e.Kind != dom.Interactive && !l.isShownAround(i) && hasWords(e.Text) && !isDayOrWeek(e.Text)
}

// isDayOrWeek reports whether a text is the number of a day in its month, or of a week in its year.
func isDayOrWeek(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= maxWeek
}

// maxWeek is the number of the last week of a long year.
const maxWeek = 53

// zone returns the group that contains a node, ignoring rows, or -1 if there is none.
func (l *layout) zone(i int) int32 {
	g := l.group[i]
	for g >= 0 && l.nodes[g].Role == "row" {
		g = l.group[g]
	}
	return g
}
