// Package elementcontext tells elements of the same role and name from each other by what stands around
// them: the first cells of the row, the words of the list item or card, the name of the group, the nearest
// heading above. It is pure. The work follows the number of elements.
//
// Callers owe elements in document order, parents before children.
package elementcontext

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
)

// The bounds of a context.
const (
	// maxWords is about how long a context is, in bytes.
	maxWords = 60
	// maxCells is how many cells of a row are told.
	maxCells = 2
	// maxAround is how many ancestors are looked at.
	maxAround = 32
)

// Context tells an element from others.
type Context struct {
	// Words are those of a page; never empty.
	Words string
	// Of is the element that has the words as its text, or the row whose cells have.
	Of *dom.Element
}

// Tell returns contexts of the wanted elements that share role and name with another wanted one, apart from
// links of one name to one place. Of what
// stands around an element the innermost that no other of the same role and name has is its context; else the
// innermost that not all have. Elements that nothing tells apart have none. all has the elements of a
// page, the wanted ones among them.
func Tell(all, wanted []*dom.Element) map[dom.Ref]Context {
	groups := map[[2]string][]*dom.Element{}
	for _, e := range wanted {
		if e.Kind == dom.Interactive {
			key := [2]string{e.Role, e.Text}
			groups[key] = append(groups[key], e)
		}
	}
	for key, group := range groups {
		if len(group) < 2 || isOneLink(group) {
			delete(groups, key)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	p := newPage(all)
	out := map[dom.Ref]Context{}
	for _, group := range groups {
		p.tell(group, out)
	}
	return out
}

// isOneLink reports whether elements are links to one place: it does not matter which is meant.
func isOneLink(group []*dom.Element) bool {
	other := func(e *dom.Element) bool { return e.Href == "" || e.Href != group[0].Href }
	return !slices.ContainsFunc(group, other)
}

// page has the elements of a page with their places.
type page struct {
	all []*dom.Element
	at  map[dom.Ref]int
	// heading has the nearest heading before each element; nil: none.
	heading []*dom.Element
	// words caches what the elements around others say.
	words map[int]Context
}

func newPage(all []*dom.Element) *page {
	p := &page{all: all, at: make(map[dom.Ref]int, len(all)), heading: make([]*dom.Element, len(all)), words: map[int]Context{}}
	var last *dom.Element
	for i, e := range all {
		if e.Role == "heading" && e.Text != "" {
			last = e
		}
		p.at[e.Ref], p.heading[i] = i, last
	}
	return p
}

// tell adds the contexts of elements of one role and name.
func (p *page) tell(group []*dom.Element, out map[dom.Ref]Context) {
	around := make([][]Context, len(group))
	have := map[string]int{} // how many elements have the words around them
	for i, e := range group {
		around[i] = p.around(e)
		seen := map[string]bool{}
		for _, c := range around[i] {
			if !seen[c.Words] {
				seen[c.Words] = true
				have[c.Words]++
			}
		}
	}
	for i, e := range group {
		for _, c := range around[i] {
			best, known := out[e.Ref]
			if n := have[c.Words]; n == 1 || n < len(group) && !known {
				out[e.Ref] = c
				if n == 1 {
					break
				}
			} else if known && n < have[best.Words] {
				out[e.Ref] = c
			}
		}
	}
}

// around returns what stands around an element, the innermost first.
func (p *page) around(e *dom.Element) []Context {
	var out []Context
	add := func(c Context) {
		if c.Words = without(c.Words, e.Text); c.Words != "" {
			out = append(out, c)
		}
	}
	i, known := p.at[e.Ref]
	for up := 0; known && up < maxAround; up++ {
		if i, known = p.at[p.all[i].Parent]; known {
			add(p.wordsOf(i))
		}
	}
	if i, known := p.at[e.Ref]; known && p.heading[i] != nil && p.heading[i] != e {
		add(Context{cut(p.heading[i].Text), p.heading[i]})
	}
	return out
}

// without returns words without the name of an element at their end: the words of a list item have it.
func without(words, name string) string {
	if name != "" {
		words = strings.TrimSuffix(words, name)
	}
	return strings.TrimSpace(words)
}

// wordsOf returns what an element says of those in it.
func (p *page) wordsOf(i int) Context {
	if c, known := p.words[i]; known {
		return c
	}
	e := p.all[i]
	c := Context{Of: e}
	switch e.Role {
	case "row":
		c.Words = p.row(i)
	case "listitem", "article", "treeitem":
		c = p.item(i)
	case "group", "radiogroup", "form", "dialog", "alertdialog", "region", "navigation", "banner", "contentinfo", "main",
		"complementary", "search", "figure", "list", "table", "grid", "treegrid", "toolbar", "tabpanel", "tablist", "menu":
		c.Words = e.Text
	}
	c.Words = cut(c.Words)
	p.words[i] = c
	return c
}

// row returns the header of a row, or its first cells with words.
func (p *page) row(i int) string {
	var words []string
	for j, end := i+1, p.end(i); j < end && len(words) < maxCells; j = p.end(j) {
		text := p.text(j).Words
		if p.all[j].Role == "rowheader" && text != "" {
			return text
		}
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

// item returns the first heading in a list item or a card, or else its first words.
func (p *page) item(i int) Context {
	for j, end := i+1, p.end(i); j < end; j++ {
		if e := p.all[j]; e.Role == "heading" && e.Text != "" {
			return Context{e.Text, e}
		}
	}
	return p.text(i)
}

// text returns the text of an element, or the first one in it that cannot be acted on, or is a link.
func (p *page) text(i int) Context {
	for j, end := i, p.end(i); j < end; j++ {
		if e := p.all[j]; e.Text != "" && (e.Kind == dom.Structural || e.Role == "link") {
			return Context{e.Text, e}
		}
	}
	return Context{Of: p.all[i]}
}

// end returns the place behind the last element in an element.
func (p *page) end(i int) int {
	j := i + 1
	for j < len(p.all) && p.all[j].Depth > p.all[i].Depth {
		j++
	}
	return j
}

// cut shortens words at a space.
func cut(words string) string {
	if len(words) <= maxWords {
		return words
	}
	end := strings.LastIndexByte(words[:maxWords], ' ')
	if end <= 0 {
		end = maxWords
		for end > 0 && words[end]&0xc0 == 0x80 {
			end--
		}
	}
	return strings.TrimSuffix(words[:end], "…") + "…"
}
