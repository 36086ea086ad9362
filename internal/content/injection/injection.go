// Package injection detects signs of prompt injection in the text of pages: phrases that address a model, and invisible characters.
//
// What the package guarantees:
//
//   - The same text gives the same signals. Scan takes time proportional to the text and stores nothing.
//   - Case, white space, full-width letters and invisible characters between letters do not hide a phrase.
//
// A signal is a hint, not a verdict. Harmless pages also write about prompts, and text without signals can still mislead a model. The
// package removes nothing; callers decide how to handle a signal.
package injection

import (
	"fmt"
	"strings"

	"github.com/domtap/domtap/dom"
)

// Set is a set of kinds of signals.
type Set uint8

// The kinds.
const (
	// Addresses is a phrase that instructs a model, such as "ignore previous instructions".
	Addresses Set = 1 << iota
	// Tags means characters of the block U+E0000, which are invisible and can spell any text. Tags in flag emoji do not count.
	Tags
	// ZeroWidth means four or more consecutive zero-width characters.
	ZeroWidth
	// Bidi means characters that override the text direction, so that the text on the screen differs from the text in the page.
	Bidi
	// Variation means two or more consecutive variation selectors, which can carry hidden bytes.
	Variation
	// Hidden is a phrase that addresses a model in text that is neither rendered nor part of the response.
	Hidden

	kinds = 6
)

var names = [kinds]string{"addresses_model", "invisible_tags", "zero_width", "direction_override", "variation_selectors", "hidden_text_addresses_model"}

// Names returns the names of the kinds in the set.
func (s Set) Names() []string {
	var out []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Signal describes the findings of one kind.
type Signal struct {
	// Kind is the name of the kind.
	Kind string
	// Ref is the first element with the signal, or NoRef for text outside elements.
	Ref dom.Ref
	// Where is the part of the element or page with the signal: text, value, placeholder, href, attribute, page or hidden.
	Where string
	// Count is the number of elements or places with the signal.
	Count int
}

// maxListed limits the refs in a Line.
const maxListed = 10

// Line formats signals as one line without a line end. It returns an empty string if there are none.
func Line(all []Signal) string {
	parts := make([]string, 0, len(all))
	for i, s := range all {
		if i == maxListed {
			break
		}
		at := s.Where
		if s.Ref != dom.NoRef {
			at = fmt.Sprintf("[%d]", s.Ref)
		}
		if s.Count > 1 {
			at += fmt.Sprintf(" and %d more", s.Count-1)
		}
		parts = append(parts, s.Kind+" "+at)
	}
	return strings.Join(parts, ", ")
}

// Scan returns the kinds of signals in a text.
func Scan(text string) Set {
	var found Set
	var run runs
	m := matcher{automaton: phraseAutomaton(), space: true}
	for _, r := range text {
		var class uint16
		switch {
		case r < 0x80: // the most frequent case
			run = runs{}
			class = m.ascii[r]
		case isInvisible(r):
			found |= run.add(r)
			continue
		default:
			run = runs{flag: r == blackFlag}
			class = m.classOf(r)
		}
		if m.take(class) {
			found |= Addresses
		}
	}
	return found
}

// matcher runs a text through the automaton and collapses white space.
type matcher struct {
	*automaton
	state uint16
	// space reports that the last character was white space.
	space bool
}

// take processes the class of the next character and reports whether a phrase ends with it.
func (m *matcher) take(class uint16) bool {
	if class == classSpace && m.space {
		return false
	}
	m.space = class == classSpace
	m.state = *m.step(m.state, class)
	return m.final[m.state]
}

// blackFlag starts the flag emoji of regions. Tags follow it.
const blackFlag = 0x1f3f4

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func isVariation(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

func isZeroWidth(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0x180e || r == 0x00ad
}

func isInvisible(r rune) bool {
	return isTag(r) || isVariation(r) || isZeroWidth(r) || r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// runs counts consecutive invisible characters.
type runs struct {
	zero, variation, tags int
	// flag reports that the run began with a black flag.
	flag bool
}

// maxFlagTags limits the tags in the flag of a region: seven, plus the tag that ends the flag.
const maxFlagTags = 8

func (n *runs) add(r rune) (found Set) {
	switch {
	case isTag(r):
		if n.tags++; !n.flag || n.tags > maxFlagTags {
			found |= Tags
		}
	case isVariation(r):
		if n.variation++; n.variation >= 2 {
			found |= Variation
		}
	case r == 0x202d || r == 0x202e:
		found |= Bidi
	case isZeroWidth(r):
		if n.zero++; n.zero >= 4 {
			found |= ZeroWidth
		}
	}
	return found
}

// Element returns the kinds of signals in an element, and the first part with a signal.
func Element(e *dom.Element) (found Set, where string) {
	note := func(text, part string) {
		if text == "" {
			return
		}
		if s := Scan(text); s != 0 {
			if found == 0 {
				where = part
			}
			found |= s
		}
	}
	note(e.Text, "text")
	note(e.Value, "value")
	note(e.Placeholder, "placeholder")
	for _, value := range e.Attributes {
		note(value, "attribute")
	}
	return found, where
}
