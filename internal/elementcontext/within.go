package elementcontext

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/refs"
)

// matchQuality is the quality of a match. Smaller is closer.
type matchQuality uint8

const (
	// wholly means that the texts are equal except for case and white space.
	wholly matchQuality = iota
	// worded means that the wanted text is a part that begins at the start of a word.
	worded
	// partly means that the wanted text is any part.
	partly
	// not means that the texts do not match.
	not
)

// query describes the surroundings to find.
type query struct {
	// words are normalized by fold.
	words string
	// ref is the ref of an element around, or dom.NoRef if words are searched.
	ref dom.Ref
}

// fold normalizes case, white space, and characters that printed contexts lack.
func fold(s string) string {
	if strings.Contains(s, "…+") {
		s = cutMark().ReplaceAllString(s, "…")
	}
	return strings.Join(strings.Fields(strings.ToLower(bare.Replace(s))), " ")
}

// cutMark matches the number of omitted characters in a printed context.
var cutMark = lazyregexp.New(`…\+\d+`)

var bare = strings.NewReplacer("‹", "<", "›", ">", "[", "(", "]", ")", "…", "")

// text returns how well a text matches.
func (w query) text(text string) matchQuality {
	if w.ref != dom.NoRef || len(w.words) > 2*len(text)+4 {
		return not
	}
	switch text = fold(text); {
	case text == w.words:
		return wholly
	case BeginsWord(text, w.words):
		return worded
	case strings.Contains(text, w.words):
		return partly
	}
	return not
}

// isRole reports whether the words are the role of an element, such as dialog, or the tag of a form without a name, which has no role.
func (w query) isRole(e *dom.Element) bool {
	return w.words == e.Role || w.words == "form" && e.Tag == "form"
}

// element returns how well an element matches.
func (w query) element(e *dom.Element) matchQuality {
	if w.ref != dom.NoRef {
		if e.Ref == w.ref {
			return wholly
		}
		return not
	}
	if w.isRole(e) {
		return wholly
	}
	return min(w.text(e.WholeText()), w.text(valueOf(e)))
}

// span is a range of elements of which one, or the first, matches.
type span struct {
	start, end int32
	fit        matchQuality
}

// in reports whether a span is inside another one and smaller.
func (s span) in(o span) bool {
	return o.start <= s.start && s.end <= o.end && s.end-s.start < o.end-o.start
}

// maxCard limits how many elements may form one item without a role.
const maxCard = 32

// Within returns those elements of among that have words in their surroundings. The words may be in an element's card, which contains it
// but no other element of among or of the same role and name. They may be in a larger part with few such elements, such as a group or a
// section below a heading, in the name of an ancestor, or in the element's context. The words may also be the role of an ancestor, or its
// ref; words that look like a ref are a text if no ancestor has that ref. Only the closest fit counts, and of nested matches the inner one:
// for "Ada", the result is the button in Ada's row, and not all buttons of the dialog around the table. Words of another row or card do not
// count. all holds the elements of a page, including the elements of among.
func Within(all, among []*dom.Element, words string) []*dom.Element {
	if len(among) == 0 {
		return nil
	}
	p := newPage(all)
	places := p.places([][]*dom.Element{among})[0]
	if ref, is := refs.Parse(words); is {
		if found := p.within(places, nil, query{ref: dom.Ref(ref)}); len(found) > 0 {
			return found
		}
	}
	w := query{words: fold(words), ref: dom.NoRef}
	if w.words == "" {
		return nil
	}
	return p.within(places, Distinguish(all, all), w)
}

func (p *page) within(places []int32, contexts map[dom.Ref]Context, w query) []*dom.Element {
	around := p.marked(places, w)
	best := not
	spans := make([]span, len(places))
	for k, i := range places {
		spans[k] = span{fit: not}
		consider := func(s span) {
			if s.fit < spans[k].fit || s.fit == spans[k].fit && s.in(spans[k]) {
				spans[k] = s
			}
		}
		for up := p.parent[i]; up >= 0; up = p.parent[up] {
			if f, marked := around.holders[up]; marked {
				consider(span{up, p.end[up], f})
			}
		}
		for _, s := range around.cards[i] {
			consider(s)
		}
		for _, s := range around.sections {
			if s.start < i && i < s.end && p.heads(s.start, i) {
				consider(s)
			}
		}
		if c, known := contexts[p.all[i].Ref]; known {
			consider(span{i, i + 1, w.text(c.Words)})
		}
		best = min(best, spans[k].fit)
	}
	if best == not {
		return nil
	}
	return innermost(p, places, spans, best)
}

// innermost returns the elements of the best fit whose spans contain no smaller ones.
func innermost(p *page, places []int32, spans []span, best matchQuality) (out []*dom.Element) {
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

// marks holds where the wanted surroundings were found.
type marks struct {
	// holders are the matching elements, with their fit.
	holders map[int32]matchQuality
	// cards holds the spans that elements have in common with matching texts, by element.
	cards map[int32][]span
	// sections are the sections below matching headings.
	sections []span
}

// maxMarks limits how many matching elements are considered.
const maxMarks = 1000

// isNeighbour reports whether an element of places is named exactly as the wanted surroundings, as the cell "Ada 31" beside the cell "31".
func isNeighbour(places []int32, i int32, f matchQuality) bool {
	_, found := slices.BinarySearch(places, i)
	return found && f == wholly
}

// marked finds the wanted surroundings. The texts inside the elements in places do not count, except for exact names.
func (p *page) marked(places []int32, w query) marks {
	m := marks{holders: map[int32]matchQuality{}, cards: map[int32][]span{}}
	duplicates := p.duplicates(places)
	p.measure(duplicates)
	next, until, found := 0, int32(0), 0
	for i := range int32(len(p.all)) {
		f := w.element(p.all[i])
		for next < len(places) && places[next] <= i {
			until = max(until, p.end[places[next]])
			next++
		}
		if f == not || found == maxMarks {
			continue
		}
		found++
		m.holders[i] = f
		if w.ref != dom.NoRef || w.isRole(p.all[i]) || i < until && !isNeighbour(places, i, f) {
			continue
		}
		p.card(i, f, duplicates, m.cards)
		if p.all[i].Role == "heading" {
			m.sections = append(m.sections, p.section(i, places, f))
		}
	}
	return m
}

// duplicates returns, in order, the places and the elements that share role and name with one of them.
func (p *page) duplicates(places []int32) []int32 {
	known := make(map[[2]string]bool, len(places))
	for _, i := range places {
		known[[2]string{p.all[i].Role, p.all[i].Text}] = true
	}
	var out []int32
	next := 0
	for i, e := range p.all {
		isPlace := next < len(places) && places[next] == int32(i)
		if isPlace {
			next++
		}
		if isPlace || e.Kind == dom.Interactive && known[[2]string{e.Role, e.Text}] {
			out = append(out, int32(i))
		}
	}
	return out
}

// card records which of the duplicates are closest to a text, and the span that they have in common with it.
func (p *page) card(text int32, f matchQuality, duplicates []int32, to map[int32][]span) {
	at, found := slices.BinarySearch(duplicates, text)
	behind := at
	if found {
		behind++ // another duplicate, whose name matches
	}
	depth := int32(-1)
	if at > 0 {
		depth = p.common(duplicates[at-1], text)
	}
	if behind < len(duplicates) {
		depth = max(depth, p.common(text, duplicates[behind]))
	}
	first, last := at, behind
	for first > 0 && p.common(duplicates[first-1], text) == depth {
		first--
	}
	for last < len(duplicates) && p.common(text, duplicates[last]) == depth {
		last++
	}
	isTitle := at == first && last-first < len(duplicates) && p.isTitle(text, duplicates[first], depth)
	isAbove := isTitle && last-first > 1 && p.common(duplicates[first], duplicates[last-1]) > depth
	var own []int32
	for _, i := range slices.Concat(duplicates[first:at], duplicates[behind:last]) {
		if i < text && p.holds(i, text) || i > text && p.holds(text, i) {
			continue // it is a holder
		}
		if found && p.all[i].Text == p.all[text].Text {
			continue // the words are its own name
		}
		isAlone := !p.areRows(i, text) && !p.inOtherSection(i, text, depth) && (isTitle || p.isItem(i, text, depth, last-first-(behind-at)))
		if depth > p.height && len(duplicates) > 1 || isAbove || isAlone {
			own = append(own, i)
		}
	}
	start, end := p.whole(text, depth)
	for _, i := range own {
		to[i] = append(to[i], span{start, end, f})
	}
}

// isTitle reports whether a text may be the title of the section that an element begins, below their common ancestor at a depth: it is not in
// a row or cell, and if there are controls beside it, nothing else is in that ancestor.
func (p *page) isTitle(text, i, depth int32) bool {
	b, bEnd := p.run(text, depth)
	for up := text; up >= b; up = p.parent[up] {
		if role := p.at(up).Role; rowRoles[role] || role == "cell" || role == "gridcell" {
			return false
		}
	}
	if _, controls := p.content(b, bEnd); controls == 0 {
		return true
	}
	a, aEnd := p.run(i, depth)
	return p.isTitled(b, bEnd, a, aEnd, depth)
}

// isItem reports whether a text and an element, which are the closest to each other among several, are parts of one item: of few elements,
// or of an element whose role shows that.
func (p *page) isItem(i, text, depth int32, of int) bool {
	start, end := p.whole(i, depth)
	if p.holds(start, i) && start < i && p.holds(start, text) {
		return p.isUnit(start)
	}
	return of < 2 && end-start <= maxCard
}

// inOtherSection reports whether a text belongs to a section other than the element's: the sections begin with titles of the same kind. A section
// with only a title counts if several others have controls, such as an empty column beside others.
func (p *page) inOtherSection(i, text, depth int32) bool {
	a, aEnd := p.run(i, depth)
	b, bEnd := p.run(text, depth)
	if a == i || !p.beginAlike(a, b) || p.own(a) == "" {
		return false
	}
	if _, controls := p.content(b, bEnd); controls > 0 {
		return true
	}
	sections := 0
	for from, to := p.whole(text, depth); from < to; {
		_, end := p.run(from, depth)
		if _, controls := p.content(from, end); controls > 0 && p.beginAlike(from, a) {
			sections++
		}
		from = end
	}
	return sections > 1 || b > aEnd
}

// beginAlike reports whether two elements are texts of the same kind, such as the titles of two columns.
func (p *page) beginAlike(i, j int32) bool {
	one, other := p.at(i), p.at(j)
	return one.Kind == dom.Structural && one.Kind == other.Kind && one.Tag == other.Tag
}

// whole returns the range of elements that share with i an ancestor at a depth.
func (p *page) whole(i, depth int32) (start, end int32) {
	start, end = i, i+1
	for start > 0 && p.join(start) >= depth {
		start--
	}
	for end < p.len() && p.join(end) >= depth {
		end++
	}
	return start, end
}

// isUnit reports whether the content of an element belongs together.
func (p *page) isUnit(i int32) bool {
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

// section returns the section below a heading, up to the next heading of the same or a higher level, in the innermost ancestor that also
// contains one of the places.
func (p *page) section(i int32, places []int32, f matchQuality) span {
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
	return span{i, end, f}
}
