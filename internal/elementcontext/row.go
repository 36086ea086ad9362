package elementcontext

import (
	"strings"

	"github.com/domtap/domtap/dom"
)

// betweenCells separates the texts of a row.
const betweenCells = " | "

// Row returns the table row of a cell as a context: the words of its cells, without the names of buttons. ok is false if the element is not a
// cell. The elements must be in document order.
func Row(elements []*dom.Element, cell int) (c Context, ok bool) {
	if !IsCell(elements[cell]) {
		return Context{}, false
	}
	at := cell - 1
	for at >= 0 && elements[at].Ref != elements[cell].Parent {
		at--
	}
	if at < 0 || elements[at].Role != "row" {
		return Context{}, false
	}
	row := elements[at]
	var texts []string
	for _, e := range elements[at+1:] {
		if e.Depth <= row.Depth {
			break
		}
		if e.Parent == row.Ref {
			texts = append(texts, e.Text)
		} else if n := len(texts); n > 0 && texts[n-1] == "" && !isCommand(e) { // a cell whose words are in child elements
			texts[n-1] = e.Text
		}
	}
	words := strings.Trim(strings.Join(texts, betweenCells), " |")
	if words == elements[cell].Text {
		return Context{}, false
	}
	return Context{Words: words, Of: row}, true
}

// IsCell reports whether an element is a cell of a row, and not the header of a column.
func IsCell(e *dom.Element) bool {
	return e.Role == "cell" || e.Role == "gridcell" || e.Role == "rowheader"
}

// isCommand reports whether the name of an element says what it does, not what its row is about.
func isCommand(e *dom.Element) bool {
	switch e.Role {
	case "button", "checkbox", "radio", "switch":
		return true
	}
	return false
}
