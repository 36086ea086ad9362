package elementcontext

import (
	"strings"
	"unicode"

	"github.com/domtap/domtap/dom"
)

// page is a page whose elements are to be distinguished.
type page struct {
	structure
	// cached caches the texts by which elements describe their content.
	cached map[int32][]phrase
}

func newPage(all []*dom.Element) *page {
	n := len(all)
	memory := make([]int32, 5*n)
	p := &page{structure{all: all, parent: memory[:n], end: memory[n : 2*n], heading: memory[2*n : 3*n], scoped: memory[3*n : 4*n],
		repeated: make([]bool, n)}, map[int32][]phrase{}}
	inside := memory[4*n:] // the last heading directly inside each element
	var open []int32
	leave := func(i int) {
		p.end[open[len(open)-1]] = int32(i)
		open = open[:len(open)-1]
	}
	last, top := int32(-1), int32(-1)
	for i, e := range all {
		for len(open) > 0 && all[open[len(open)-1]].Ref != e.Parent {
			leave(i)
		}
		p.parent[i], p.heading[i], p.scoped[i], inside[i] = -1, last, top, -1
		if len(open) > 0 {
			up := open[len(open)-1]
			p.parent[i], p.scoped[i] = up, inside[up]
			if inside[up] < 0 {
				p.scoped[i] = p.scoped[up]
			}
		}
		if isHeading(e) {
			last = int32(i)
			if up := p.parent[i]; up >= 0 {
				inside[up] = last
			} else {
				top = last
			}
		}
		open = append(open, int32(i))
	}
	for len(open) > 0 {
		leave(n)
	}
	p.joins = newJoins(all, p.parent)
	return p
}

// places returns the indexes of the elements of groups, each of which is in document order.
func (p *page) places(groups [][]*dom.Element) [][]int32 {
	out := make([][]int32, len(groups))
	of := make(map[dom.Ref]int32)
	for k, group := range groups {
		for _, e := range group {
			of[e.Ref] = int32(k)
		}
	}
	for i, e := range p.all {
		if k, wanted := of[e.Ref]; wanted {
			out[k] = append(out[k], int32(i))
		}
	}
	return out
}

const (
	// maxTexts limits how many texts of an element are used, and maxScanned among how many descendants they are searched.
	maxTexts   = 12
	maxScanned = 48
	// maxCells is the number of cells of a row that serve as its name.
	maxCells = 2
	// maxNames limits how many names are removed from a text.
	maxNames = 16
)

// phrasesOf returns the texts by which an element describes its content, best first.
func (p *page) phrasesOf(i int32) []phrase {
	if known, ok := p.cached[i]; ok {
		return known
	}
	texts, heading := p.texts(i)
	var out []phrase
	add := func(s phrase) {
		if s.words != "" && (len(out) == 0 || out[0].words != s.words) {
			out = append(out, s)
		}
	}
	e := p.at(i)
	switch own := p.own(i); {
	case e.Role == "row":
		p.row(i, texts, add)
	case namedByAuthor[e.Role]:
		if j := i + 1; e.Tag == "details" && j < p.len() && p.at(j).Tag == "summary" && p.up(j) == i {
			add(p.phrase(p.at(j).Text, j))
		}
		add(p.phrase(own, i))
		fallthrough
	case heading >= 0:
		if heading >= 0 {
			add(p.phrase(p.at(heading).Text, heading))
		}
	case len(texts) == 0 || !strings.HasPrefix(own, texts[0].words):
		add(p.phrase(own, i)) // otherwise the text of its first element is shorter
	}
	for _, t := range texts {
		add(t)
	}
	p.cached[i] = out
	return out
}

// namedByAuthor holds the roles of elements whose text is not part of their content.
var namedByAuthor = map[string]bool{
	"group": true, "radiogroup": true, "form": true, "dialog": true, "alertdialog": true, "region": true, "navigation": true, "banner": true,
	"contentinfo": true, "main": true, "complementary": true, "search": true, "figure": true, "list": true, "table": true, "grid": true,
	"treegrid": true, "toolbar": true, "tabpanel": true, "tablist": true, "menu": true, "menubar": true, "listbox": true, "tree": true,
}

// row adds the header of a row, or else its first cells.
func (p *page) row(i int32, texts []phrase, add func(phrase)) {
	for j, end := i+1, p.endOf(i, i+maxScanned); j < end; j++ {
		if e := p.at(j); e.Role == "rowheader" && e.Text != "" {
			add(p.phrase(e.Text, j))
			return
		}
	}
	if len(texts) == 0 {
		return
	}
	var cells []string
	left := 0
	if own := p.own(i); own != "" && !strings.Contains(own, texts[0].words) {
		cells = append(cells, own) // the words of the row in another pane
	}
	for _, t := range texts[:min(maxCells, len(texts))] {
		cells, left = append(cells, t.words), t.left
	}
	words, left := cut(strings.Join(cells, " "), left)
	add(phrase{words, texts[0].of, left})
}

// texts returns the texts of the outermost elements inside an element: first the texts of structural elements and links, then the names of
// other interactive elements. heading is the first heading inside, or -1 if there is none.
func (p *page) texts(i int32) (out []phrase, heading int32) {
	heading = -1
	var others []phrase
	for j, end := i+1, p.endOf(i, i+maxScanned); j < end && len(out) < maxTexts; {
		e := p.at(j)
		if heading < 0 && isHeading(e) {
			heading = j
		}
		words := p.own(j)
		switch {
		case isBare(words) || p.isRepeated(j):
			if value := valueOf(e); value != "" {
				others = append(others, p.phrase(value, j))
			}
			j++
			continue
		case e.Kind == dom.Structural || e.Role == "link":
			out = append(out, p.phrase(words, j))
		default:
			others = append(others, p.phrase(words, j))
		}
		if e.Kind == dom.Structural && !namedByAuthor[e.Role] {
			j = p.endOf(j, end) // its text is the text of its content
		} else {
			j++
		}
	}
	return append(out, others...), heading
}

// isBare reports whether a text has nothing but punctuation, such as the colon between a name and its value.
func isBare(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) })
}

// valueOf returns what is written in a text field, which names its row if nothing else does. It returns an empty string for other elements.
func valueOf(e *dom.Element) string {
	if e.Kind != dom.Interactive || !isTextField(e) || !strings.ContainsFunc(e.Value, isWordRune) {
		return ""
	}
	return e.Value
}

func isTextField(e *dom.Element) bool {
	return e.Role == "textbox" || e.Role == "searchbox" || e.Role == "combobox"
}

// own returns the text of an element without the names and values of interactive elements inside. It is empty if no words remain.
func (p *page) own(i int32) string {
	around := p.at(i)
	text := around.Text
	if text == "" || namedByAuthor[around.Role] {
		return text
	}
	end := p.endOf(i, i+maxNames)
	if end == i+1 {
		return text
	}
	for j := i + 1; j < end; j++ {
		if e := p.at(j); e.Kind == dom.Interactive && (e.Role != "link" || p.isRepeated(j)) {
			text = withoutControl(text, e)
		}
	}
	if !strings.ContainsFunc(text, isWordRune) {
		return ""
	}
	return text
}

// withoutControl returns words without the last occurrence of the name and value of an interactive element. The value of a native field is
// not a text of the page, so that words equal to it belong to something else.
func withoutControl(words string, e *dom.Element) string {
	switch e.Tag {
	case "input", "select", "textarea":
		return without(words, e.Text)
	}
	if e.Value == "" {
		return without(words, e.Text)
	}
	if rest := without(words, e.Text+" "+e.Value); rest != words {
		return rest
	}
	return without(without(words, e.Value), e.Text)
}

// without returns words without the last occurrence of a name.
func without(words, name string) string {
	at := strings.LastIndex(words, name)
	if at < 0 || name == "" {
		return words
	}
	before, after := words[:at], words[at+len(name):]
	if before != "" && !strings.HasSuffix(before, " ") || after != "" && !strings.HasPrefix(after, " ") {
		return words
	}
	return strings.TrimSpace(strings.TrimSpace(before) + " " + strings.TrimSpace(after))
}
