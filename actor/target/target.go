// Package target finds the elements that a caller means by what a person would say of them: by role and name, or
// by the text on them. It is pure over the elements of a snapshot. What only the page knows, which is labels,
// placeholders, test ids and selectors, it names (Target) and compares (Best), but does not find.
//
// The rules, all of them tested:
//
//   - A name or text fits an element exactly, or but for case and white space, or as a part of it that begins a word, or
//     as a part of four characters or more that does not; only the elements of the closest of these four fits that any
//     element has are meant (Match).
//   - Match never picks one of several: it gives back all that are meant, in document order, and whoever acts must
//     refuse more than one.
//   - What a control shows beside its name is meant only where no name of a control is just that (Shown).
//   - Elements that are used count before those that are only shown: when a button and a heading both say
//     "Save", the button is meant.
//   - Of elements that stand in each other and say the same text, the innermost is meant; in one that MayHold others,
//     also when only the page knows it (Innermost).
package target

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// By says how a Target names its element.
type By uint8

// The ways to name an element.
const (
	// None: the target names nothing.
	None By = iota
	// Ref: by Target.Ref.
	Ref
	// Role: by Target.Role, Target.Name or both.
	Role
	// Text: by what stands on it.
	Text
	// Label: a field, by the label of it that a person reads.
	Label
	// Placeholder: a field, by its placeholder.
	Placeholder
	// TestID: by data-testid, data-test-id, data-test or data-cy.
	TestID
	// Selector: by a CSS selector.
	Selector
	// Group: a fieldset or group of choices, by its legend or label.
	Group
	// Submitter: what submits the form of the field of Ref.
	Submitter
	// Innermost: the innermost elements in the one of Ref, or that itself, that say Words.
	Innermost
	// Shown: a control, of Role unless that is empty, by what a person reads of it beside its name: words that the name hides, a tip, a
	// placeholder.
	Shown
)

// Target names an element.
type Target struct {
	By  By
	Ref dom.Ref
	// Role and Name go with By Role; one of them may be empty.
	Role, Name string
	// Words is the text, label, placeholder, test id or selector.
	Words string
	// Called is what the caller calls the field, when the selector was made of that.
	Called string
	// Within, unless empty, is what must stand around the element: a text, a role or a ref; see elementcontext.Within.
	Within string
	// Nth, unless 0, is the number of the element among those that are meant, from 1 in document order, or from -1 from the end.
	Nth int
	// OnHover asks the page not for the element but, when it shows only while the pointer is over another one, for that one.
	// The page then finds targets By Ref, Role and Text as well.
	OnHover bool
}

// InPage reports whether only the page can say which element is meant.
func (t Target) InPage() bool { return t.By >= Label }

// String says what is looked for, in the words of the API.
func (t Target) String() string {
	what := t.what()
	if t.Nth != 0 {
		what += " number " + strconv.Itoa(t.Nth)
	}
	if t.Within != "" {
		what += " within " + Quote(t.Within)
	}
	return what
}

func (t Target) what() string {
	switch t.By {
	case Ref:
		return "ref " + strconv.FormatUint(uint64(t.Ref), 10)
	case Role:
		switch {
		case t.Name == "":
			return t.Role
		case t.Role == "":
			return "name " + Quote(t.Name)
		}
		return t.Role + " " + Quote(t.Name)
	case Text:
		return "text " + Quote(t.Words)
	case Label:
		return "label " + Quote(t.Words)
	case Placeholder:
		return "placeholder " + Quote(t.Words)
	case TestID:
		return "test id " + Quote(t.Words)
	case Selector:
		if t.Called != "" {
			return "field " + Quote(t.Called)
		}
		return "selector " + Quote(t.Words)
	case Group:
		return "group " + Quote(t.Words)
	case Submitter:
		return "the button that submits the form of ref " + strconv.FormatUint(uint64(t.Ref), 10)
	case Innermost, Shown:
		return "text " + Quote(t.Words)
	}
	return "nothing"
}

// maxQuoted bounds what an answer repeats of its request, in characters.
const maxQuoted = 80

// Quote puts a text of a request into quotation marks, cut when it is long.
func Quote(s string) string {
	for i, n := 0, 0; i < len(s); n++ {
		if n == maxQuoted {
			return strconv.Quote(s[:i]) + "…"
		}
		_, size := firstRune(s[i:])
		i += size
	}
	return strconv.Quote(s)
}

func firstRune(s string) (r rune, size int) {
	for i, c := range s {
		if i > 0 {
			return r, i
		}
		r = c
	}
	return r, len(s)
}

// Fit says how well a text is what is wanted. Smaller is closer.
type Fit uint8

// The fits.
const (
	// Exactly: it is the same.
	Exactly Fit = iota
	// Folded: it is the same but for case and white space.
	Folded
	// Worded: what is wanted is a part of it that begins a word, in any case.
	Worded
	// Partly: what is wanted is a part of it that begins within a word, in any case.
	Partly
	// Not: it is something else.
	Not
)

// cut is the sign behind a text of which there is only the beginning; texts write "…+230".
const cut = "…"

// Compare says how well a text of a snapshot is what is wanted. Of a text that the snapshot has only the beginning of,
// the beginning is compared; and so it is when what is wanted is such a beginning, as answers have it.
func Compare(text, wanted string) Fit {
	if text == wanted {
		return Exactly
	}
	folded, sought := fold(text), fold(wanted)
	switch {
	case sought == "":
		return Not
	case folded == sought:
		return Folded
	case elementcontext.BeginsWord(folded, sought):
		return Worded
	case strings.Contains(folded, sought) && mayBeginWithin(sought):
		return Partly
	}
	if begin, was := strings.CutSuffix(folded, cut); was && begin != "" && strings.HasPrefix(sought, strings.TrimSpace(begin)) {
		return Folded
	}
	if begin, was := beginning(sought); was && strings.HasPrefix(folded, begin) {
		return Folded
	}
	return Not
}

// minWithin is how many characters a text has at least that may begin within a word: "OK" is no part of "Tokyo".
const minWithin = 4

// mayBeginWithin reports whether a text may be a part that begins within a word: a longer one, or one of a script that does not divide words.
func mayBeginWithin(sought string) bool {
	first, _ := utf8.DecodeRuneInString(sought)
	return utf8.RuneCountInString(sought) >= minWithin || !unicode.In(first, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Mentions reports whether an element is a sentence, or a longer text, that has words somewhere behind its beginning: who names a control by
// these words does not mean that.
func Mentions(el *dom.Element, words string) bool {
	if el.Kind != dom.Structural {
		return false
	}
	folded, sought := fold(el.WholeText()), fold(words)
	switch fit := Compare(folded, sought); {
	case fit != Worded && fit != Partly, strings.HasPrefix(folded, sought), 2*len(sought) >= len(folded):
		return false
	}
	return strings.ContainsAny(folded[len(folded)-1:], ".!?") || len(strings.Fields(folded)) > maxNameWords
}

// maxNameWords is how many words the text of a control has that no mark ends.
const maxNameWords = 8

// beginning returns what stands before the sign of a text that was cut, and whether it was cut.
func beginning(s string) (begin string, was bool) {
	begin, was = strings.CutSuffix(s, cut)
	if at := strings.LastIndex(s, cut+"+"); !was && at >= 0 {
		if _, err := strconv.ParseUint(s[at+len(cut+"+"):], 10, 32); err == nil {
			begin, was = s[:at], true
		}
	}
	begin = strings.TrimSpace(begin)
	return begin, was && begin != ""
}

// fold makes one of all texts that differ in case and white space only.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// Match returns the elements that a target By Role or Text means, in document order.
func Match(t Target, elements []*dom.Element) []*dom.Element {
	for _, used := range []bool{true, false} {
		fit := func(el *dom.Element) Fit {
			if (el.Kind != dom.Structural) != used {
				return Not
			}
			return t.Fit(el)
		}
		among := elements
		if t.Within != "" {
			among = slices.DeleteFunc(slices.Clone(elements), func(el *dom.Element) bool { return fit(el) == Not })
			among = elementcontext.Within(elements, among, t.Within)
		}
		found := Best(among, fit)
		if len(found) > 0 {
			if t.By == Text {
				found = withoutLabels(innermost(found, elements), elements)
			}
			return found
		}
	}
	return nil
}

// Best returns what fits closest, in order.
func Best[E any](all []E, fit func(E) Fit) []E {
	best := Partly
	var found []E
	for _, one := range all {
		f := fit(one)
		if f == Not || f > best {
			continue
		}
		if f < best {
			best, found = f, nil
		}
		found = append(found, one)
	}
	return found
}

// Fit says how well an element is what a target By Role or Text means.
func (t Target) Fit(el *dom.Element) Fit {
	switch t.By {
	case Role:
		if !t.fitsRole(el) {
			return Not
		}
		if t.Name == "" {
			return Exactly
		}
		return Compare(el.WholeText(), t.Name)
	case Text:
		return Compare(el.WholeText(), t.Words)
	}
	return Not
}

func (t Target) fitsRole(el *dom.Element) bool {
	return t.Role == "" || strings.EqualFold(t.Role, el.Role) || el.Role == "" && strings.EqualFold(t.Role, el.Tag)
}

// innermost leaves out the elements that others among them stand in.
func innermost(found, elements []*dom.Element) []*dom.Element {
	if len(found) < 2 {
		return found
	}
	parents := make(map[dom.Ref]dom.Ref, len(elements))
	for _, el := range elements {
		parents[el.Ref] = el.Parent
	}
	outer := map[dom.Ref]bool{}
	for _, el := range found {
		for up, steps := el.Parent, 0; up != dom.NoRef && steps < len(elements); steps++ {
			outer[up] = true
			next, known := parents[up]
			if !known {
				break
			}
			up = next
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(el *dom.Element) bool { return outer[el.Ref] })
}

// maxLabelled is how many elements may be between a label and its field.
const maxLabelled = 12

// withoutLabels leaves out the labels whose field is among what was found by the same text: who names a field by its label means the
// field.
func withoutLabels(found, elements []*dom.Element) []*dom.Element {
	if len(found) < 2 || !slices.ContainsFunc(found, isLabel) {
		return found
	}
	place := make(map[dom.Ref]int, len(elements))
	for i, el := range elements {
		place[el.Ref] = i
	}
	return slices.DeleteFunc(slices.Clone(found), func(label *dom.Element) bool {
		return isLabel(label) && slices.ContainsFunc(found, func(field *dom.Element) bool {
			far := place[field.Ref] - place[label.Ref]
			return IsField(field) && field.Role != "button" && field.WholeText() == label.WholeText() && field.Frame == label.Frame && 0 < far && far <= maxLabelled
		})
	})
}

func isLabel(el *dom.Element) bool { return el.Tag == "label" }

// MayHold reports whether an element may be a container of several things that a person tells apart: a list or a row, or a
// block of texts of which the page may handle each by itself, but no button, whatever stands on it.
func MayHold(el *dom.Element) bool {
	switch el.Tag {
	case "a", "button", "input", "select", "textarea", "summary", "option", "label", "area", "img":
		return false
	}
	return el.Role == "treeitem" || el.Role == "listbox" || !acted[el.Role]
}

// Describe names an element as a person would: button "Pay".
func Describe(el *dom.Element) string {
	kind := el.Role
	if kind == "" {
		kind = el.Tag
	}
	if called := Called(el); called != "" {
		return kind + " " + strconv.Quote(called)
	}
	return kind
}

// Called is what a person would call an element: its name, or else its placeholder or name attribute; empty: nothing.
func Called(el *dom.Element) string {
	for _, name := range []string{el.Text, el.Placeholder, el.Name} {
		if name != "" {
			return name
		}
	}
	return ""
}

// List names elements with their refs: [5] button "Pay", [9] link "Pay". Those beyond limit are counted only.
func List(elements []*dom.Element, limit int) string { return ListWithin(elements, nil, limit) }

// ListWithin is List with what tells the elements apart: [13] button "Edit" in "1003 Grace Hopper".
func ListWithin(elements []*dom.Element, contexts map[dom.Ref]elementcontext.Context, limit int) string {
	var b strings.Builder
	for i, el := range elements {
		if i == limit {
			b.WriteString(" and " + strconv.Itoa(len(elements)-limit) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("[" + strconv.FormatUint(uint64(el.Ref), 10) + "] " + Describe(el))
		if c, told := contexts[el.Ref]; told {
			b.WriteString(" in " + strconv.Quote(c.Words))
		}
	}
	return b.String()
}

// acted are the roles of elements that are part of the stored DOM also while nobody asks for what is only shown.
var acted = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "checkbox": true, "radio": true, "combobox": true,
	"listbox": true, "slider": true, "spinbutton": true, "switch": true, "tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "option": true, "treeitem": true,
}

// RoleOfFields is a target By Label whose words are the role of fields as a target By Role, for a page where nothing has that label: the
// slider.
func (t Target) RoleOfFields() (Target, bool) {
	role := strings.ToLower(t.Words)
	if t.By != Label || !isFieldRole(role) {
		return Target{}, false
	}
	return Target{By: Role, Role: role, Within: t.Within, Nth: t.Nth}, true
}

// MayBeShown reports whether the element that a target By Role or Text means may be one that is only shown, such as a
// heading.
func (t Target) MayBeShown() bool {
	return t.By == Text || t.By == Role && !acted[strings.ToLower(t.Role)]
}
