package turn

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// Asked is what an action that was done asked of a field: to hold a text, to have options selected, to be checked or not.
type Asked struct {
	// Kind is Fill, Type, Select, Check or Uncheck.
	Kind driver.ActionKind
	// Element is the field before the action.
	Element *dom.Element
	Text    string
	Values  []string
}

// asked returns what an action that was done asked of an element; nothing of an action whose note says that something else
// came of it.
func asked(a driver.Action, el *dom.Element, note string) []Asked {
	if el == nil {
		return nil
	}
	switch a.Kind {
	case driver.Fill, driver.Type, driver.Select, driver.Check, driver.Uncheck:
		if note == "" || note == "ok" {
			return []Asked{{Kind: a.Kind, Element: el, Text: a.Text, Values: a.Values}}
		}
		if said, isHeld := strings.CutPrefix(note, driver.Holds); isHeld {
			if held, err := strconv.Unquote(said); err == nil { // the summary says so
				return []Asked{{Kind: driver.Fill, Element: el, Text: held}}
			}
		}
	}
	return nil
}

// Expected returns what a snapshot shows of an element if only what was asked came about since was. It differs from now
// in what else is new.
func Expected(all []Asked, was, now *dom.Element) *dom.Element {
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
	if known && shows(now, held) {
		e.Value, e.ValueLeft = now.Value, now.ValueLeft
	}
	return &e
}

// unchecks reports whether an element is a radio button of which the browser takes the check when another one gets it.
func (a Asked) unchecks(el *dom.Element) bool {
	isRadio := func(e *dom.Element) bool { return e.Tag == "input" && e.Type == "radio" && e.Name != "" }
	return a.Kind == driver.Check && isRadio(a.Element) && isRadio(el) && a.Element.Name == el.Name && a.Element.Frame == el.Frame &&
		el.States.Checked == dom.True
}

// maxLeft is up to where the characters behind a value that is cut are counted.
const maxLeft = 10_000

// shows reports whether an element shows that it holds a text. White space at the ends of a text is not shown.
func shows(el *dom.Element, text string) bool {
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
	return strings.HasPrefix(text, kept) && min(utf8.RuneCountInString(text)-utf8.RuneCountInString(kept), maxLeft) == el.ValueLeft
}
