// Package target finds elements by descriptions that a person would use: role and name, or visible text. It works only on the elements of a
// snapshot. Labels, placeholders, test IDs and selectors can be resolved only in the page; for these, the package only represents (Target)
// and compares (Best) them.
//
// The rules, all of them tested:
//
//   - A name or text fits an element exactly; or ignoring case and white space; or as a part that begins at the start of a word; or as a
//     part of at least four characters that begins within a word. Only the elements with the closest fit are returned (Match).
//   - Match never chooses between several elements. It returns all of them in document order, and callers that act must reject more than
//     one.
//   - The visible text of a control other than its name is used only if no control has exactly that name (Shown).
//   - Interactive elements take precedence over structural ones: if a button and a heading both have the text "Save", the button is
//     returned.
//   - Of nested elements with the same text, the innermost is returned. For an element that MayHold others, this includes elements that
//     only the page knows (Innermost).
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

// By selects how a Target names its element.
type By uint8

// The ways to name an element.
const (
	// None means that the target names nothing.
	None By = iota
	// Ref names an element by Target.Ref.
	Ref
	// Role names an element by Target.Role, Target.Name or both.
	Role
	// Text names an element by its visible text.
	Text
	// Label names a field by its visible label.
	Label
	// Placeholder names a field by its placeholder.
	Placeholder
	// TestID names an element by data-testid, data-test-id, data-test or data-cy.
	TestID
	// Selector names an element by a CSS selector.
	Selector
	// Group names a fieldset or group of choices by its legend or label.
	Group
	// Submitter names the element that submits the form of the field Ref.
	Submitter
	// Innermost names the innermost elements with the text Words inside the element Ref, or that element itself.
	Innermost
	// Shown names a control, of Role unless that is empty, by visible text other than its name: text that the name hides, a tooltip, or a
	// placeholder.
	Shown
)

// Target describes an element.
type Target struct {
	By  By
	Ref dom.Ref
	// Role and Name are used by Role. One of them may be empty.
	Role, Name string
	// Words is the text, label, placeholder, test ID or selector.
	Words string
	// Called is the caller's name of the field, if the selector was derived from it.
	Called string
	// Within, unless empty, names the surroundings of the element: a text, a role or a ref; see elementcontext.Within.
	Within string
	// Nth, unless 0, is the number of the element among the matching ones, from 1 in document order, or from -1 at the end.
	Nth int
	// OnHover makes the page return, for an element that appears only while the pointer hovers over another one, that other element. In
	// this mode the page also resolves Ref, Role and Text.
	OnHover bool
	// Field restricts Shown to fields.
	Field bool
}

// InPage reports whether only the page can resolve the target.
func (t Target) InPage() bool { return t.By >= Label }

// ComparesWholeWords reports whether the target names a field. A part of a word is not a field's name: "Count" names neither "Country" nor
// "Discount".
func (t Target) ComparesWholeWords() bool {
	return t.By == Label || t.By == Group || t.By == Placeholder || t.By == Shown && t.Field
}

// String describes the target in the terms of the API.
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

// maxQuoted limits how much of a request an answer quotes, in characters.
const maxQuoted = 80

// Quote quotes a text of a request and shortens it if it is long.
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

// Fit is the quality of a match between two texts. Smaller is closer.
type Fit uint8

// The values of Fit.
const (
	// Exactly means that the texts are equal.
	Exactly Fit = iota
	// Folded means that the texts are equal except for case and white space.
	Folded
	// Worded means that the wanted text is a part that begins at the start of a word, in any case.
	Worded
	// Partly means that the wanted text is a part that begins within a word, in any case.
	Partly
	// Not means that the texts do not match.
	Not
)

// cut is the sign at the end of a truncated text. Texts of elements end in "…+230", for example.
const cut = "…"

// Compare returns how well a text of a snapshot matches a wanted text. If either text is truncated, as in a snapshot or in an answer, only
// its beginning is compared.
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

// minWithin is the minimum length in characters of a text that may match within a word. "OK" does not match "Tokyo".
const minWithin = 4

// mayBeginWithin reports whether a text may match within a word: if it is long enough, or in a script that does not separate words.
func mayBeginWithin(sought string) bool {
	first, _ := utf8.DecodeRuneInString(sought)
	return utf8.RuneCountInString(sought) >= minWithin || !unicode.In(first, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Mentions reports whether an element is a sentence or a longer text that contains words, but not at its beginning. A caller that names a
// control by these words does not mean such an element.
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

// maxNameWords is the maximum number of words in the text of a control, unless punctuation ends it.
const maxNameWords = 8

// beginning returns the part of a truncated text before the sign, and whether it was truncated.
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

// fold normalizes case and white space.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// Match returns the elements that match a target by Role or Text, in document order.
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
			among = within(elements, among, fit, t.Within)
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

// within returns the elements of among in the surroundings. The cells of a row often contain each other's texts, as 9, "Ada 9" and 94 do. If
// none is found, a cell with the exact name does not compete with the others.
func within(elements, among []*dom.Element, fit func(*dom.Element) Fit, words string) []*dom.Element {
	found := elementcontext.Within(elements, among, words)
	if len(found) > 0 {
		return found
	}
	exact := slices.DeleteFunc(among, func(el *dom.Element) bool { return fit(el) != Exactly || !elementcontext.IsCell(el) })
	return elementcontext.Within(elements, exact, words)
}

// Best returns the elements with the closest fit, in order.
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

// Fit returns how well an element matches a target by Role or Text.
func (t Target) Fit(el *dom.Element) Fit {
	switch t.By {
	case Role:
		if !t.fitsRole(el) {
			return Not
		}
		if t.Name == "" {
			return Exactly
		}
		return fitName(el, t.Name)
	case Text:
		return fitName(el, t.Words)
	}
	return Not
}

// fitName returns how well words match the name of an element, or, for words such as "~trash", its hints. For an element without a name, a
// hint serves as the name.
func fitName(el *dom.Element, words string) Fit {
	if hint, marked := strings.CutPrefix(words, "~"); marked && slices.Contains(strings.Fields(el.Hints), hint) {
		if el.Text == "" {
			return Exactly
		}
		return Folded
	}
	return Compare(el.WholeText(), words)
}

func (t Target) fitsRole(el *dom.Element) bool {
	return t.Role == "" || strings.EqualFold(t.Role, el.Role) || el.Role == "" && strings.EqualFold(t.Role, el.Tag)
}

// innermost removes the elements that contain other elements of found.
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

// ItemsOfBoxes replaces the drawn checkboxes of tree items by the items, because a caller that gives the text of an item means the item,
// although the text also labels the checkbox. Only a caller that checks or unchecks means the checkbox.
func ItemsOfBoxes(found, elements []*dom.Element) []*dom.Element {
	isDrawn := func(el *dom.Element) bool { return el.Tag != "input" && (el.Role == "checkbox" || el.Role == "radio") }
	if !slices.ContainsFunc(found, isDrawn) {
		return found
	}
	byRef := make(map[dom.Ref]*dom.Element, len(elements))
	for _, el := range elements {
		byRef[el.Ref] = el
	}
	var meant []*dom.Element
	for _, el := range found {
		item := byRef[el.Parent]
		for steps := 0; item != nil && item.Role != "treeitem" && steps < maxBoxed; steps++ {
			item = byRef[item.Parent]
		}
		if isDrawn(el) && item != nil && item.Role == "treeitem" && Compare(item.WholeText(), el.WholeText()) != Not {
			el = item
		}
		if !slices.Contains(meant, el) {
			meant = append(meant, el)
		}
	}
	return meant
}

// maxBoxed limits how many elements may be between the checkbox of a tree item and the item.
const maxBoxed = 3

// maxLabelled limits how many elements may be between a label and its field.
const maxLabelled = 12

// withoutLabels removes the labels whose field was found by the same text, because a caller that names a field by its label means the
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

// MayHold reports whether an element may contain several parts that a person distinguishes: a list or a row, or a block of texts that the
// page handles separately. A button never does, whatever its content.
func MayHold(el *dom.Element) bool {
	switch el.Tag {
	case "a", "button", "input", "select", "textarea", "summary", "option", "label", "area", "img":
		return false
	}
	return el.Role == "treeitem" || el.Role == "listbox" || !alwaysStoredRoles[el.Role]
}

// Describe describes an element as a person would: button "Pay".
func Describe(el *dom.Element) string {
	kind := el.Role
	if kind == "" {
		kind = el.Tag
	}
	if called := DisplayName(el); called != "" {
		return kind + " " + strconv.Quote(called)
	}
	return kind
}

// DisplayName returns a person's name for an element: its name, or else its placeholder or name attribute. It may be empty.
func DisplayName(el *dom.Element) string {
	for _, name := range []string{el.Text, el.Placeholder, el.Name} {
		if name != "" {
			return name
		}
	}
	return ""
}

// List describes elements with their refs: [5] button "Pay", [9] link "Pay". Elements beyond limit are only counted.
func List(elements []*dom.Element, limit int) string { return ListWithin(elements, nil, limit) }

// ListWithin works like List, with the contexts of the elements: [13] button "Edit" in "1003 Grace Hopper".
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

// alwaysStoredRoles holds the roles of elements that are in the stored DOM even if structural elements were not requested.
var alwaysStoredRoles = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "checkbox": true, "radio": true, "combobox": true,
	"listbox": true, "slider": true, "spinbutton": true, "switch": true, "tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "option": true, "treeitem": true,
}

// RoleOfFields converts a target by Label to a target by Role if its words are a role of fields, such as "slider". It is used if no field
// on the page has that label.
func (t Target) RoleOfFields() (Target, bool) {
	role := strings.ToLower(t.Words)
	if t.By != Label || !isFieldRole(role) {
		return Target{}, false
	}
	return Target{By: Role, Role: role, Within: t.Within, Nth: t.Nth}, true
}

// MayBeShown reports whether a target by Role or Text may refer to a structural element, such as a heading.
func (t Target) MayBeShown() bool {
	return t.By == Text || t.By == Role && !alwaysStoredRoles[strings.ToLower(t.Role)]
}
