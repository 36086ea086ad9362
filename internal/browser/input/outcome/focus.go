package outcome

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// Focus describes the focus in a document.
type Focus struct {
	// Element names the focused element.
	Element
	// Document reports that no element has the focus. Frame is the frame that has the focus.
	Document bool   `json:"document"`
	Frame    string `json:"frame"`
	// Editable reports that the element accepts text, Catcher that it shows no text itself, and Control that keys activate it.
	Editable bool `json:"editable"`
	Catcher  bool `json:"catcher"`
	Control  bool `json:"control"`
}

// TakesNoText returns the error for typing while a control has the focus that keys would activate.
func (f Focus) TakesNoText() error {
	return apierr.Errorf(apierr.NotActionable, "type: the focus is on %s, which takes no text: click a field first, or name it as the target", f.Named())
}

// NothingListens returns the error for typing that would have no effect.
func (f Focus) NothingListens() error {
	if f.Document {
		return apierr.Errorf(apierr.NotActionable, "type: no element has the focus, and the document does not listen for keys: click a field first, or name it as the target")
	}
	return apierr.Errorf(apierr.NotActionable, "type: the focus is on %s, and nothing on the page listens for keys: click a field first, or name it as the target", f.Named())
}

// NoKeyTypes returns the error for text that can only be entered into a field.
func (f Focus) NoKeyTypes(text string) error {
	where := "no element has the focus"
	if !f.Document {
		where = "the focus is on " + f.Named() + ", which is not a field"
	}
	return apierr.Errorf(apierr.NotActionable, "no key types %.20q, and %s: click a field first, or name it as the target", text, where)
}

// Seen reports which keys the document of the focus received.
type Seen struct {
	// Element names the receiver of the first key, unless Document is set.
	Element
	Document bool `json:"document"`
	// Downs is the number of key presses received. Handled is how many of them the page handled itself.
	Downs   int `json:"downs"`
	Handled int `json:"handled"`
	// Kept is the number of inserted characters. Into is the field of the last one, if it still exists. Held, from Element, is the field's
	// content unless it is a secret.
	Kept int      `json:"kept"`
	Into *Element `json:"into"`
	Gone bool     `json:"gone"`
	// Unseen is a key of unseenChanges, or empty.
	Unseen string `json:"unseen"`
}

// Result returns the result of key presses at the focus.
func (s Seen) Result(a driver.Action, to Focus, presses int) (driver.DoResult, error) {
	typed := a.Kind == driver.Type
	of := utf8.RuneCountInString(a.Text)
	switch {
	case s.Gone || s.Downs == 0 && s.Kept == 0:
		return s.undelivered(driver.DeliveredNone, "no key arrived", "the page took the focus away")
	case a.Hold == 0 && s.Downs < presses:
		return s.undelivered(driver.DeliveredPart, fmt.Sprintf("%d of %d keys arrived", s.Downs, presses), "the page moved the focus to another document")
	case typed && to.Editable && !to.Catcher && s.Kept+s.Handled < of:
		return s.undelivered(driver.DeliveredPart, fmt.Sprintf("%d of %d characters arrived", s.Kept, of), "the field does not accept the rest")
	}
	note := s.note(typed)
	if s.Unseen != "" {
		note += ", and " + unseenChanges[s.Unseen]
	}
	return driver.DoResult{Detail: note, Altered: s.Unseen != ""}, nil
}

// undelivered returns the result of keys that did not all arrive.
func (s Seen) undelivered(how driver.Delivered, what, why string) (driver.DoResult, error) {
	return driver.DoResult{Delivered: how}, &apierr.Error{Kind: apierr.NotDelivered,
		Detail:  map[string]string{"cause": "focus", "keys": strconv.Itoa(s.Downs), "arrived": strconv.Itoa(s.Kept)},
		Message: what + " at the focus: " + why + ": read the page, and name the element as the target"}
}

// note describes where keys arrived, how many the page handled, and which field holds the text.
func (s Seen) note(typed bool) string {
	where := "to the document"
	if !s.Document {
		where = "on " + s.Named()
	}
	note := "ok, " + where
	switch {
	case s.Handled > 0 && !typed:
		note += "; the page handled the key itself"
	case s.Handled > 0:
		note += fmt.Sprintf("; the page handled %d of %d keys itself", s.Handled, s.Downs)
	}
	if typed && s.Into != nil {
		text := "the text"
		if s.Held != "" {
			text = strconv.Quote(s.Held)
		}
		note += "; " + cmp.Or(s.Into.Named(), "a field") + " holds " + text
	}
	return note
}
