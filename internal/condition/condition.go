// Package condition decides whether a page meets the condition of a wait.
//
// The package guarantees that the same snapshot and selection give the same answer. It does not depend on time or tabs. Callers evaluate a
// condition on every new state of the page.
package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// State is the required state of an element.
type State uint8

// The states.
const (
	// Present means that an element matches.
	Present State = iota
	// Gone means that no element matches.
	Gone
	// Visible means that a visible element matches. All elements of a snapshot are visible.
	Visible
	// Enabled means that a visible element that is not disabled matches.
	Enabled
)

// Element describes the element to wait for. An element must match every field that is set. At least one field must be set.
type Element struct {
	Role, Name, Text string
	// Ref is dom.NoRef if any element may match.
	Ref dom.Ref
	// Selector is empty, or the selector whose selection is passed to Match; see Query.
	Selector string
	// Exact requires the whole text to match, including case.
	Exact bool
	State State
	// Within describes the surroundings of the element: a text, a role or a ref; see elementcontext.Within. If empty, any surroundings
	// match.
	Within string
}

// Query returns the selector to evaluate. It returns false if none is needed.
func (e Element) Query() (dom.Selector, bool) {
	shown := e.State == Visible || e.State == Enabled
	return dom.Selector{CSS: e.Selector, Shown: shown}, e.Selector != ""
}

// hasMore reports whether any field besides the selector is set.
func (e Element) hasMore() bool {
	return e.Role != "" || e.Name != "" || e.Text != "" || e.Ref != dom.NoRef || e.Within != ""
}

// Match reports whether the condition holds, and returns the first element of the snapshot that satisfies it, or nil. selected is the
// result of the selector of Query. If it is nil, the result is not known yet, and a condition with a selector does not hold.
func (e Element) Match(s *dom.Snapshot, selected *dom.Selection) (found *dom.Element, holds bool) {
	if e.Selector != "" && selected == nil {
		return nil, false
	}
	if !e.Exact {
		e.Name, e.Text = fold(e.Name), fold(e.Text)
	}
	candidates := e.candidates(selected)
	matches := func(el *dom.Element) bool {
		return (candidates == nil || candidates[el.Ref]) && e.matches(el) && !(e.State == Enabled && el.States.Disabled == dom.True)
	}
	if e.Within != "" {
		found = e.inside(s, matches)
	} else {
		for el := range s.Elements.All() {
			if matches(el) {
				found = el
				break
			}
		}
	}
	if e.Selector == "" || e.hasMore() {
		if e.State == Gone {
			return nil, found == nil
		}
		return found, found != nil
	}
	switch e.State {
	case Gone:
		return nil, selected.Count == 0
	case Enabled:
		return found, selected.Enabled > 0
	}
	return found, selected.Count > 0
}

// inside returns the first element that matches and has the required surroundings.
func (e Element) inside(s *dom.Snapshot, matches func(*dom.Element) bool) *dom.Element {
	var among []*dom.Element
	for el := range s.Elements.All() {
		if matches(el) {
			among = append(among, el)
		}
	}
	if inside := elementcontext.Within(s.Elements.Slice(), among, e.Within); len(inside) > 0 {
		return inside[0]
	}
	return nil
}

// candidates returns the elements that the selector matches, or nil for all elements.
func (e Element) candidates(selected *dom.Selection) map[dom.Ref]bool {
	if e.Selector == "" {
		return nil
	}
	set := make(map[dom.Ref]bool, len(selected.Refs))
	for _, ref := range selected.Refs {
		set[ref] = true
	}
	return set
}

// matches reports whether an element matches every field except the selector.
func (e Element) matches(el *dom.Element) bool {
	return (e.Ref == dom.NoRef || e.Ref == el.Ref) && e.matchesRole(el) && e.matchesName(el) && e.matchesText(el)
}

func (e Element) matchesRole(el *dom.Element) bool {
	return e.Role == "" || strings.EqualFold(e.Role, el.Role) || el.Role == "" && strings.EqualFold(e.Role, el.Tag)
}

func (e Element) matchesName(el *dom.Element) bool {
	return e.Name == "" || e.equalText(el.WholeText(), e.Name)
}

func (e Element) matchesText(el *dom.Element) bool {
	return e.Text == "" || e.equalText(el.WholeText(), e.Text) || e.equalText(el.Value, e.Text) || e.equalText(el.Placeholder, e.Text)
}

func (e Element) equalText(text, wanted string) bool {
	if e.Exact {
		return text == wanted
	}
	return contains(text, wanted)
}

// Contains reports whether text contains part, ignoring case and the amount of white space in part.
func Contains(text, part string) bool {
	return strings.Contains(text, part) || contains(text, fold(part))
}

// contains is like Contains for a part that is already folded.
func contains(text, part string) bool {
	if strings.Contains(text, part) {
		return true
	}
	if len(part) > 2*len(text)+4 {
		return false // changing the case at most doubles the length of a text
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Text returns the first element that contains a text in its name, value or placeholder.
func Text(s *dom.Snapshot, text string) *dom.Element {
	found, _ := Element{Text: text, Ref: dom.NoRef}.Match(s, nil)
	return found
}

// URL reports whether a URL matches a pattern. A pattern with "*", which matches any characters, must match the whole URL. Any other
// pattern must be a part of the URL.
func URL(pattern, url string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return strings.Contains(url, pattern)
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(url, first) {
		return false
	}
	url = url[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(url, part)
		if i < 0 {
			return false
		}
		url = url[i+len(part):]
	}
	return strings.HasSuffix(url, last)
}

// Nearest returns the element that comes closest to the condition: an element that is only in the wrong state, or else the element that
// matches most of the fields. It returns nil if no element matches any field.
func (e Element) Nearest(s *dom.Snapshot) *dom.Element {
	var nearest *dom.Element
	best := 0
	for el := range s.Elements.All() {
		if score := e.score(el); score > best {
			nearest, best = el, score
		}
	}
	return nearest
}

// score returns how many of the set fields an element matches, as a weighted sum. A text with only some of the words scores a little.
func (e Element) score(el *dom.Element) int {
	score := 0
	add := func(set, has bool, n int) {
		if set && has {
			score += n
		}
	}
	add(e.Ref != dom.NoRef, e.Ref == el.Ref, 20)
	add(e.Role != "", e.matchesRole(el), 4)
	for _, wanted := range []string{e.Name, e.Text} {
		add(wanted != "", Contains(el.WholeText(), wanted) || Contains(el.Value, wanted), 10)
		add(wanted != "", sharesWord(el.Text, wanted), 3)
	}
	return score
}

func sharesWord(text, wanted string) bool {
	words := strings.Fields(strings.ToLower(text))
	return slices.ContainsFunc(strings.Fields(strings.ToLower(wanted)), func(w string) bool { return slices.Contains(words, w) })
}

// Describe returns a description of an element for messages, such as: button "Pay" (ref 3, disabled).
func Describe(el *dom.Element) string {
	kind := el.Role
	if kind == "" {
		kind = el.Tag
	}
	detail := "ref " + strconv.FormatUint(uint64(el.Ref), 10)
	if el.States.Disabled == dom.True {
		detail += ", disabled"
	}
	return kind + " " + strconv.Quote(el.Text) + " (" + detail + ")"
}
