// Package condition decides whether a page is in the state that a wait waits for.
//
// The package guarantees that the same snapshot and selection give the same answer: it knows neither
// time nor tabs. Callers try a condition on every new state of the page.
package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// State is the state that an element has to be in.
type State uint8

// The states.
const (
	// Present: an element matches.
	Present State = iota
	// Gone: no element matches.
	Gone
	// Visible: an element matches that is visible, as all elements of a snapshot are.
	Visible
	// Enabled: an element matches that is visible and not disabled.
	Enabled
)

// Element describes the element that is waited for: it has to match every field that is set. At least one
// field is set.
type Element struct {
	Role, Name, Text string
	// Ref is dom.NoRef when any element will do.
	Ref dom.Ref
	// Selector is empty, or the selector that Match gets a selection for; see Query.
	Selector string
	// Exact compares whole texts, case-sensitively.
	Exact bool
	State State
	// Within is what must stand around the element: a text, a role or a ref; see elementcontext.Within. Empty: anything.
	Within string
}

// Query returns the selector to evaluate; false when none is needed.
func (e Element) Query() (dom.Selector, bool) {
	shown := e.State == Visible || e.State == Enabled
	return dom.Selector{CSS: e.Selector, Shown: shown}, e.Selector != ""
}

// hasMore reports whether more than a selector is set.
func (e Element) hasMore() bool {
	return e.Role != "" || e.Name != "" || e.Text != "" || e.Ref != dom.NoRef || e.Within != ""
}

// Match reports whether the condition holds, and the first element of the snapshot that makes it hold; nil
// when there is none. Selected is what the selector of Query matches; nil: not known yet, and then a condition
// with a selector does not hold.
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

// inside returns the first element that matches, and has around it what must stand there.
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

// candidates is the set of elements that the selector matches; nil: all elements.
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

// matches reports whether an element matches every field that is set but the selector.
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

// Contains reports whether text contains part, without regard to case and with the white space of part folded.
func Contains(text, part string) bool {
	return strings.Contains(text, part) || contains(text, fold(part))
}

// contains is Contains for a part that is folded already.
func contains(text, part string) bool {
	if strings.Contains(text, part) {
		return true
	}
	if len(part) > 2*len(text)+4 {
		return false // changing case at most doubles a text
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Text returns the first element that contains a text in its name, value or placeholder.
func Text(s *dom.Snapshot, text string) *dom.Element {
	found, _ := Element{Text: text, Ref: dom.NoRef}.Match(s, nil)
	return found
}

// URL reports whether a URL matches a pattern. A pattern with "*", which stands for any characters, has to match
// the whole URL; any other pattern has to be a part of the URL.
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

// Nearest returns the element that comes closest to the condition: an element that is only in the wrong state,
// or else the one that matches most of what is set; nil when no element matches any of it.
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

// score weighs what an element matches of what is set. A text that shares words counts a little.
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

// Describe describes an element for messages: button "Pay" (ref 3, disabled).
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
