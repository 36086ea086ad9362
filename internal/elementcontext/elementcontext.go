// Package elementcontext distinguishes elements that have the same role and name by their surroundings: the first cells of the row, the
// words of the list item or card, the name of the group, or the nearest heading above. Distinguish finds these words for the elements of a
// view. Within is the inverse: it finds the elements with given words in their surroundings.
//
// The package is pure. The cost depends on the number of elements. For pages that are followed, Names and Tree distinguish a few elements
// at a cost that depends on the changes. Contexts have at most MaxLen bytes, and consist of untrusted words of the page, which must be
// cleaned and escaped before printing.
//
// Callers must pass elements in document order, parents before children.
package elementcontext

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
)

// Limits of contexts.
const (
	// maxWords is the approximate maximum length of one part of a context in bytes.
	maxWords = 60
	// maxParts limits how many parts a context has: Milk, Breakfast.
	maxParts = 3
	// MaxLen is the maximum length of a context in bytes.
	MaxLen = maxParts*(maxWords+len("…")) + (maxParts-1)*len(Separator)
	// maxAround limits how many ancestors are examined.
	maxAround = 16
	// maxPhrases is the approximate maximum number of texts that are considered around an element.
	maxPhrases = 24
	// Separator is between the parts of a context.
	Separator = ", "
)

// Context distinguishes an element from others.
type Context struct {
	// Words are words of the page. They are never empty.
	Words string
	// Left is the number of characters omitted after the words, if they end in "…" because of that. The omitted characters are not part of
	// the context, and Within does not need them.
	Left int
	// Of is the element whose text the words are, or the first of several.
	Of *dom.Element
}

// Distinguish returns contexts for the wanted interactive elements that share role and name with another wanted one. Unique elements have no
// context, nor have links with the same name and target. The context of an element is the innermost text around it that no other element of
// the same role and name has. If there is none, several texts are joined until they distinguish the elements. Elements that nothing
// distinguishes have no context. all holds the elements of a page, including the wanted ones.
func Distinguish(all, wanted []*dom.Element) map[dom.Ref]Context {
	groups := alike(wanted)
	if !slices.ContainsFunc(groups, func(g []*dom.Element) bool { return !isOneLink(g) }) {
		return nil
	}
	p := newPage(all)
	at := p.places(groups)
	for _, members := range at {
		for _, i := range members {
			p.repeated[i] = true
		}
	}
	out := make(map[dom.Ref]Context, len(wanted))
	for k, group := range groups {
		if !isOneLink(group) {
			p.distinguish(at[k], out)
		}
	}
	return out
}

// seed is the seed for the hashes of roles and names.
var seed = maphash.MakeSeed()

// alike returns the interactive elements that share role and name, grouped by these, each group in order.
func alike(wanted []*dom.Element) [][]*dom.Element {
	chains := newChains(len(wanted))
	var more []int32 // the first elements of groups with several elements
	for i, e := range wanted {
		if e.Kind != dom.Interactive {
			continue
		}
		first := chains.add(hashOf(e), int32(i), func(j int32) bool {
			return wanted[j].Text == e.Text && wanted[j].Role == e.Role
		})
		if first != int32(i) && chains.next[first] == int32(i) {
			more = append(more, first)
		}
	}
	groups := make([][]*dom.Element, len(more))
	for k, first := range more {
		for i := first; i >= 0; i = chains.next[i] {
			groups[k] = append(groups[k], wanted[i])
		}
	}
	return groups
}

// chains links the elements that are alike.
type chains struct {
	// slots holds the first element of each chain, at its hash or after it; -1 means none.
	slots []int32
	// next is the next element that is alike. last is the last one, for the first element of a chain.
	next, last []int32
}

func newChains(n int) *chains {
	size := 8
	for size < 2*n {
		size *= 2
	}
	c := &chains{slots: make([]int32, size), next: make([]int32, n), last: make([]int32, n)}
	for i := range c.slots {
		c.slots[i] = -1
	}
	return c
}

// add adds an element with a hash, and returns the first element that is alike.
func (c *chains) add(hash uint64, i int32, alike func(int32) bool) (first int32) {
	c.next[i], c.last[i] = -1, i
	for at := hash; ; at++ {
		slot := &c.slots[at&uint64(len(c.slots)-1)]
		switch first := *slot; {
		case first < 0:
			*slot = i
			return i
		case alike(first):
			c.next[c.last[first]], c.last[first] = i, i
			return first
		}
	}
}

// isOneLink reports whether elements are links to the same target, so that they need not be distinguished.
func isOneLink(group []*dom.Element) bool {
	other := func(e *dom.Element) bool { return e.Href == "" || e.Href != group[0].Href }
	return !slices.ContainsFunc(group, other)
}

// phrase is a text around an element.
type phrase struct {
	words string
	of    int32
	// left is the number of characters omitted after the words, if they end in "…".
	left int
}

// tally counts how many elements have a text around them.
type tally struct{ n, last int32 }

// distinguish finds the contexts of elements with one role and name. The elements of a cluster, such as the stars of one question among
// several, share one context.
func (p *page) distinguish(group []int32, out map[dom.Ref]Context) {
	p.measure(group)
	clusters := p.clusters(group)
	if len(clusters) == len(group) {
		p.distinguishEach(group, out)
		return
	}
	firsts := make([]int32, len(clusters))
	for n, cluster := range clusters {
		firsts[n] = cluster[0]
	}
	p.measure(firsts)
	p.distinguishEach(firsts, out)
	for _, cluster := range clusters {
		if c, known := out[p.at(cluster[0]).Ref]; known {
			for _, i := range cluster[1:] {
				out[p.at(i).Ref] = c
			}
		}
	}
}

// clusters divides the members of a group, whose joins are measured. Members that are closer to each other than to all others, without
// words between them, form a cluster if there is another cluster of the same shape. The words before a single cluster may belong to
// something else.
func (p *page) clusters(group []int32) (out [][]int32) {
	runs := p.runsOf(group)
	many := make(map[string]int, len(runs))
	for _, run := range runs {
		if len(run) > 1 {
			many[p.shape(run)]++
		}
	}
	for _, run := range runs {
		if len(run) > 1 && many[p.shape(run)] > 1 {
			out = append(out, run)
			continue
		}
		for n := range run {
			out = append(out, run[n:n+1])
		}
	}
	return out
}

// shape describes the elements of a run: their number, their tag, and, if they have no name, the appearance of the first one.
func (p *page) shape(run []int32) string {
	first, look := p.at(run[0]), ""
	if first.Text == "" {
		look, _, _ = strings.Cut(first.Hints, " ")
	}
	return fmt.Sprintf("%d %s %s", len(run), first.Tag, look)
}

// runsOf divides the members of a group into runs of adjacent elements.
func (p *page) runsOf(group []int32) (out [][]int32) {
	for from := 0; from < len(group); {
		to, least := from+1, int32(math.MaxInt32)
		for to < len(group) && p.shared[to] > p.shared[from] && p.isNext(group[to-1], group[to]) {
			least = min(least, p.shared[to])
			to++
		}
		if to > from+1 && least <= p.shared[to] {
			to = from + 1
		}
		out = append(out, group[from:to])
		from = to
	}
	return out
}

// maxGap limits how many elements are between two members of a cluster.
const maxGap = 8

// isNext reports whether there are no words between two elements.
func (p *page) isNext(i, j int32) bool {
	if j-i > maxGap {
		return false
	}
	for k := p.endOf(i, j); k < j; k++ {
		if strings.ContainsFunc(p.own(k), isWordRune) {
			return false
		}
	}
	return true
}

// distinguishEach finds a context for each of several elements with one role and name, whose joins are measured.
func (p *page) distinguishEach(group []int32, out map[dom.Ref]Context) {
	around := make([][]phrase, len(group))
	members := make([]int, len(group))
	titles := p.titles(group)
	for k := range group {
		if p.exceedsBudget() {
			return
		}
		around[k], members[k] = p.around(group, k, titles[k]), k
	}
	p.addPart(group, around, members, nil, out, 0)
}

// addPart adds a part to the contexts of some members of a group, so that they differ as far as possible from the others, and continues
// where others have the same words around them. The contexts of members in distinct already differ.
func (p *page) addPart(group []int32, around [][]phrase, members []int, distinct []bool, out map[dom.Ref]Context, part int) {
	have := make(map[string]tally, len(members))
	for _, k := range members {
		for _, s := range around[k] {
			if t := have[s.words]; t.n == 0 || t.last != int32(k) {
				have[s.words] = tally{t.n + 1, int32(k)}
			}
		}
	}
	shared := make(map[string][]int) // the words that are not sufficient
	chosen := make([]string, len(members))
	for n, k := range members {
		if distinct != nil && distinct[n] {
			continue
		}
		best, count := phrase{}, int32(len(members))
		for _, s := range around[k] {
			if have[s.words].n < count {
				best, count = s, have[s.words].n
			}
			if count == 1 {
				break
			}
		}
		if best.words == "" {
			continue
		}
		e := p.at(group[k])
		if c, known := out[e.Ref]; known {
			out[e.Ref] = Context{Words: c.Words + Separator + best.words, Left: best.left, Of: c.Of}
		} else {
			out[e.Ref] = Context{Words: best.words, Left: best.left, Of: p.at(best.of)}
		}
		if count > 1 && part+1 < maxParts {
			shared[best.words], chosen[n] = nil, best.words
		}
	}
	if len(shared) > 0 {
		p.addFurtherPart(group, around, members, chosen, shared, out, part)
	}
}

// addFurtherPart distinguishes members that got the same words. The keys of shared are these words; addFurtherPart fills in the members
// that have them in their surroundings. chosen holds the words of each member.
func (p *page) addFurtherPart(group []int32, around [][]phrase, members []int, chosen []string, shared map[string][]int, out map[dom.Ref]Context, part int) {
	for n, k := range members {
		for _, s := range around[k] {
			if having, is := shared[s.words]; is && (len(having) == 0 || having[len(having)-1] != n) {
				shared[s.words] = append(having, n)
			}
		}
	}
	for words, having := range shared {
		some, done := make([]int, len(having)), make([]bool, len(having))
		for at, n := range having {
			some[at], done[at] = members[n], chosen[n] != words
		}
		p.addPart(group, around, some, done, out, part+1)
	}
}

// around returns the texts around a member of a group, in its card, in the titles of the sections around it, and in the ancestors of the
// card, innermost first. It excludes the name of the element itself, which distinguishes nothing.
func (p *page) around(group []int32, k int, titles []phrase) (out []phrase) {
	e := p.at(group[k])
	name := e.Text
	add := func(all ...phrase) {
		for _, s := range all {
			if isTextField(e) && s.words == valueOf(p.at(s.of)) {
				continue // the values of fields do not name each other
			}
			if s.words != "" && s.words != name && len(out) < maxPhrases && !p.isNumberBeside(group[k], s) && !p.headsOtherColumn(group[k], s) {
				out = append(out, s)
			}
		}
	}
	add(p.inCard(group, k)...)
	isBare := len(out) == 0
	add(titles...)
	up := p.up(group[k])
	for n := 0; up >= 0 && n < maxAround && !p.covers(up, group); n++ {
		if !p.isAlone(up, group, k) {
			for _, s := range p.phrasesOf(up) {
				if s.of == up || !p.isOthers(s.of, group, k) && !p.belongs(s.of, up, group, k) && !p.areRows(group[k], s.of) {
					add(s)
				}
			}
		}
		up = p.up(up)
	}
	for h, n := p.headingOf(group, k), 0; h >= 0 && n < maxHeadings; h, n = p.above(h), n+1 {
		if p.heads(h, group[k]) && !p.isOthers(h, group, k) {
			add(p.phrase(p.at(h).Text, h))
		}
	}
	if isBare {
		add(p.inBox(group, k)...)
		add(p.beside(group, k))
	}
	return out
}

// isNumberBeside reports whether a number beside an element belongs to a neighbour of the same kind, as the days around a day do. Such a
// number distinguishes nothing. The number of a row belongs to another kind of element.
func (p *page) isNumberBeside(i int32, s phrase) bool {
	e, of := p.at(i), p.at(s.of)
	if strings.ContainsFunc(e.Text+s.words, unicode.IsLetter) || !strings.ContainsFunc(e.Text, unicode.IsNumber) {
		return false
	}
	return of.Tag == e.Tag || of.Role == e.Role || strings.Contains(s.words, " ") || IsCell(e) && of.Role != "rowheader"
}

// headsOtherColumn reports whether a text is the header of a table column other than the element's, such as the first weekday above a
// calendar.
func (p *page) headsOtherColumn(i int32, s phrase) bool {
	if p.at(s.of).Role != "columnheader" {
		return false
	}
	for up := p.up(i); up >= 0; i, up = up, p.up(up) {
		if p.at(up).Role == "row" {
			return p.column(i) != p.column(s.of)
		}
	}
	return false
}

// column returns the index of a cell in its row.
func (p *page) column(cell int32) (n int) {
	for j := p.up(cell) + 1; j < cell && n < maxScanned; n++ {
		j = p.endOf(j, cell)
	}
	return n
}

// inCard returns the texts in the card of a member of a group, closest first. At the same distance, a heading precedes other words. Texts of
// other items of the card, such as the other tasks of a column, and texts without letters come last.
func (p *page) inCard(group []int32, k int) (out []phrase) {
	i, near := group[k], p.closest(k)
	var others, numbers []phrase
	start, end := i, i+1
	for n := 0; n < maxAround && end-start < maxScanned && len(out) < maxPhrases; n++ {
		depth := int32(-1)
		if start > 0 {
			depth = p.join(start)
		}
		if end < p.len() {
			depth = max(depth, p.join(end))
		}
		if depth <= near || depth < 0 {
			break
		}
		from, to := p.run(i, depth-1)
		if up := p.up(from); up >= 0 && p.at(up).Role == "row" && p.holds(from, i) && p.isAlone(up, group, k) {
			from, to = up, p.endOf(up, up+maxScanned) // the first cells are more useful than the cell around
		}
		if from < i && p.holds(from, i) {
			for _, s := range p.phrasesOf(from) {
				if s.of != from && p.at(from).Role != "row" && p.areRows(i, s.of) {
					others = append(others, s)
				} else {
					out = append(out, s)
				}
			}
		} else {
			isOther := func(int32) bool { return false }
			if len(others) == 0 { // otherwise the range is a list, not an item
				isOther = p.itemsBeside(start, end, depth)
			}
			t := p.textsBetween(i, from, start, end, to, depth <= p.height, isOther)
			out, others, numbers = append(out, t.words...), append(others, t.items...), append(numbers, t.numbers...)
		}
		start, end = min(start, from), max(end, to)
	}
	return slices.Concat(out, others, numbers)
}

// itemsBeside returns a function that reports whether an element is in an item of the same kind as the range from start to end, with which
// it has a common ancestor at a depth. It must be called in document order.
func (p *page) itemsBeside(start, end, depth int32) func(int32) bool {
	texts, controls := p.content(start, end)
	until, is := int32(0), false
	return func(j int32) bool {
		if j < until {
			return is
		}
		one, other := p.at(start), p.at(j)
		until = j + 1
		for until < p.len() && until-j < maxScanned && p.join(until) > depth {
			until++
		}
		if is = one.Role == other.Role && (rowRoles[one.Role] || p.isWhole(start) && p.isWhole(j)); is || one.Tag != other.Tag || one.Kind != other.Kind {
			return is
		}
		otherTexts, otherControls := p.content(j, until)
		is = texts > 0 && otherTexts > 0 && controls > 0 && controls == otherControls
		return is
	}
}

// isWhole reports whether an element is a control that is an item itself, such as a card that can be dragged.
func (p *page) isWhole(i int32) bool {
	e := p.at(i)
	return e.Kind == dom.Interactive && (e.Role == "generic" || p.endOf(i, i+2) > i+1)
}

// nearby are texts around an element: the words, the words of other items, and the texts without letters.
type nearby struct{ words, items, numbers []phrase }

// textsBetween returns the texts around an element that are between from and to but not between start and end: headings first, then words.
// apart excludes the texts of other items of the same kind. isOther reports whether an element belongs to another item.
func (p *page) textsBetween(i, from, start, end, to int32, apart bool, isOther func(int32) bool) (out nearby) {
	var headings, others []phrase
	for j := from; j < to; {
		if j >= start && j < end {
			j = end
			continue
		}
		e, text, other := p.at(j), p.own(j), isOther(j)
		if !strings.ContainsFunc(text, isWordRune) || p.isRepeated(j) || apart && p.areRows(i, j) {
			if value := valueOf(e); value != "" && !isTextField(p.at(i)) && !(apart && p.areRows(i, j)) {
				others = append(others, p.phrase(value, j))
			}
			j++
			continue
		}
		s := p.phrase(text, j)
		switch {
		case other:
			out.items = append(out.items, s)
		case e.Role == "heading":
			headings = append(headings, s)
		case !strings.ContainsFunc(text, unicode.IsLetter):
			out.numbers = append(out.numbers, s)
		case e.Kind == dom.Structural || e.Role == "link":
			out.words = append(out.words, s)
		default:
			others = append(others, s)
		}
		if e.Kind == dom.Structural && !namedByAuthor[e.Role] {
			j = p.endOf(j, to) // the text of the element is the text of its content
		} else {
			j++
		}
	}
	out.words = slices.Concat(headings, out.words, others)
	return out
}

// isWordRune reports whether a character is a letter or a number.
func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }

// isAlone reports whether an element around a member contains no other member of the group.
func (p *page) isAlone(up int32, group []int32, k int) bool {
	return (k+1 == len(group) || !p.holds(up, group[k+1])) && (k == 0 || group[k-1] < up)
}

// belongs reports whether an element inside its ancestor belongs to another member of a group.
func (p *page) belongs(i, ancestor int32, group []int32, k int) bool {
	if i == ancestor || p.isAlone(ancestor, group, k) {
		return false
	}
	for above := p.up(i); above != ancestor; above = p.up(i) {
		i = above
	}
	at, _ := slices.BinarySearch(group, i)
	if at == k {
		at++
	}
	return at < len(group) && p.holds(i, group[at])
}

// covers reports whether an element contains a whole group.
func (p *page) covers(i int32, group []int32) bool {
	return i < group[0] && p.holds(i, group[len(group)-1])
}

// headingOf returns the nearest heading above a member of a group that is not part of another member's card, or -1 if there is none.
func (p *page) headingOf(group []int32, k int) int32 {
	i := group[k]
	if h := p.headingBefore(i); h >= 0 && p.heads(h, i) && !p.isOthers(h, group, k) {
		return h
	}
	return p.headingAround(i)
}

// maxHeadings limits how many headings above an element are considered, from the innermost section outwards.
const maxHeadings = 4

// above returns the heading of the section that contains a heading, or -1 if there is none.
func (p *page) above(h int32) int32 {
	level := p.at(h).Level
	for n := 0; h >= 0 && p.at(h).Level >= level; n++ {
		if h = p.headingBefore(h); n == maxAround {
			return -1
		}
	}
	return h
}

// inBox returns the words before a member of a group in a box in which the other members have their own cards, such as a comment with its
// answers.
func (p *page) inBox(group []int32, k int) []phrase {
	depth := p.closest(k)
	if depth < 0 || p.shared[k] >= depth {
		return nil
	}
	for n := k + 1; n < len(group) && n-k < maxBeside && p.shared[n] >= depth; n++ {
		if texts, _ := p.content(p.run(group[n], depth)); texts == 0 {
			return nil
		}
	}
	i := group[k]
	from, _ := p.run(i, depth-1)
	if p.holds(from, i) {
		from++
	}
	return p.textsBetween(i, from, i, i+1, i, false, func(int32) bool { return false }).words
}

// beside returns the words next to a member of a group whose members are siblings, with texts between them: either all members precede
// their words, or all follow them. If both are possible, it returns nothing.
func (p *page) beside(group []int32, k int) phrase {
	depth := p.closest(k)
	if depth < 0 {
		return phrase{}
	}
	before, behind := p.neighbour(group, k, -1, depth), p.neighbour(group, k, 1, depth)
	if before < 0 && behind < 0 {
		return phrase{}
	}
	first, last := k, k
	for first > 0 && k-first < maxBeside && p.shared[first] == depth {
		first--
	}
	for last+1 < len(group) && last-k < maxBeside && p.shared[last+1] == depth {
		last++
	}
	for n := first; n < last; n++ {
		if p.neighbour(group, n, 1, depth) < 0 {
			return phrase{} // there is nothing between two of them
		}
	}
	above, below := p.neighbour(group, first, -1, depth), p.neighbour(group, last, 1, depth)
	between := p.at(p.neighbour(group, first, 1, depth)).Tag
	switch {
	case above >= 0 && below >= 0:
		isAbove, isBelow := p.at(above).Tag == between, p.at(below).Tag == between
		if isAbove == isBelow {
			return phrase{}
		}
		if isBelow {
			before = behind
		}
	case above < 0:
		before = behind
	}
	if before < 0 || p.at(before).Role == "heading" {
		return phrase{}
	}
	return p.phrase(p.own(before), before)
}

// maxBeside limits how many elements before or after another one are examined.
const maxBeside = 16

// neighbour returns the closest text before or after a member of a group that has a common ancestor with it at a depth, or -1 if there is
// none. The text must be outside of the cards of all members.
func (p *page) neighbour(group []int32, k int, step, depth int32) int32 {
	i := group[k]
	start, end := p.run(i, depth)
	j := start - 1
	if step > 0 {
		j = max(end, p.endOf(i, p.len()))
	}
	for n := 0; n < maxBeside && j >= 0 && j < p.len() && p.common(i, j) == depth; j, n = j+step, n+1 {
		if other := k + int(step); other >= 0 && other < len(group) && (j == group[other] || p.common(j, group[other]) > depth) {
			return -1
		}
		if j < i && p.holds(j, i) {
			return -1
		}
		if p.at(j).Kind == dom.Structural && p.own(j) != "" {
			return j
		}
	}
	return -1
}

// phrase returns a phrase of words, which are the text of an element or its beginning.
func (p *page) phrase(words string, of int32) phrase {
	left := 0
	if strings.HasSuffix(words, "…") {
		left = p.at(of).Left
	}
	words, left = cut(words, left)
	return phrase{words, of, left}
}

// cut shortens words at a space. left is the number of characters omitted after them.
func cut(words string, left int) (string, int) {
	if len(words) <= maxWords {
		return words, left
	}
	end := cmp.Or(max(strings.LastIndexByte(words[:maxWords], ' '), 0), maxWords)
	for end > 0 && words[end]&0xc0 == 0x80 {
		end--
	}
	left += utf8.RuneCountInString(strings.TrimSuffix(words[end:], "…"))
	return strings.TrimSuffix(words[:end], "…") + "…", left
}
