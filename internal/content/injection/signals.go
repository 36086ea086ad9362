// Package injection notices text of pages that looks made for a model rather than for a person: phrases that address one, and
// characters that nobody sees. It is pure: the same text gives the same signals.
//
// What it guarantees:
//
//   - Scan takes time in proportion to the text, whatever that is, and keeps nothing.
//   - Case, white space, full-width letters and invisible characters between letters do not hide a phrase.
//
// A signal is a hint, not a verdict: honest pages write about prompts, too, and text without any can mislead. What has signals is
// shown all the same; callers decide.
package injection

import (
	"fmt"
	"strings"

	"github.com/domtap/domtap/dom"
)

// Set is which kinds of signals a text has.
type Set uint8

// The kinds.
const (
	// Addresses: a phrase that tells a model what to do, such as "ignore previous instructions".
	Addresses Set = 1 << iota
	// Tags: characters of the block U+E0000, which are not drawn and can spell any text; those of flags do not count.
	Tags
	// ZeroWidth: four and more characters without width in a row.
	ZeroWidth
	// Bidi: characters that turn the direction around, so that what is read is not what is written.
	Bidi
	// Variation: two and more variation selectors in a row, which can carry hidden bytes.
	Variation
	// Hidden: a phrase that addresses a model in text that is not drawn, and that is not in the answer either.
	Hidden

	kinds = 6
)

var names = [kinds]string{"addresses_model", "invisible_tags", "zero_width", "direction_override", "variation_selectors", "hidden_text_addresses_model"}

// Names lists the names of the kinds in the set.
func (s Set) Names() []string {
	var out []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Signal is what was noticed of one kind.
type Signal struct {
	// Kind is the name.
	Kind string
	// Ref is the first element that has it, NoRef for text that is none's.
	Ref dom.Ref
	// Where is the part of the element, or of the page, that has it: text, value, placeholder, href, attribute, page, hidden.
	Where string
	// Count is how many elements, or places, have it.
	Count int
}

// maxListed bounds the refs in a Line.
const maxListed = 10

// Line writes signals in one line, without its end; empty: there are none.
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

// Scan says what a text has.
func Scan(text string) Set {
	var found Set
	var run runs
	state := uint16(0)
	space := true
	for _, r := range text {
		if r < 0x80 { // most text
			run = runs{}
			class := asciiClass[r]
			if class == classSpace {
				if space {
					continue
				}
				space = true
			} else {
				space = false
			}
			state = machine.next[int(state)*stride+int(class)]
			if machine.final[state] {
				found |= Addresses
			}
			continue
		}
		if isInvisible(r) {
			found |= run.add(r)
			continue
		}
		run = runs{flag: r == blackFlag}
		class := classOf(r)
		if class == classSpace && space {
			continue
		}
		space = class == classSpace
		state = machine.next[int(state)*stride+int(class)]
		if machine.final[state] {
			found |= Addresses
		}
	}
	return found
}

// blackFlag begins the flags of regions, which go on with tags.
const blackFlag = 0x1f3f4

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func isVariation(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

func isZeroWidth(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0x180e || r == 0x00ad
}

func isInvisible(r rune) bool {
	return isTag(r) || isVariation(r) || isZeroWidth(r) || r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// runs counts invisible characters in a row.
type runs struct {
	zero, variation, tags int
	// flag says that the row began with a black flag.
	flag bool
}

// maxFlagTags is how many tags the flag of a region has: seven at most, and the one that ends it.
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

// Element says what an element has, and in which part first.
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
