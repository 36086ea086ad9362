package elementcontext

import (
	"slices"

	"github.com/domtap/domtap/dom"
)

// Fit says how well an element is what stands around another: smaller is closer; Not: it is something else.
type Fit = uint8

// Not is the Fit of what is something else.
const Not Fit = 255

// Wanted says what has to stand around elements.
type Wanted struct {
	// Element says how well an element around, or one with words around, is what is wanted.
	Element func(*dom.Element) Fit
	// Words says the same of a context.
	Words func(string) Fit
	// Name says that only the element itself counts, and not what it is in.
	Name bool
}

// span is the elements between two places, one of which, or the first, is what is wanted.
type span struct {
	start, end int32
	fit        Fit
}

// in reports whether a span is a part of another and smaller.
func (s span) in(o span) bool {
	return o.start <= s.start && s.end <= o.end && s.end-s.start < o.end-o.start
}

// maxCard is how many elements an element without a role may hold to be one thing.
const maxCard = 32

// Within returns those of the elements among that have what is wanted around them: it is an element around, stands in
// the same row, list item, card, group, form or dialog, is the heading above, or is a part of the context. What fits
// closest counts, and of two that stand in each other the inner one: who asks for "Ada" gets the button in the row of
// Ada, and not all buttons of the dialog around the table. all has the elements of a page, those among them; contexts
// has what Tell said of the page.
func Within(all, among []*dom.Element, contexts map[dom.Ref]Context, w Wanted) []*dom.Element {
	p := newPage(all)
	places := p.places([][]*dom.Element{among})[0]
	around := p.marked(places, w)
	best := Not
	spans := make([]span, len(places))
	for k, i := range places {
		spans[k] = span{fit: Not}
		consider := func(s span) {
			if s.fit < spans[k].fit || s.fit == spans[k].fit && s.in(spans[k]) {
				spans[k] = s
			}
		}
		for up, n := p.parent[i], 0; up >= 0 && n < len(all); up, n = p.parent[up], n+1 {
			if fit, marked := around.holders[up]; marked {
				consider(span{up, p.end[up], fit})
			}
		}
		for _, s := range around.sections {
			if s.start < i && i < s.end {
				consider(s)
			}
		}
		if c, known := contexts[all[i].Ref]; known && !w.Name {
			consider(span{i, i + 1, w.Words(c.Words)})
		}
		best = min(best, spans[k].fit)
	}
	if best == Not {
		return nil
	}
	return innermost(p, places, spans, best)
}

// innermost returns the elements of the best fit whose spans hold no smaller ones.
func innermost(p *page, places []int32, spans []span, best Fit) (out []*dom.Element) {
	var smallest []span
	for _, s := range spans {
		if s.fit == best && !slices.Contains(smallest, s) {
			smallest = slices.DeleteFunc(smallest, s.in)
			if !slices.ContainsFunc(smallest, func(o span) bool { return o.in(s) }) {
				smallest = append(smallest, s)
			}
		}
	}
	for k, i := range places {
		if slices.Contains(smallest, spans[k]) {
			out = append(out, p.all[i])
		}
	}
	return out
}

// marks are where what is wanted was found.
type marks struct {
	// holders are the elements that are it or hold it, with the best fit.
	holders map[int32]Fit
	// sections are what stands below headings that are it.
	sections []span
}

// maxMarks bounds how many elements are considered that are what is wanted.
const maxMarks = 1000

// marked finds what is wanted. What the elements of the places say themselves does not count.
func (p *page) marked(places []int32, w Wanted) marks {
	m := marks{holders: map[int32]Fit{}}
	mark := func(i int32, fit Fit) {
		if known, ok := m.holders[i]; !ok || fit < known {
			m.holders[i] = fit
		}
	}
	next, until, found := 0, int32(0), 0
	for i := range int32(len(p.all)) {
		fit := w.Element(p.all[i])
		for next < len(places) && places[next] <= i {
			until = max(until, p.end[places[next]])
			next++
		}
		if fit == Not || found == maxMarks {
			continue
		}
		found++
		mark(i, fit)
		if w.Name || i < until {
			continue
		}
		for up := p.parent[i]; up >= 0; up = p.parent[up] {
			if p.isOne(up) {
				mark(up, fit)
			}
		}
		if p.all[i].Role == "heading" {
			m.sections = append(m.sections, p.section(i, places, fit))
		}
	}
	return m
}

// isOne reports whether what stands in an element belongs together.
func (p *page) isOne(i int32) bool {
	switch p.all[i].Role {
	case "row", "listitem", "article", "treeitem", "option", "cell", "gridcell", "group", "radiogroup", "form", "dialog", "alertdialog",
		"figure", "tabpanel", "toolbar", "menu", "search":
		return true
	case "main", "banner", "contentinfo", "complementary", "navigation", "table", "grid", "treegrid", "list", "tree", "rowgroup", "document",
		"application":
		return false
	}
	return p.end[i]-i <= maxCard
}

// section returns what stands below a heading, up to the next one that is no lower, in the innermost element that holds one of the
// places, too.
func (p *page) section(i int32, places []int32, fit Fit) span {
	end := int32(len(p.all))
	for up := p.parent[i]; up >= 0; up = p.parent[up] {
		at, _ := slices.BinarySearch(places, i)
		if at < len(places) && places[at] < p.end[up] {
			end = p.end[up]
			break
		}
	}
	for j := i + 1; j < end; j++ {
		if e := p.all[j]; e.Role == "heading" && e.Level <= p.all[i].Level {
			end = j
			break
		}
	}
	return span{i, end, fit}
}
