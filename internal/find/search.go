package find

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
)

// words is a bit set of the words of a query.
type words uint16

// search is one pass over the elements of a snapshot.
type search struct {
	Query
	// origin is the origin of the page. It is ignored in links to the page's own site.
	origin   string
	elements []*dom.Element
	hits     []hit
}

// hit records which words of the query an element contains.
type hit struct {
	// name is the folded name. It is set only for elements with a word of the query.
	name string
	// inName, inFields and inRole are the words in the name, in the other fields and in the role.
	inName, inFields, inRole words
	// above holds the words in the names of the ancestors and in the headings above the element.
	above words
	// told holds the words in the context that the element is printed with.
	told words
	// parent is the index of the nearest ancestor. record is the index of the nearest row, list item or article, which may be the element
	// itself. Both are -1 if there is none.
	parent, record int32
	// For a record, inside holds the words of the elements in it, and texts the words of its non-interactive elements.
	inside, texts words
}

func (h *hit) own() words { return h.inName | h.inFields | h.inRole }

// heading is a heading above the elements that follow.
type heading struct {
	level, depth int
	words        words
}

// survey determines the words that each element and its context contain.
func (s *search) survey() {
	var ancestors []int32
	var headings []heading
	for i, e := range s.elements {
		ancestors = ancestors[:min(len(ancestors), max(0, e.Depth))]
		headings = slices.DeleteFunc(headings, func(h heading) bool {
			return h.depth > e.Depth || e.Role == "heading" && h.level >= e.Level
		})
		h := &s.hits[i]
		s.compare(h, e)
		if c, ok := s.contexts[e.Ref]; ok {
			h.told = s.in(fold(c.Words))
		}
		h.parent, h.record = -1, -1
		if n := len(ancestors); n > 0 {
			h.parent = ancestors[n-1]
			up := &s.hits[h.parent]
			h.above, h.record = up.above|up.inName, up.record
		}
		for _, one := range headings {
			h.above |= one.words
		}
		if isRecord(e) {
			h.record = int32(i)
		}
		if h.record >= 0 {
			record := &s.hits[h.record]
			record.inside |= h.inName | h.inFields
			if e.Kind != dom.Interactive {
				record.texts |= h.inName
			}
		}
		if e.Role == "heading" {
			headings = append(headings, heading{level: e.Level, depth: e.Depth, words: h.inName})
		}
		ancestors = append(ancestors, int32(i))
	}
}

// isRecord reports whether an element groups related content and is one of many.
func isRecord(e *dom.Element) bool {
	switch e.Role {
	case "row", "listitem", "article", "treeitem":
		return true
	}
	return false
}

// compare finds the words of the query in the fields of an element.
func (s *search) compare(h *hit, e *dom.Element) {
	name := fold(e.WholeText())
	h.inName = s.in(name)
	h.inRole = s.role(e.Role)
	for _, field := range [...]string{e.Value, e.Placeholder, e.Name, e.Hints} {
		if field != "" {
			h.inFields |= s.in(fold(field))
		}
	}
	h.inFields |= s.inTarget(e.Href)
	if h.own() != 0 {
		h.name = name
	}
}

// in returns the words that are part of a folded text.
func (s *search) in(text string) (found words) {
	for i, word := range s.words {
		if strings.Contains(text, word) {
			found |= 1 << i
		}
	}
	return found
}

// minTargetWord is the minimum length of a word to search in link targets, because these contain all short words.
const minTargetWord = 3

// inTarget returns the words in a link target.
func (s *search) inTarget(href string) (found words) {
	if href == "" || strings.HasPrefix(href, "data:") {
		return 0
	}
	if s.origin != "" {
		href = strings.TrimPrefix(href, s.origin)
	}
	target := fold(href)
	for i, word := range s.words {
		if len(word) >= minTargetWord && strings.Contains(target, word) {
			found |= 1 << i
		}
	}
	return found
}

// kinds holds common words for the elements of a role, besides the name of the role.
var kinds = map[string][]string{
	"textbox": {"field", "input"}, "searchbox": {"field", "input"}, "spinbutton": {"field", "input"},
	"combobox": {"field", "dropdown", "select"}, "listbox": {"field", "dropdown", "select"}, "img": {"image", "picture"},
	"navigation": {"nav", "menu"}, "dialog": {"modal", "popup"}, "heading": {"title"},
}

// role returns the words that describe a role.
func (s *search) role(role string) (found words) {
	for i, word := range s.words {
		if role != "" && (word == role || slices.Contains(kinds[role], word)) {
			found |= 1 << i
		}
	}
	return found
}

// rank returns the rank of an element. It returns false if the element does not match.
func (s *search) rank(i int) (Rank, bool) {
	h, all := &s.hits[i], s.all()
	own := h.own()
	if h.inName == all {
		return s.nameRank(h.name, all), true
	}
	if own == all {
		if rest := all &^ h.inRole; rest != 0 && h.inName&rest == rest {
			return s.nameRank(h.name, rest), true
		}
		return Fields, true
	}
	if own == 0 {
		used := s.elements[i].Kind == dom.Interactive
		return Record, used && (h.told == all || h.record >= 0 && s.hits[h.record].texts == all)
	}
	around := h.above | h.told
	if h.record >= 0 {
		around |= s.hits[h.record].inside
	}
	return Context, own|around == all
}

// nameRank returns the rank of a folded name that contains all wanted words.
func (s *search) nameRank(name string, wanted words) Rank {
	var sought []string
	for i, word := range s.words {
		if wanted&(1<<i) != 0 {
			sought = append(sought, word)
		}
	}
	phrase := strings.Join(sought, " ")
	switch {
	case name == phrase:
		return Whole
	case strings.HasPrefix(name, phrase):
		return Prefix
	case !slices.ContainsFunc(sought, func(word string) bool { return !hasWord(name, word) }):
		return Words
	}
	return Parts
}

// repeats reports whether another match makes this one redundant because it has the same content in the same place: an interactive element
// around a non-interactive one, or an element inside this one.
func (s *search) repeats(i int, rank Rank) bool {
	e, h := s.elements[i], &s.hits[i]
	if h.name == "" {
		return false
	}
	same := func(j int, matters bool) bool {
		if !matters || s.hits[j].name != h.name {
			return false
		}
		other, ok := s.rank(j)
		return ok && other <= rank
	}
	isShown := e.Kind != dom.Interactive
	for up := h.parent; isShown && up >= 0; up = s.hits[up].parent {
		if same(int(up), s.elements[up].Kind == dom.Interactive) {
			return true
		}
	}
	for j := i + 1; j < len(s.elements) && s.elements[j].Depth > e.Depth; j++ {
		if same(j, isShown || s.elements[j].Kind == dom.Interactive) {
			return true
		}
	}
	return false
}
