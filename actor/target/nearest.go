package target

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
)

// Nearest returns up to limit elements that are most similar to what a target names, best first. It helps callers that misspelled a name.
// Elements with too little similarity are omitted, so the result may be empty.
func Nearest(t Target, elements []*dom.Element, limit int) []*dom.Element {
	wanted := shape(t.Words)
	if t.By == Role {
		wanted = shape(t.Name)
	}
	if t.By == TestID || t.By == Selector || t.By == Ref || t.By == None {
		return nil
	}
	return closest(elements, limit, func(el *dom.Element) float64 {
		return t.closeness(el, wanted)
	})
}

// Similar returns up to limit elements that are most similar to an element that is gone, best first.
func Similar(was *dom.Element, elements []*dom.Element, limit int) []*dom.Element {
	name := shape(DisplayName(was))
	return closest(elements, limit, func(el *dom.Element) float64 {
		if el.Kind != was.Kind {
			return 0
		}
		score := 2 * name.like(shape(DisplayName(el)))
		if was.Href != "" && el.Href == was.Href {
			score++
		}
		if was.Name != "" && el.Name == was.Name {
			score += 0.5
		}
		if score > 0 && el.Role == was.Role {
			score += 0.5
		}
		return score
	})
}

// minSimilarity is the minimum similarity of a result.
const minSimilarity = 0.6

func closest(elements []*dom.Element, limit int, score func(*dom.Element) float64) []*dom.Element {
	type scored struct {
		el    *dom.Element
		score float64
	}
	var found []scored
	for _, el := range elements {
		if s := score(el); s >= minSimilarity {
			found = append(found, scored{el, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	out := make([]*dom.Element, 0, min(limit, len(found)))
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.el)
	}
	return out
}

// closeness returns the similarity of an element. Structural elements score a little lower than interactive ones.
func (t Target) closeness(el *dom.Element, wanted bigrams) float64 {
	like := wanted.like(shape(el.Text))
	if t.By == Label || t.By == Placeholder {
		if !IsField(el) {
			return 0
		}
		like = max(like, wanted.like(shape(el.Placeholder)), wanted.like(shape(el.Name)))
	}
	score := 2 * like
	if t.By == Role && t.Role != "" && t.fitsRole(el) {
		if t.Name == "" {
			return 2
		}
		score += 0.3
	}
	if el.Kind == dom.Structural {
		score *= 0.9
	}
	return score
}

// IsField reports whether an element holds a value that a user enters.
func IsField(el *dom.Element) bool {
	switch el.Tag {
	case "input", "select", "textarea":
		return true
	}
	return isFieldRole(el.Role) && el.Tag != "time"
}

func isFieldRole(role string) bool {
	switch role {
	case "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton", "date", "time", "datetime":
		return true
	}
	return false
}

// IsToggle reports whether an element has a checked, selected or pressed state that a click may change.
func IsToggle(el *dom.Element) bool {
	switch el.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		return true
	case "option", "treeitem", "row", "gridcell":
		return el.Kind == dom.Interactive
	}
	return el.States.Pressed != dom.Absent || el.States.Checked != dom.Absent
}

// bigrams are the pairs of adjacent characters in a folded text. A text of one character counts as one pair.
type bigrams []string

// maxShape limits how much of a text is compared, in characters.
const maxShape = 100

func shape(s string) bigrams {
	runes := []rune(fold(s))
	if len(runes) > maxShape {
		runes = runes[:maxShape]
	}
	if len(runes) == 1 {
		return bigrams{string(runes)}
	}
	var pairs bigrams
	for i := 0; i+1 < len(runes); i++ {
		if pair := string(runes[i : i+2]); !strings.HasPrefix(pair, " ") {
			pairs = append(pairs, pair)
		}
	}
	slices.Sort(pairs)
	return pairs
}

// like returns the similarity of two texts, from 0 to 1: the share of pairs that they have in common.
func (b bigrams) like(o bigrams) float64 {
	if len(b) == 0 || len(o) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(b) && j < len(o); {
		switch {
		case b[i] == o[j]:
			common++
			i++
			j++
		case b[i] < o[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(common) / float64(len(b)+len(o))
}
