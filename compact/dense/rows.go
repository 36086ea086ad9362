package dense

import (
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
)

// maxRows limits how many lines only report rows with changed texts.
const maxRows = 10

// changedRows finds the table rows in which a text has changed, other than the name of a shown element. A row is the same as before if an
// element in it survived or was rendered again, and belongs to the same record.
func (d *differ) changedRows() {
	if !d.from.hasTexts() || !d.to.hasTexts() {
		return
	}
	before := make(map[dom.Ref]dom.Ref, len(d.pairs))
	for _, p := range d.pairs {
		before[p.now] = p.old
	}
	for i := range d.to.nodes {
		if e := &d.to.nodes[i]; e.Role != "row" || d.to.below[i] == 0 || e.Covered {
			continue
		}
		was := d.rowBefore(int32(i), before)
		if was < 0 {
			continue
		}
		if words := d.to.rowWords(i); words != "" && words != d.from.rowWords(int(was)) {
			d.rows = append(d.rows, int32(i))
		}
	}
}

// rowBefore returns the earlier state of a row, or -1 if there is none or it was another record. before maps the refs of elements that were
// rendered again to their old refs.
func (d *differ) rowBefore(i int32, before map[dom.Ref]dom.Ref) int32 {
	for j := i + 1; j < d.to.nodes[i].end; j++ {
		e := d.to.shown[j]
		if e == nil {
			continue
		}
		old, replaced := before[e.Ref]
		if !replaced {
			old = e.Ref
		}
		at, known := d.from.at[old]
		if !known {
			continue
		}
		_, row := d.from.around(at)
		if row < 0 || d.from.nodes[row].Role != "row" || !replaced && d.anotherRecord(old) { // the row's own line reports the change
			return -1
		}
		return row
	}
	return -1
}

// rowWords returns the texts of the cells of a row, without the names of shown elements. It is empty for a row without a line.
func (l *laidOut) rowWords(i int) string {
	items, ok := l.inline(i, maxRowItems)
	if !ok {
		return ""
	}
	cells, _ := l.cells(int(i), items)
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(rest(c.words, c.items) + "\x00")
	}
	return b.String()
}

// appendRows appends the lines of rows in format DENSE.
func (d *differ) appendRows() {
	for n, i := range d.rows {
		if n == maxRows {
			d.dst = strconv.AppendInt(append(d.dst, "~ "...), int64(len(d.rows)-n), 10)
			d.dst = append(d.dst, " more rows\n"...)
			return
		}
		if d.to.dst = d.to.dst[:0]; d.to.row(int(i)) {
			d.dst = append(append(d.dst, "~ "...), d.to.dst...)
		}
	}
}
