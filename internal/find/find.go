// Package find finds the elements of a page that match a query. It is pure: its input is the elements of a snapshot.
//
// A query consists of words. Case, accents, compatibility forms and white space are ignored, and "words in double quotes" must occur
// together. Every word must be part of the element: of its name, value, placeholder, name attribute or link target, or it must be the
// element's role ("button", "field"). Words that are not part of the element may be in its context instead: in its row, list item or
// article, in the names of its ancestors, in the headings above it, or in the context that it is printed with, as in "edit grace hopper".
//
// Query.Within keeps only elements with the given surroundings, as for targets of actions.
//
// Rank defines the order of the matches. If an element contains another element of the same name, such as a heading that contains a link,
// only the interactive one is a match.
package find

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// MaxWords limits the number of words in a query.
const MaxWords = 16

// Rank is the quality of a match. Smaller is better.
type Rank uint8

// The ranks.
const (
	// Whole means that the name equals the query.
	Whole Rank = iota
	// Prefix means that the name starts with the query.
	Prefix
	// Words means that the name contains every word as a whole word.
	Words
	// Parts means that the name contains every word as a part.
	Parts
	// Fields means that other fields of the element contain the words that are not in the name.
	Fields
	// Context means that the context of the element contains the words that are not in the element. A non-interactive element matches in
	// this way only if no interactive element matches.
	Context
	// Record means that the element is interactive, and that only its printed context, or the texts of its row, list item or article,
	// contain the words.
	Record
)

// Query is a parsed query.
type Query struct {
	words []string
	// within, unless empty, is the required surroundings of the elements.
	within string
	// contexts holds the contexts that the elements are printed with.
	contexts map[dom.Ref]elementcontext.Context
}

// Parse parses a query. It ignores words beyond MaxWords.
func Parse(query string) Query {
	var q Query
	for i, part := range strings.Split(straightQuotes(query), `"`) {
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

// Within returns the query restricted to elements with the given surroundings: a text, a role or a ref, in the syntax of
// elementcontext.Within. If around is empty, there is no restriction.
func (q Query) Within(around string) Query {
	q.within = around
	return q
}

// WithContexts returns the query for elements that are printed with contexts. Words of these contexts count as context of the elements.
func (q Query) WithContexts(contexts map[dom.Ref]elementcontext.Context) Query {
	q.contexts = contexts
	return q
}

// CountWords returns the number of words of a query, including words beyond MaxWords.
func CountWords(query string) int {
	return len(strings.Fields(strings.ReplaceAll(straightQuotes(query), `"`, " ")))
}

// all returns the set of all words.
func (q Query) all() words { return 1<<len(q.words) - 1 }

// Match is a matching element.
type Match struct {
	Element *dom.Element
	// Index is the position of the element in the list.
	Index int
	Rank  Rank
}

// Match returns the matching elements, best first. It sorts by rank; then interactive before other elements, with elements behind a modal
// last; then by document order. elements holds all elements of a snapshot, and url is the URL of its page.
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
		// Other texts of a row are not matches if the query means a button of that row.
		found = slices.DeleteFunc(found, func(m Match) bool { return m.Rank == Context && shown(m.Element) != 0 })
	}
	slices.SortStableFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(shown(a.Element), shown(b.Element)), cmp.Compare(covered(a.Element), covered(b.Element)))
	})
	return found
}

// around returns the matches with the given surroundings.
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
