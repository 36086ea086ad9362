package dense

import (
	"bytes"
	"slices"
	"strings"

	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/plural"
)

const (
	// maxNewRows limits how many new rows of one table have lines. If there are more, the first printedRows have lines.
	maxNewRows, printedRows = 12, 10
	// fewInRow is the number of elements up to which a row is printed as a row although fewer lines could list its elements.
	fewInRow = 4
	// maxFirstRows limits how many rows of a reordered table have lines.
	maxFirstRows = 3
)

// tableRows holds the rows of one table that are new or were removed, and the entries of the elements in each of them.
type tableRows struct {
	table   int32
	rows    []int32
	entries [][]entry
}

// rowContents returns lines for the rows that consist only of the given added or removed entries. rest holds all other entries.
func (d *differ) rowContents(mark string, l *laidOut, all []entry) (out []lineContent, rest []entry) {
	if mark == "~ " {
		return nil, all
	}
	listed := make(map[int]bool, len(all))
	for _, e := range all {
		listed[e.m.node] = true
	}
	tables, rowOf := d.wholeRows(mark, l, listed, all)
	for _, t := range tables {
		if !l.readsAsRows(t) {
			for _, row := range t.rows {
				delete(rowOf, row)
			}
			continue
		}
		out = append(out, d.linesOf(mark, t)...)
	}
	for _, e := range all {
		if row := l.rowAround(e.m.node); row < 0 || !rowOf[row] {
			rest = append(rest, e)
		}
	}
	return out, rest
}

// wholeRows returns, by table, the rows whose elements are all listed and of which the other page has no version.
func (d *differ) wholeRows(mark string, l *laidOut, listed map[int]bool, all []entry) (tables []*tableRows, rowOf map[int32]bool) {
	other := d.to
	if mark == "+ " {
		other = d.from
	}
	lives := make(map[dom.Ref]bool, len(other.nodes))
	for i := range other.nodes {
		lives[other.nodes[i].Ref] = true
	}
	rowOf = map[int32]bool{}
	byTable := map[int32]*tableRows{}
	for _, e := range all {
		row := l.rowAround(e.m.node)
		if row < 0 || lives[l.nodes[row].Ref] || !l.isWhole(row, listed) {
			continue
		}
		table := l.tableAround(row)
		if mark == "- " && (table < 0 || !lives[l.nodes[table].Ref]) {
			continue // the table was removed as well
		}
		t := byTable[table]
		if t == nil {
			t = &tableRows{table: table}
			byTable[table], tables = t, append(tables, t)
		}
		if !rowOf[row] {
			rowOf[row] = true
			t.rows, t.entries = append(t.rows, row), append(t.entries, nil)
		}
		last := len(t.entries) - 1
		t.entries[last] = append(t.entries[last], e)
	}
	return tables, rowOf
}

// rowAround returns the row that an element is or is in, or -1.
func (l *laidOut) rowAround(i int) int32 {
	for up := int32(i); up >= 0; up = l.nodes[up].parent {
		if l.nodes[up].Role == "row" {
			return up
		}
	}
	return -1
}

// tableAround returns the table of a row, or -1.
func (l *laidOut) tableAround(row int32) int32 {
	for up := l.nodes[row].parent; up >= 0; up = l.nodes[up].parent {
		switch l.nodes[up].Role {
		case "table", "grid", "treegrid":
			return up
		}
	}
	return -1
}

// isWhole reports whether all shown elements of a row are listed, and the row has a line.
func (l *laidOut) isWhole(row int32, listed map[int]bool) bool {
	for j := int(row); j < int(l.nodes[row].end); j++ {
		if l.shown[j] != nil && !listed[j] && !l.isHolder(j) {
			return false
		}
	}
	return l.rowLine(row) != nil
}

// rowLine returns the line of a row, or nil if DENSE does not print it as a row or marks it. The line is valid until the next call.
func (l *laidOut) rowLine(row int32) []byte {
	l.dst = l.dst[:0]
	if l.shown[row] != nil && !l.hasMoreWords(int(row)) || !l.row(int(row)) || bytes.HasPrefix(l.dst, []byte("(")) {
		return nil
	}
	return l.dst
}

// readsAsRows reports whether rows are the better form of their elements: people know the elements by the words in the row, or rows take no
// more lines than the elements would.
func (l *laidOut) readsAsRows(t *tableRows) bool {
	var all []entry
	worded := 0
	for i, some := range t.entries {
		all = append(all, some...)
		if l.rowWords(int(t.rows[i])) != "" && len(some) <= fewInRow {
			worded++
		}
	}
	return 2*worded > len(t.rows) || len(byPattern(all)) >= len(t.rows)
}

// linesOf returns a line for each of the first new rows and one for the others, or one for all removed rows.
func (d *differ) linesOf(mark string, t *tableRows) (out []lineContent) {
	n := 0
	if mark == "+ " {
		n = len(t.rows)
		if n > maxNewRows {
			n = printedRows
		}
	}
	for i := range n {
		out = append(out, lineContent{entries: t.entries[i], rows: t.rows[i : i+1]})
	}
	if n < len(t.rows) {
		others := lineContent{rows: t.rows[n:], isCount: true}
		for _, some := range t.entries[n:] {
			others.entries = append(others.entries, some...)
		}
		out = append(out, others)
	}
	return out
}

// appendRowContent appends the line of a row, as in "+ | 1015 | Ada | [113] Edit (button)". For rows that are only counted, it appends their
// number, the first and the last of them, and the number of their elements, as in "+ 24 more rows: 1016 Grace … 1039 Alan (24 elements)".
func (d *differ) appendRowContent(mark string, l *laidOut, g lineContent) {
	d.dst = append(d.dst, mark...)
	if !g.isCount {
		d.dst = append(d.dst, l.rowLine(g.rows[0])...)
		d.newRows[g.rows[0]] = true
		return
	}
	count := plural.Of(len(g.rows), "row")
	if mark == "+ " {
		count = plural.Of(len(g.rows), "more row")
	}
	d.dst = append(d.dst, count...)
	if mark == "+ " || len(g.rows) <= maxNamed || !d.hasNewRows(l.nodes[l.tableAround(g.rows[0])].Ref) {
		d.dst = appendSpaced(append(d.dst, ':'), l.rowName(g.rows[0]), maxNameOf, "", 0)
		if last := len(g.rows) - 1; last > 0 {
			d.dst = appendSpaced(append(d.dst, " …"...), l.rowName(g.rows[last]), maxNameOf, "", 0)
		}
	}
	d.dst = append(d.dst, " ("+plural.Of(countElements(g.entries), "element")+")\n"...)
}

// hasNewRows reports whether new rows of a table have lines.
func (d *differ) hasNewRows(table dom.Ref) bool {
	for row := range d.newRows {
		if at := d.to.tableAround(row); at >= 0 && d.to.nodes[at].Ref == table {
			return true
		}
	}
	return false
}

// rowName returns the words of a row, and the names of its cells and links. It omits the names of other controls, which often repeat in all
// rows.
func (l *laidOut) rowName(row int32) string {
	items, _ := l.inline(int(row), maxRowItems)
	cells, _ := l.cells(int(row), items)
	var words []string
	for _, c := range cells {
		if own := rest(c.words, c.items); own != "" {
			words = append(words, own)
		}
		for _, m := range c.items {
			if m.Role == "row" || m.Role == "link" || isCell(m.Role) {
				words = append(words, m.Text)
			}
		}
	}
	return strings.Join(words, " ")
}

// appendReordered appends the first rows of each table whose rows changed places, and the number of other rows that did. It returns the
// moved elements that are in no row of a table.
func (d *differ) appendReordered(moved []diff.Moved) (rest []diff.Moved) {
	rowsOf := map[int32]map[int32]bool{} // by table
	place := func(m diff.Moved) (table, row int32) {
		at, known := d.to.at[m.Element.Ref]
		if !known {
			return -1, -1
		}
		if row = d.to.rowAround(int(at)); row < 0 {
			return -1, -1
		}
		return d.to.tableAround(row), row
	}
	var tables []int32
	for _, m := range moved {
		table, row := place(m)
		if table < 0 {
			rest = append(rest, m)
			continue
		}
		if rowsOf[table] == nil {
			rowsOf[table] = map[int32]bool{}
			tables = append(tables, table)
		}
		rowsOf[table][row] = true
	}
	for _, table := range tables {
		d.appendFirstRows(table, rowsOf[table])
	}
	return rest
}

// appendFirstRows appends the first rows of a reordered table, except for new rows that already have a line, and the number of other rows
// that moved. The first rows are included even if they did not move. If only one row of the table moved, it appends that row.
func (d *differ) appendFirstRows(table int32, moved map[int32]bool) {
	if len(moved) == 1 {
		for row := range moved {
			d.appendMovedRow(row)
		}
		return
	}
	n := 0
	for i := table; i < d.to.nodes[table].end && n < maxFirstRows; i++ {
		if d.to.nodes[i].Role != "row" || d.to.below[i] == 0 && d.to.shown[i] == nil || d.to.isHeader(int(i)) {
			continue
		}
		n++
		if !d.newRows[i] {
			d.appendMovedRow(i)
			delete(moved, i)
		}
	}
	if len(moved) > 0 {
		d.dst = append(d.dst, "> "+plural.Of(len(moved), "more row")+"\n"...)
	}
}

// appendMovedRow appends the line of a row that has visibly moved.
func (d *differ) appendMovedRow(row int32) {
	d.dst = append(d.dst, "> "...)
	if line := d.to.rowLine(row); line != nil {
		d.dst = append(d.dst, line...)
		return
	}
	for i := row; i < d.to.nodes[row].end; i++ {
		if d.to.shown[i] != nil {
			m := d.to.plain(i)
			d.dst = append(m.append(d.dst), '\n')
			return
		}
	}
}

// isHeader reports whether the cells of a row are the headers of columns.
func (l *laidOut) isHeader(row int) bool {
	return slices.ContainsFunc(l.nodes[row:l.nodes[row].end], func(n node) bool { return n.Role == "columnheader" })
}
