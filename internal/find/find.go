// Package find finds the elements of a page that a query means. It is pure over the elements of a snapshot.
//
// A query is words. Case, accents, compatibility forms and white space do not matter, and "words in double quotes"
// stand together. Every word must be a part of an element: of its name, value, placeholder, name attribute or the target
// of a link, or the word is its role ("button", "field"). Words that the element lacks may be in its context instead: in
// the row, list item or article that holds it, in the names of its ancestors, in the headings above it, or in what it
// is printed with, as in "edit grace hopper".
//
// Query.Within leaves only the elements that have something around them, as targets of actions do.
//
// Rank has the order of the matches. Where an element stands in another one of the same name, such as a link in a
// heading, only the one that is used is a match.
package find

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// MaxWords is how many words of a query count.
const MaxWords = 16

// Rank says how well an element matches. Smaller is better.
type Rank uint8

// The ranks.
const (
	// Whole: the name is the query.
	Whole Rank = iota
	// Prefix: the name begins with the query.
	Prefix
	// Words: the name has every word as a word.
	Words
	// Parts: the name has every word as a part.
	Parts
	// Fields: the other fields of the element have the words that the name lacks.
	Fields
	// Context: the context of the element has the words that the element lacks. Elements that are only shown match
	// this way when no used element matches.
	Context
	// Record: the element can be used, and only what it is printed with, or the texts of the row, list item or article
	// that holds it, have the words.
	Record
)

// Query is what to find.
type Query struct {
	words []string
	// within, unless empty, is what must stand around the elements.
	within string
	// contexts are what the elements are printed with.
	contexts map[dom.Ref]elementcontext.Context
}

// Parse reads a query. It ignores words beyond MaxWords.
func Parse(query string) Query {
	var q Query
	for i, part := range strings.Split(straight(query), `"`) {
		part = fold(part)
		switch {
		case part == "":
		case i%2 == 1:
			q.words = append(q.words, part)
		default:
			q.words = append(q.words, strings.Fields(part)...)
		}
	}
	q.words = q.words[:min(len(q.words), MaxWords)]
	return q
}

// Within returns the query for elements that have this around them: a text, a role or a ref, as elementcontext.Within
// reads it. Empty: anything.
func (q Query) Within(around string) Query {
	q.within = around
	return q
}

// Telling returns the query for elements that are printed with contexts, whose words count as those around an element.
func (q Query) Telling(contexts map[dom.Ref]elementcontext.Context) Query {
	q.contexts = contexts
	return q
}

// CountWords returns how many words a query has, also beyond MaxWords.
func CountWords(query string) int {
	return len(strings.Fields(strings.ReplaceAll(straight(query), `"`, " ")))
}

// all has the bit of every word.
func (q Query) all() words { return 1<<len(q.words) - 1 }

// Match is an element that matches.
type Match struct {
	Element *dom.Element
	// Index is its position among the elements.
	Index int
	Rank  Rank
}

// Match returns the elements that the query means, the best first: by rank, used before shown elements, those behind a
// modal last, then in document order. The elements are all of a snapshot whose page has the URL.
func (q Query) Match(elements []*dom.Element, url string) []Match {
	if len(q.words) == 0 {
		return nil
	}
	s := search{Query: q, origin: origin(url), elements: elements, hits: make([]hit, len(elements))}
	s.survey()
	var found []Match
	for i, e := range elements {
		if rank, ok := s.rank(i); ok && !s.repeats(i, rank) {
			found = append(found, Match{Element: e, Index: i, Rank: rank})
		}
	}
	if q.within != "" {
		found = around(elements, found, q.within)
	}
	if slices.ContainsFunc(found, func(m Match) bool { return shown(m.Element) == 0 }) {
		// The other texts of a row whose button is meant are not matches.
		found = slices.DeleteFunc(found, func(m Match) bool { return m.Rank == Context && shown(m.Element) != 0 })
	}
	slices.SortStableFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(shown(a.Element), shown(b.Element)), cmp.Compare(covered(a.Element), covered(b.Element)))
	})
	return found
}

// around returns the matches that have something around them.
func around(elements []*dom.Element, found []Match, within string) []Match {
	among := make([]*dom.Element, len(found))
	for i, m := range found {
		among[i] = m.Element
	}
	inside := map[dom.Ref]bool{}
	for _, e := range elementcontext.Within(elements, among, within) {
		inside[e.Ref] = true
	}
	return slices.DeleteFunc(found, func(m Match) bool { return !inside[m.Element.Ref] })
}

func shown(e *dom.Element) int {
	if e.Kind == dom.Interactive {
		return 0
	}
	return 1
}

func covered(e *dom.Element) int {
	if e.Covered {
		return 1
	}
	return 0
}
