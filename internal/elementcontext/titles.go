package elementcontext

import (
	"strings"
	"unicode"

	"github.com/domtap/domtap/dom"
)

// section is a range of members of a group that are closer to each other than to all others. It need not be an element: a column of cards,
// for example. first is its first member, and depth the depth of the closest common ancestor.
type section struct {
	first int
	depth int32
}

// titles returns, for each member of a group whose joins are measured, the titles of the sections around it, innermost first. A title is a
// text before the cards of a section.
func (p *page) titles(group []int32) [][]phrase {
	out := make([][]phrase, len(group))
	var open []section
	for k := 1; k <= len(group); k++ {
		depth, first := p.shared[k], k-1
		for n := len(open); n > 0 && open[n-1].depth > depth; n-- {
			s := open[n-1]
			first, open = s.first, open[:n-1]
			for _, title := range p.titlesOf(group, s, max(p.shared[first], depth)) {
				for member := first; member < k; member++ {
					out[member] = append(out[member], title)
				}
			}
		}
		if n := len(open); n == 0 || open[n-1].depth < depth {
			open = append(open, section{first, depth})
		}
	}
	return out
}

// titlesOf returns the titles of a section. outside is the depth of the closest ancestor that it has in common with another member.
func (p *page) titlesOf(group []int32, s section, outside int32) (out []phrase) {
	if outside < 0 || p.exceedsBudget() {
		return nil
	}
	i := group[s.first]
	from, _ := p.run(i, outside)
	to, _ := p.run(i, p.closest(s.first))
	for j := from; j < to && len(out) < maxParts; {
		e, words := p.at(j), p.own(j)
		isText := e.Kind == dom.Structural && !p.holds(j, i) && !isHeading(e)
		if isText && strings.ContainsFunc(words, unicode.IsLetter) && (p.common(i, j) < s.depth || !p.areRows(i, j)) {
			out = append(out, p.phrase(words, j))
		}
		if isText && !namedByAuthor[e.Role] {
			j = p.endOf(j, to)
		} else {
			j++
		}
	}
	return out
}
