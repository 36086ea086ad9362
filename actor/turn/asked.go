package turn

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// FieldRequest is what a completed action requested of a field: to hold a text, to have options selected, or to be checked or unchecked.
type FieldRequest struct {
	// Kind is Fill, Type, Select, Check or Uncheck.
	Kind driver.ActionKind
	// Element is the field before the action.
	Element *dom.Element
	Text    string
	Values  []string
}

// fieldRequests returns what a completed action requested of an element. It returns nil if the note reports a different outcome.
func fieldRequests(a driver.Action, el *dom.Element, note string) []FieldRequest {
	if el == nil {
		return nil
	}
	switch a.Kind {
	case driver.Fill, driver.Type, driver.Select, driver.Check, driver.Uncheck:
		if note == "" || note == "ok" {
			return []FieldRequest{{Kind: a.Kind, Element: el, Text: a.Text, Values: a.Values}}
		}
		if said, isHeld := strings.CutPrefix(note, driver.Holds); isHeld {
			if held, err := strconv.Unquote(said); err == nil { // the summary reports it
				return []FieldRequest{{Kind: driver.Fill, Element: el, Text: held}}
			}
		}
	}
	return nil
}

// Expected returns the state that a snapshot would show for an element if, since was, only the requested changes had taken effect. It
// differs from now in everything else that has changed.
func Expected(all []FieldRequest, was, now *dom.Element) *dom.Element {
	e := *was
	held, known := was.Value, was.ValueLeft == 0
	for _, a := range all {
		if a.Element.Ref != now.Ref {
			if a.unchecks(was) {
				e.States.Checked = dom.False
			}
			continue
		}
		switch a.Kind {
		case driver.Fill:
			held, known = a.Text, true
		case driver.Type:
			held += a.Text
		case driver.Select:
			held, known = strings.Join(a.Values, ", "), true
		case driver.Check:
			e.States.Checked = dom.True
		case driver.Uncheck:
			e.States.Checked = dom.False
		}
	}
	if known && holdsText(now, held) {
		e.Value, e.ValueLeft = now.Value, now.ValueLeft
	}
	return &e
}

// unchecks reports whether an element is a radio button that the browser unchecks when it checks the button of this action.
func (a FieldRequest) unchecks(el *dom.Element) bool {
	isRadio := func(e *dom.Element) bool { return e.Tag == "input" && e.Type == "radio" && e.Name != "" }
	return a.Kind == driver.Check && isRadio(a.Element) && isRadio(el) && a.Element.Name == el.Name && a.Element.Frame == el.Frame &&
		el.States.Checked == dom.True
}

// maxTruncated limits the count of characters after a truncated value.
const maxTruncated = 10_000

// holdsText reports whether an element's value shows that it holds a text. Leading and trailing white space of a text is not shown.
func holdsText(el *dom.Element, text string) bool {
	if text != strings.TrimSpace(text) {
		return false
	}
	if isMask(el.Value) {
		return text != ""
	}
	text = strings.Join(strings.Fields(text), " ")
	kept, isCut := strings.CutSuffix(el.Value, truncate.Ellipsis)
	if !isCut || el.ValueLeft == 0 {
		return el.Value == text
	}
	return strings.HasPrefix(text, kept) && min(utf8.RuneCountInString(text)-utf8.RuneCountInString(kept), maxTruncated) == el.ValueLeft
}
