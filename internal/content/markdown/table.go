package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxColumns limits the columns of a table that is written as one. Wider tables are not readable in that form.
	maxColumns = 40
	// maxCell limits the bytes of a cell. Longer cells indicate layout, not data.
	maxCell = 1000
)

// grid is a table as rows of cells. Cells that a neighbor spans are empty.
type grid [][]string

// table writes a table with pipes. For a layout table it writes the content of the cells.
func (w *writer) table(n *html.Node) {
	rows := rowsOf(n)
	if !isData(n, rows) {
		w.blocks(n)
		return
	}
	g := w.grid(rows)
	if g == nil {
		w.blocks(n)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption {
			w.blocks(c)
		}
	}
	var b strings.Builder
	for i, row := range g {
		b.WriteString("| " + strings.Join(row, " | ") + " |")
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat(" --- |", len(row)))
		}
		if i+1 < len(g) {
			b.WriteByte('\n')
		}
	}
	w.add(piece{text: b.String()})
}

// rowsOf returns the rows of a table, without the rows of nested tables.
func rowsOf(table *html.Node) []*html.Node {
	var rows []*html.Node
	for n := table.FirstChild; n != nil; n = n.NextSibling {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, n)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Tr {
					rows = append(rows, c)
				}
			}
		}
	}
	return rows
}

// isData reports whether a table holds data: at least two columns, and no block content in its cells.
func isData(table *html.Node, rows []*html.Node) bool {
	if role := attribute(table, "role"); role == "presentation" || role == "none" || len(rows) == 0 {
		return false
	}
	heads := false
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Th:
			heads = true
		case atom.Table, atom.Pre, atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol:
			if n != table && !within(n, atom.Caption) {
				return false
			}
		}
	}
	columns := 0
	for _, row := range rows {
		k := 0
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				k++
				if len(fold(textOf(c))) > maxCell {
					return false
				}
			}
		}
		columns = max(columns, k)
	}
	return columns >= 2 && (heads || len(rows) >= 2)
}

// grid returns the cells of a table, or nil if there are too many columns.
func (w *writer) grid(rows []*html.Node) grid {
	var g grid
	var below []int // for each column, the number of rows that a cell above still spans
	width := 0
	for _, row := range rows {
		var line []string
		said := false
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
				continue
			}
			for len(line) < len(below) && below[len(line)] > 0 {
				below[len(line)]--
				line = append(line, "")
			}
			text := w.cell(c)
			said = said || text != ""
			for i := range span(c, "colspan") {
				if i > 0 {
					text = ""
				}
				line = append(line, text)
				for len(below) < len(line) {
					below = append(below, 0)
				}
				below[len(line)-1] = span(c, "rowspan") - 1
			}
			if len(line) > maxColumns {
				return nil
			}
		}
		for i := len(line); i < len(below); i++ {
			below[i] = max(0, below[i]-1)
		}
		if said {
			g = append(g, line)
			width = max(width, len(line))
		}
	}
	for i := range g {
		for len(g[i]) < width {
			g[i] = append(g[i], "")
		}
	}
	return g
}

func (w *writer) cell(n *html.Node) string {
	text := strings.ReplaceAll(trimLines(w.inline(n.FirstChild, nil)), "\n", " ")
	return strings.ReplaceAll(text, "|", `\|`)
}

// span returns how many columns or rows a cell spans, from 1 to maxColumns+1.
func span(n *html.Node, name string) int {
	k, err := strconv.Atoi(strings.TrimSpace(attribute(n, name)))
	if err != nil {
		return 1
	}
	return min(max(k, 1), maxColumns+1)
}
