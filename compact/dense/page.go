// Package dense writes the lines of formats DENSE and DENSE_DIFF, and parses them: the refs, names, roles and states of the elements in a
// text, and their changes. docs/dense.md describes the formats, docs/dense.ebnf their grammar.
//
// Parse and ParseDiff return exactly what was written, whatever the page contains, because words that look like a ref, a role or a line of
// another kind are escaped. The package is pure and safe for concurrent use.
package dense

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/compact/internal/site"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/internal/truncate"
)

// Page is a page to print in format DENSE: all its elements, with the information which of them a view may mention. It is immutable.
type Page struct {
	base         part.Base
	hrefs, brief bool
	nodes        []node
	// contexts distinguishes elements of the same role and name.
	contexts map[dom.Ref]elementcontext.Context
	// ambiguous holds the beginnings that several contexts share.
	ambiguous map[string]bool
	// site is the page's own site. home is the site that most links lead to, if it is another one.
	site, home string
}

// node is an element with its position in the tree of the page. The elements below node i are at i+1 up to, but not including, its end.
type node struct {
	*dom.Element
	parent, end int32
	// context reports that the element may be mentioned without its ref.
	context bool
}

// Options configures how a page is printed.
type Options struct {
	Base part.Base
	// HRefs prints the targets of all links.
	HRefs bool
	// Brief prints each run as one line; see docs/dense.md.
	Brief bool
}

// NewPage prepares a page. all holds the elements of its snapshot in document order, parents before children. context holds those that
// lines without a ref may mention, such as headings and rows, in the same order.
func NewPage(o Options, all, context []*dom.Element) *Page {
	p := &Page{base: o.Base, hrefs: o.HRefs, brief: o.Brief, nodes: make([]node, len(all))}
	var open []int32
	leave := func(i int) {
		p.nodes[open[len(open)-1]].end = int32(i)
		open = open[:len(open)-1]
	}
	for i, e := range all {
		for len(open) > 0 && all[open[len(open)-1]].Ref != e.Parent {
			leave(i)
		}
		p.nodes[i] = node{Element: e, parent: -1}
		if len(open) > 0 {
			p.nodes[i].parent = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
	for len(open) > 0 {
		leave(len(all))
	}
	p.each(context, func(i int, _ *dom.Element) { p.nodes[i].context = true })
	p.contexts = elementcontext.Distinguish(all, context)
	p.ambiguous = ambiguousBeginnings(p.contexts)
	p.site = site.Of(p.base.Host())
	p.home = site.Home(p.site, p.linkedHosts)
	return p
}

// ambiguousBeginnings returns the beginnings, of the lengths to which contexts are cut, that different contexts share.
func ambiguousBeginnings(contexts map[dom.Ref]elementcontext.Context) map[string]bool {
	words, ambiguous := map[string]string{}, map[string]bool{}
	for _, c := range contexts {
		for _, limit := range []int{maxCutContext, maxCell} {
			start := beginning(c.Words, limit)
			if other, seen := words[start]; seen && other != c.Words {
				ambiguous[start] = true
			}
			words[start] = c.Words
		}
	}
	return ambiguous
}

// beginning returns the printed part of a context that is cut to a limit.
func beginning(words string, limit int) string { return truncate.Runes(words, limit-1) }

// contextLimit returns the maximum number of characters printed of a context, so that no other context begins alike.
func (p *Page) contextLimit(words string) int {
	n := utf8.RuneCountInString(words)
	switch {
	case n <= maxContext:
		return maxContext
	case !p.ambiguous[beginning(words, maxCutContext)]:
		return maxCutContext
	case n <= maxCell || !p.ambiguous[beginning(words, maxCell)]:
		return maxCell
	}
	return elementcontext.MaxLen
}

// addContext sets the context that distinguishes an item from others of its role and name.
func (p *Page) addContext(m *item) {
	c := p.contexts[m.Ref]
	m.which, m.whichLimit = c.Words, p.contextLimit(c.Words)
}

// linkedHosts yields the host of each link on the page.
func (p *Page) linkedHosts(yield func(string) bool) {
	for i := range p.nodes {
		if scheme, host, _ := part.SplitURL(p.nodes[i].Href); scheme != "" && !yield(host) {
			return
		}
	}
}

// Home returns the site that most links lead to, if it is not the page's own site; see Header.Links.
func (p *Page) Home() string { return p.home }

// each calls found with the index of each element. The elements must be in document order.
func (p *Page) each(elements []*dom.Element, found func(i int, e *dom.Element)) {
	at := 0
	for i := range p.nodes {
		if at == len(elements) {
			return
		}
		if p.nodes[i].Ref == elements[at].Ref {
			found(i, elements[at])
			at++
		}
	}
}

// Mention selects which elements without a ref have lines in a text.
type Mention uint8

// The values of Mention, from the most lines to none.
const (
	// MentionAll mentions every heading and every landmark with content.
	MentionAll Mention = iota
	// MentionNeeded mentions the surroundings of the shown elements.
	MentionNeeded
	// MentionNone prints only the shown elements.
	MentionNone
)

// Lines returns the lines of the shown elements in format DENSE, without a header. The elements are a subset of the page's elements, in the
// same order.
func (p *Page) Lines(shown []*dom.Element, m Mention) string {
	inFront, behind := p.splitCovered(shown)
	l := newLayout(p, inFront, m)
	if l.behind = behind; behind > 0 {
		l.dst = append(strconv.AppendInt(appendCovered(l.dst, true), int64(behind), 10), " elements; find searches them\n"...)
	}
	l.layOut()
	return string(l.dst)
}

// Folds reports whether Lines prints the number of the elements behind a modal in place of these elements.
func (p *Page) Folds(shown []*dom.Element) bool {
	_, behind := p.splitCovered(shown)
	return behind > 0
}

// minBehind is the minimum number of elements behind a modal that are printed as a count.
const minBehind = 6

// splitCovered separates the elements behind a modal, of which it returns the number. The number is 0 if each has a line: the page is not
// brief, there are few, or none is in front.
func (p *Page) splitCovered(shown []*dom.Element) (inFront []*dom.Element, behind int) {
	if !p.brief {
		return shown, 0
	}
	for _, e := range shown {
		if e.Covered {
			behind++
		}
	}
	if behind < minBehind || behind == len(shown) {
		return shown, 0
	}
	return slices.DeleteFunc(slices.Clone(shown), func(e *dom.Element) bool { return e.Covered }), behind
}
