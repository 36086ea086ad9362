// Package condition says whether a page is in a state that somebody waits for. It is pure: it looks at one
// snapshot and at what selectors match, and knows neither time nor tabs; who waits tries it on every new state.
package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
)

// State is what an awaited element is to be.
type State uint8

// The states.
const (
	// Present: an element matches.
	Present State = iota
	// Gone: none does.
	Gone
	// Visible: an element matches that is shown, as all elements of a snapshot are.
	Visible
	// Enabled: Visible, and not disabled.
	Enabled
)

// Element says which element is awaited: one that has everything that is set. At least one thing is.
type Element struct {
	Role, Name, Text string
	// Ref is dom.NoRef when any will do.
	Ref dom.Ref
	// Selector is empty, or what Match is given a selection for; see Wants.
	Selector string
	// Exact compares whole texts in their own case.
	Exact bool
	State State
}

// Wants returns the selector to evaluate; false when none is needed.
func (e Element) Wants() (dom.Selector, bool) {
	shown := e.State == Visible || e.State == Enabled
	return dom.Selector{CSS: e.Selector, Shown: shown}, e.Selector != ""
}

// described reports whether more than a selector is set.
func (e Element) described() bool {
	return e.Role != "" || e.Name != "" || e.Text != "" || e.Ref != dom.NoRef
}

// Match reports whether the condition holds. The element is the first that makes it hold; nil when none does, or
// none of the snapshot. Chosen is what the selector that the condition Wants matches; nil: not known, and then a
// condition with a selector does not hold.
func (e Element) Match(s *dom.Snapshot, chosen *dom.Selection) (found *dom.Element, holds bool) {
	if e.Selector != "" && chosen == nil {
		return nil, false
	}
	if !e.Exact {
		e.Name, e.Text = fold(e.Name), fold(e.Text)
	}
	among := e.among(chosen)
	for el := range s.Elements.All() {
		if (among == nil || among[el.Ref]) && e.fits(el) && !(e.State == Enabled && el.States.Disabled == dom.True) {
			found = el
			break
		}
	}
	if e.Selector == "" || e.described() {
		if e.State == Gone {
			return nil, found == nil
		}
		return found, found != nil
	}
	switch e.State {
	case Gone:
		return nil, chosen.Count == 0
	case Enabled:
		return found, chosen.Enabled > 0
	}
	return found, chosen.Count > 0
}

// among is the set of elements that the selector names; nil: all.
func (e Element) among(chosen *dom.Selection) map[dom.Ref]bool {
	if e.Selector == "" {
		return nil
	}
	set := make(map[dom.Ref]bool, len(chosen.Refs))
	for _, ref := range chosen.Refs {
		set[ref] = true
	}
	return set
}

// fits reports whether an element has everything that is set but the selector.
func (e Element) fits(el *dom.Element) bool {
	return (e.Ref == dom.NoRef || e.Ref == el.Ref) && e.fitsRole(el) && e.fitsName(el) && e.fitsText(el)
}

func (e Element) fitsRole(el *dom.Element) bool {
	return e.Role == "" || strings.EqualFold(e.Role, el.Role) || el.Role == "" && strings.EqualFold(e.Role, el.Tag)
}

func (e Element) fitsName(el *dom.Element) bool { return e.Name == "" || e.says(el.Text, e.Name) }

func (e Element) fitsText(el *dom.Element) bool {
	return e.Text == "" || e.says(el.Text, e.Text) || e.says(el.Value, e.Text) || e.says(el.Placeholder, e.Text)
}

func (e Element) says(text, wanted string) bool {
	if e.Exact {
		return text == wanted
	}
	return contains(text, wanted)
}

// Contains reports whether a text has another in it, in any case, white space folded in what is looked for.
func Contains(text, part string) bool {
	return strings.Contains(text, part) || contains(text, fold(part))
}

// contains is Contains of a part that is folded.
func contains(text, part string) bool {
	if strings.Contains(text, part) {
		return true
	}
	if len(part) > 2*len(text)+4 {
		return false // no case is twice as long as another
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Text returns the first element that says a text: as its name, value or placeholder.
func Text(s *dom.Snapshot, text string) *dom.Element {
	found, _ := Element{Text: text, Ref: dom.NoRef}.Match(s, nil)
	return found
}

// URL reports whether a URL is as the pattern says: with a "*" in it, which stands for any characters, the
// whole URL; else a part of it.
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

// Nearest returns the element that comes closest to what is awaited: one that misses only its state, or else one
// that has most of what is set; nil when none has any of it.
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

// score counts what an element has of what is set. A text that shares words counts a little.
func (e Element) score(el *dom.Element) int {
	score := 0
	add := func(set, has bool, n int) {
		if set && has {
			score += n
		}
	}
	add(e.Ref != dom.NoRef, e.Ref == el.Ref, 20)
	add(e.Role != "", e.fitsRole(el), 4)
	for _, wanted := range []string{e.Name, e.Text} {
		add(wanted != "", Contains(el.Text, wanted) || Contains(el.Value, wanted), 10)
		add(wanted != "", sharesWord(el.Text, wanted), 3)
	}
	return score
}

func sharesWord(text, wanted string) bool {
	words := strings.Fields(strings.ToLower(text))
	return slices.ContainsFunc(strings.Fields(strings.ToLower(wanted)), func(w string) bool { return slices.Contains(words, w) })
}

// Describe names an element as a person would: button "Pay" (ref 3, disabled).
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
