// Package elementcontext says which one an element is, where several have the same role and name: by what stands
// around it, which are the first cells of its row, the words of its list item or card, the name of its group, or the
// nearest heading above. Tell finds these words for the elements of a view; Within goes the other way, and finds the
// elements that have given words around them.
//
// The package is pure. The work follows the number of elements; where a page is followed, Names and Tree tell few of its
// elements apart at a cost that follows what changed. Contexts have at most MaxLen bytes, and are those of
// a page: who prints them must clean and escape them.
//
// Callers owe elements in document order, parents before children.
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

// The bounds of a context.
const (
	// maxWords is about how long one part of a context is, in bytes.
	maxWords = 60
	// maxParts is how many parts a context has at most: Milk, Breakfast.
	maxParts = 3
	// MaxLen bounds a whole context, in bytes.
	MaxLen = maxParts*(maxWords+len("…")) + (maxParts-1)*len(separator)
	// maxAround is how many ancestors are looked at.
	maxAround = 16
	// maxSayings is about how many words around an element are considered.
	maxSayings = 24
	separator  = ", "
)

// Context tells an element from others.
type Context struct {
	// Words are those of a page; never empty.
	Words string
	// Left is how many characters there are behind the words, when they end in "…" for that. They are not part of the
	// context: a part of it is enough for Within.
	Left int
	// Of is the element that has the words as its text, or the first of several.
	Of *dom.Element
}

// Tell returns contexts of the wanted elements that can be acted on and share role and name with another wanted one.
// An element that is unique has none, nor have links of one name to one place. Of what stands around an element, the
// innermost that no other of the same role and name has is its context. Where there is no such thing, several are
// joined until they tell the elements apart. Elements that nothing tells apart have none. all has the elements of a
// page, the wanted ones among them.
func Tell(all, wanted []*dom.Element) map[dom.Ref]Context {
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
			p.tell(at[k], out)
		}
	}
	return out
}

// seed is that of the hashes of roles and names.
var seed = maphash.MakeSeed()

// alike returns the elements that can be acted on and share role and name, by these, each group in order.
func alike(wanted []*dom.Element) [][]*dom.Element {
	chains := newChains(len(wanted))
	var more []int32 // the first ones of those that have others alike
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

// chains are the elements that are alike, each with the next one.
type chains struct {
	// slots has the first of each, at its hash or behind it; -1: none.
	slots []int32
	// next is the next one alike, last the last one, of the first.
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

// add adds an element with a hash, and returns the first one that is alike.
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

// isOneLink reports whether elements are links to one place: it does not matter which is meant.
func isOneLink(group []*dom.Element) bool {
	other := func(e *dom.Element) bool { return e.Href == "" || e.Href != group[0].Href }
	return !slices.ContainsFunc(group, other)
}

// saying is words that stand around an element.
type saying struct {
	words string
	of    int32
	// left is how many characters there are behind the words, when they end in "…".
	left int
}

// tally counts how many elements have words around them.
type tally struct{ n, last int32 }

// tell finds the contexts of elements of one role and name. Those of a cluster, such as the stars of one question among those of
// several, have one context.
func (p *page) tell(group []int32, out map[dom.Ref]Context) {
	p.measure(group)
	clusters := p.clusters(group)
	if len(clusters) == len(group) {
		p.tellEach(group, out)
		return
	}
	firsts := make([]int32, len(clusters))
	for n, cluster := range clusters {
		firsts[n] = cluster[0]
	}
	p.measure(firsts)
	p.tellEach(firsts, out)
	for _, cluster := range clusters {
		if c, known := out[p.at(cluster[0]).Ref]; known {
			for _, i := range cluster[1:] {
				out[p.at(i).Ref] = c
			}
		}
	}
}

// clusters divides the members of a group, whose joins are measured. Those that are closer to each other than to all others, with no
// words between them, are one cluster, but only if there is another cluster of the same shape: the words before a single one may
// belong to something else.
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

// shape says what the elements of a run are: how many, of which tag, and, where they have no name, what the first looks like.
func (p *page) shape(run []int32) string {
	first, look := p.at(run[0]), ""
	if first.Text == "" {
		look, _, _ = strings.Cut(first.Hints, " ")
	}
	return fmt.Sprintf("%d %s %s", len(run), first.Tag, look)
}

// runsOf divides the members of a group into those that stand together.
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

// maxGap is how many elements stand between two of a cluster at most.
const maxGap = 8

// isNext reports whether no words stand between two elements.
func (p *page) isNext(i, j int32) bool {
	if j-i > maxGap {
		return false
	}
	for k := p.endOf(i, j); k < j; k++ {
		if strings.ContainsFunc(p.own(k), isWordly) {
			return false
		}
	}
	return true
}

// tellEach finds the contexts of elements of one role and name, whose joins are measured: one context for each.
func (p *page) tellEach(group []int32, out map[dom.Ref]Context) {
	around := make([][]saying, len(group))
	members := make([]int, len(group))
	for k := range group {
		if p.isTooMuch() {
			return
		}
		around[k], members[k] = p.around(group, k), k
	}
	p.tellPart(group, around, members, nil, out, 0)
}

// tellPart adds a part to the contexts of some of a group, so that they differ as far as possible from those of the
// others, and goes on where others have the same words around them. Those in done differ already.
func (p *page) tellPart(group []int32, around [][]saying, members []int, done []bool, out map[dom.Ref]Context, part int) {
	have := make(map[string]tally, len(members))
	for _, k := range members {
		for _, s := range around[k] {
			if t := have[s.words]; t.n == 0 || t.last != int32(k) {
				have[s.words] = tally{t.n + 1, int32(k)}
			}
		}
	}
	shared := make(map[string][]int) // what does not suffice
	chosen := make([]string, len(members))
	for n, k := range members {
		if done != nil && done[n] {
			continue
		}
		best, count := saying{}, int32(len(members))
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
			out[e.Ref] = Context{Words: c.Words + separator + best.words, Left: best.left, Of: c.Of}
		} else {
			out[e.Ref] = Context{Words: best.words, Left: best.left, Of: p.at(best.of)}
		}
		if count > 1 && part+1 < maxParts {
			shared[best.words], chosen[n] = nil, best.words
		}
	}
	if len(shared) > 0 {
		p.tellFurther(group, around, members, chosen, shared, out, part)
	}
}

// tellFurther tells those apart that got the same words: shared has these words, and gets who has them around it; chosen
// has what each of the members got.
func (p *page) tellFurther(group []int32, around [][]saying, members []int, chosen []string, shared map[string][]int, out map[dom.Ref]Context, part int) {
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
		p.tellPart(group, around, some, done, out, part+1)
	}
}

// around returns what stands around one of a group, in its card and in what holds the card, the innermost first. The
// name of the element itself tells nothing.
func (p *page) around(group []int32, k int) (out []saying) {
	name := p.at(group[k]).Text
	add := func(all ...saying) {
		for _, s := range all {
			if s.words != "" && s.words != name && len(out) < maxSayings && !p.isNumberBeside(group[k], s) {
				out = append(out, s)
			}
		}
	}
	add(p.inCard(group, k)...)
	isBare := len(out) == 0
	up := p.up(group[k])
	for n := 0; up >= 0 && n < maxAround && !p.covers(up, group); n++ {
		if !p.isAlone(up, group, k) {
			for _, s := range p.says(up) {
				if s.of == up || !p.isOthers(s.of, group, k) && !p.belongs(s.of, up, group, k) && !p.areRows(group[k], s.of) {
					add(s)
				}
			}
		}
		up = p.up(up)
	}
	for h, n := p.headingOf(group, k), 0; h >= 0 && n < maxHeadings; h, n = p.above(h), n+1 {
		if p.heads(h, group[k]) && !p.isOthers(h, group, k) {
			add(p.saying(p.at(h).Text, h))
		}
	}
	if isBare {
		add(p.inBox(group, k)...)
		add(p.beside(group, k))
	}
	return out
}

// isNumberBeside reports whether the numbers around an element are named as that itself is, as the days around a day are: they tell nothing. The
// number of a row is another kind of element.
func (p *page) isNumberBeside(i int32, s saying) bool {
	e, of := p.at(i), p.at(s.of)
	if strings.ContainsFunc(e.Text+s.words, unicode.IsLetter) || !strings.ContainsFunc(e.Text, unicode.IsNumber) {
		return false
	}
	return of.Tag == e.Tag || of.Role == e.Role || strings.Contains(s.words, " ")
}

// inCard returns what the card of one of a group says: what stands closest to it first. A heading comes before the
// other words that are as close, and what has no letters comes last.
func (p *page) inCard(group []int32, k int) (out []saying) {
	i, near := group[k], p.closest(k)
	var numbers []saying
	start, end := i, i+1
	for n := 0; n < maxAround && end-start < maxScanned && len(out) < maxSayings; n++ {
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
			from, to = up, p.endOf(up, up+maxScanned) // the first cells say more than the one around
		}
		if from < i && p.holds(from, i) {
			out = append(out, p.says(from)...)
		} else {
			words, rest := p.closer(i, from, start, end, to, depth <= p.height)
			out, numbers = append(out, words...), append(numbers, rest...)
		}
		start, end = min(start, from), max(end, to)
	}
	return append(out, numbers...)
}

// closer returns the texts between two places and the next two around an element: first a heading, then words, and
// apart from these what has no letters. apart leaves out those of other things of the same kind.
func (p *page) closer(i, from, start, end, to int32, apart bool) (words, numbers []saying) {
	var headings, others []saying
	for j := from; j < to; {
		if j >= start && j < end {
			j = end
			continue
		}
		e, text := p.at(j), p.own(j)
		if !strings.ContainsFunc(text, isWordly) || p.isRepeated(j) || apart && p.areRows(i, j) {
			j++
			continue
		}
		s := p.saying(text, j)
		switch {
		case e.Role == "heading":
			headings = append(headings, s)
		case !strings.ContainsFunc(text, unicode.IsLetter):
			numbers = append(numbers, s)
		case e.Kind == dom.Structural || e.Role == "link":
			words = append(words, s)
		default:
			others = append(others, s)
		}
		if e.Kind == dom.Structural && !namedByAuthor[e.Role] {
			j = p.endOf(j, to) // its text is that of what stands in it
		} else {
			j++
		}
	}
	return append(append(headings, words...), others...), numbers
}

// isWordly reports whether a character is a letter or a number.
func isWordly(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }

// isAlone reports whether nothing else of a group stands in an element around the one.
func (p *page) isAlone(up int32, group []int32, k int) bool {
	return (k+1 == len(group) || !p.holds(up, group[k+1])) && (k == 0 || group[k-1] < up)
}

// belongs reports whether an element in the element up belongs to another one of a group.
func (p *page) belongs(i, up int32, group []int32, k int) bool {
	if i == up || p.isAlone(up, group, k) {
		return false
	}
	for above := p.up(i); above != up; above = p.up(i) {
		i = above
	}
	at, _ := slices.BinarySearch(group, i)
	if at == k {
		at++
	}
	return at < len(group) && p.holds(i, group[at])
}

// covers reports whether a whole group stands in an element.
func (p *page) covers(i int32, group []int32) bool {
	return i < group[0] && p.holds(i, group[len(group)-1])
}

// headingOf returns the nearest heading above one of a group that is not part of the card of another; -1: there is none.
func (p *page) headingOf(group []int32, k int) int32 {
	i := group[k]
	if h := p.headingBefore(i); h >= 0 && p.heads(h, i) && !p.isOthers(h, group, k) {
		return h
	}
	return p.headingAround(i)
}

// maxHeadings is how many headings above an element are considered, of deeper and deeper sections around it.
const maxHeadings = 4

// above returns the heading of the section that a heading stands in; -1: there is none.
func (p *page) above(h int32) int32 {
	level := p.at(h).Level
	for n := 0; h >= 0 && p.at(h).Level >= level; n++ {
		if h = p.headingBefore(h); n == maxAround {
			return -1
		}
	}
	return h
}

// inBox returns the words before one of a group in a box in which the others stand in cards of their own, such as a
// comment with its answers.
func (p *page) inBox(group []int32, k int) []saying {
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
	words, _ := p.closer(i, from, i, i+1, i, false)
	return words
}

// beside returns the words next to one of a group whose members stand in one element, with texts between them: all
// before their words, or all behind them. Where both could be meant, there are none.
func (p *page) beside(group []int32, k int) saying {
	depth := p.closest(k)
	if depth < 0 {
		return saying{}
	}
	before, behind := p.neighbour(group, k, -1, depth), p.neighbour(group, k, 1, depth)
	if before < 0 && behind < 0 {
		return saying{}
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
			return saying{} // nothing stands between two of them
		}
	}
	above, below := p.neighbour(group, first, -1, depth), p.neighbour(group, last, 1, depth)
	between := p.at(p.neighbour(group, first, 1, depth)).Tag
	switch {
	case above >= 0 && below >= 0:
		isAbove, isBelow := p.at(above).Tag == between, p.at(below).Tag == between
		if isAbove == isBelow {
			return saying{}
		}
		if isBelow {
			before = behind
		}
	case above < 0:
		before = behind
	}
	if before < 0 || p.at(before).Role == "heading" {
		return saying{}
	}
	return p.saying(p.own(before), before)
}

// maxBeside is how many elements before or behind another one are looked at.
const maxBeside = 16

// neighbour returns the closest text before or behind one of a group, outside of its card and those of the others, with
// which it has an ancestor at a depth in common; -1: there is none.
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

// saying returns what an element says in words, which are its text or the beginning of it.
func (p *page) saying(words string, of int32) saying {
	left := 0
	if strings.HasSuffix(words, "…") {
		left = p.at(of).Left
	}
	words, left = cut(words, left)
	return saying{words, of, left}
}

// cut shortens words at a space. left is how many characters there are behind them.
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
