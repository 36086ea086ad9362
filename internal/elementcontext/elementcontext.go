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
	"hash/maphash"
	"slices"
	"strings"
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
			p.tell(at[k], nil, out, 0)
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

// tell adds a part to the contexts of elements of one role and name, so that they differ as far as possible from those
// of the others, and goes on where others have the same words around them. Those in done differ already.
func (p *page) tell(group []int32, done []bool, out map[dom.Ref]Context, part int) {
	around := make([][]saying, len(group))
	have := make(map[string]tally, len(group))
	for k := range group {
		if p.isTooMuch() {
			return
		}
		around[k] = p.around(group, k)
		for _, s := range around[k] {
			if t := have[s.words]; t.n == 0 || t.last != int32(k) {
				have[s.words] = tally{t.n + 1, int32(k)}
			}
		}
	}
	shared := make(map[string][]int32) // what does not suffice
	chosen := make([]string, len(group))
	for k, i := range group {
		if done != nil && done[k] {
			continue
		}
		best, n := saying{}, int32(len(group))
		for _, s := range around[k] {
			if have[s.words].n < n {
				best, n = s, have[s.words].n
			}
			if n == 1 {
				break
			}
		}
		if best.words == "" {
			continue
		}
		e := p.at(i)
		if c, known := out[e.Ref]; known {
			out[e.Ref] = Context{Words: c.Words + separator + best.words, Left: best.left, Of: c.Of}
		} else {
			out[e.Ref] = Context{Words: best.words, Left: best.left, Of: p.at(best.of)}
		}
		if n > 1 && part+1 < maxParts {
			shared[best.words], chosen[k] = nil, best.words
		}
	}
	if len(shared) > 0 {
		p.tellFurther(group, around, chosen, shared, out, part)
	}
}

// tellFurther tells those of a group apart that got the same words: shared has these words, and gets who has them around it; chosen has what each
// of the group got.
func (p *page) tellFurther(group []int32, around [][]saying, chosen []string, shared map[string][]int32, out map[dom.Ref]Context, part int) {
	for k := range group {
		for _, s := range around[k] {
			if having, is := shared[s.words]; is && (len(having) == 0 || having[len(having)-1] != int32(k)) {
				shared[s.words] = append(having, int32(k))
			}
		}
	}
	for words, having := range shared {
		members, done := make([]int32, len(having)), make([]bool, len(having))
		for n, k := range having {
			members[n], done[n] = group[k], chosen[k] != words
		}
		p.tell(members, done, out, part+1)
	}
}

// around returns what stands around one of a group: the innermost first, and nothing that stands around all of it. The
// name of the element itself tells nothing.
func (p *page) around(group []int32, k int) (out []saying) {
	i, name := group[k], p.at(group[k]).Text
	add := func(all ...saying) {
		for _, s := range all {
			if s.words != "" && s.words != name {
				out = append(out, s)
			}
		}
	}
	up := p.up(i)
	for n := 0; up >= 0 && n < maxAround && len(out) < maxSayings && !p.covers(up, group); n++ {
		row := p.up(up)
		if row >= 0 && p.at(row).Role == "row" && p.isAlone(row, group, k) {
			up = row // the first cells say more than the one around
		}
		for _, s := range p.says(up) {
			if !p.belongs(s.of, up, group, k) {
				add(s)
			}
		}
		up = p.up(up)
	}
	for h, n := p.headingOf(group, k), 0; h >= 0 && n < maxHeadings; h, n = p.above(h), n+1 {
		add(p.saying(p.at(h).Text, h))
	}
	if len(out) == 0 {
		add(p.beside(group, k, up))
	}
	return out
}

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

// headingOf returns the nearest heading above one of a group; -1: there is none. A heading that stands before another of
// the group counts only for what stands in the same container.
func (p *page) headingOf(group []int32, k int) int32 {
	i := group[k]
	if h := p.headingBefore(i); h >= 0 && (k == 0 || h > group[k-1]) {
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

// maxBeside is how many elements before or behind another one are looked at.
const maxBeside = 16

// beside returns the words next to one of a group: those before each, or else those behind each, up to the next of the
// group and inside the element up that holds the group.
func (p *page) beside(group []int32, k int, up int32) saying {
	if first := p.last(up, group[0], -1); first.words != "" {
		if k == 0 {
			return first
		}
		return p.last(up, group[k], group[k-1])
	}
	end := p.len()
	if k+1 < len(group) {
		end = group[k+1]
	}
	behind := p.endOf(group[k], end)
	for j := behind; j < min(end, behind+maxBeside) && (up < 0 || p.holds(up, j)); j++ {
		if words := p.own(j); words != "" && p.isBeside(j, group[k]) && p.at(j).Role != "heading" {
			return p.saying(words, j)
		}
	}
	return saying{}
}

// last returns the last words before a place that do not stand around it: behind the element up, and behind all of
// the one of the group before; -1: there is no such element.
func (p *page) last(up, i, before int32) saying {
	for j := i - 1; j > up && j >= i-maxBeside; j-- {
		if before >= 0 && (j <= before || p.holds(before, j)) {
			break
		}
		if words := p.own(j); words != "" && p.isBeside(j, i) {
			return p.saying(words, j)
		}
	}
	return saying{}
}

// isBeside reports whether an element is only shown, and stands in the same element as another.
func (p *page) isBeside(j, i int32) bool {
	return p.at(j).Kind == dom.Structural && p.up(j) == p.up(i)
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
