package turn

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

const (
	// maxSlides limits how many rounds of key presses set a slider. Its value is checked after each round.
	maxSlides = 6
	// maxSteps limits how many steps a slider is moved in one round.
	maxSteps = 200
)

// isMovedByKeys reports whether a field that rejected a text is a slider or spin button, whose number the arrow keys change.
func isMovedByKeys(el *dom.Element, refused error) bool {
	var e *apierr.Error
	return el != nil && (el.Role == "slider" || el.Role == "spinbutton") && errors.As(refused, &e) && e.Detail["cause"] == "uneditable"
}

// slider is a custom slider or spin button whose value is set with keys.
type slider struct {
	*run
	el     *dom.Element
	wanted float64
	// step is the change of the value by the last effective key press.
	step float64
	// spent holds the keys that had no effect.
	spent map[string]bool
	// moved reports whether any key changed the value.
	moved bool
	// mirrored reports that the first effective key moved away from the wanted value, as in right-to-left text.
	mirrored bool
}

// slide sets the value of a slider with its arrow keys. Refused is the result of the attempt to enter the value as text.
func (t *run) slide(ctx context.Context, el *dom.Element, text string, refused Result) (Result, error) {
	wanted, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	s := &slider{run: t, el: el, wanted: wanted, spent: map[string]bool{}}
	if now, known := s.value(); err != nil || !known || math.IsInf(wanted, 0) || math.IsNaN(wanted) {
		return s.fail(refused, ""), nil
	} else if now == wanted {
		refused.Done, refused.Err, refused.Delivered = true, nil, driver.DeliveredAll
		refused.Summary = summarize(driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref)}, el) + ": ok, it already had that value"
		return refused, nil
	}
	last := refused
	for range maxSlides {
		key, repeat := s.next()
		if key == "" {
			break
		}
		before, _ := s.value()
		press := driver.Action{Kind: driver.Press, Location: driver.At(el.Ref), Text: key, Repeat: repeat}
		r, err := t.perform(ctx, Step{Action: press, found: true})
		if err != nil || r.Err != nil {
			return r, err
		}
		last = r
		now, known := s.value()
		if !known {
			break
		}
		if s.recordEffect(key, repeat, before, now); now == wanted {
			r.Summary = summarize(driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref)}, el) + ": ok, by its arrow keys"
			r.FieldRequests = []FieldRequest{{Kind: driver.Fill, Element: el, Text: s.current().Value}}
			return r, nil
		}
	}
	return s.fail(last, s.where()), nil
}

// current returns the slider as last read, or nil if it is gone.
func (s *slider) current() *dom.Element { return s.x.Head().Snapshot.Find(s.el.Ref) }

// value returns the slider's value, if it is a number.
func (s *slider) value() (float64, bool) {
	el := s.current()
	if el == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(el.Value, 64)
	return n, err == nil
}

// next returns the key to press, and how often. The key is empty if no key leads further.
func (s *slider) next() (key string, repeat int) {
	now, _ := s.value()
	keys := []string{"ArrowRight", "ArrowUp"}
	if s.wanted < now != s.mirrored {
		keys = []string{"ArrowLeft", "ArrowDown"}
	}
	steps := 1
	if s.step > 0 {
		if steps = int(math.Round(min(math.Abs(s.wanted-now)/s.step, maxSteps))); steps == 0 {
			return "", 0 // no step of the slider is at the wanted value
		}
	}
	for _, key := range keys {
		if !s.spent[key] {
			return key, steps
		}
	}
	return "", 0
}

// recordEffect records the effect of a key.
func (s *slider) recordEffect(key string, repeat int, before, now float64) {
	if now == before {
		s.spent[key] = true
	}
	if !s.moved && math.Abs(s.wanted-now) > math.Abs(s.wanted-before) {
		s.mirrored = true
	}
	if now != before {
		s.moved, s.step = true, math.Abs(now-before)/float64(repeat)
	}
}

// where describes the final value of a slider that could not be set.
func (s *slider) where() string {
	if el := s.current(); s.moved && el != nil {
		return ": its arrow keys brought it to " + strconv.Quote(el.Value)
	}
	return ": its arrow keys do not reach the value"
}

// fail returns the result for a slider that could not be set.
func (s *slider) fail(r Result, why string) Result {
	ref := number(s.el.Ref)
	r.Done, r.FieldRequests, r.Delivered = false, nil, driver.DeliveredNone
	if s.moved {
		r.Delivered = driver.DeliveredPart
	}
	if why == "" {
		why = ": it takes no text, and shows no number to set"
	}
	r.Err = &apierr.Error{Kind: apierr.NotActionable, Detail: map[string]string{"ref": ref, "cause": "uneditable"},
		Message: "ref " + ref + " is a " + s.el.Role + " that the page draws" + why + "; press ArrowRight or ArrowLeft on it, then read its value"}
	r.Summary = summarize(driver.Action{Kind: driver.Fill, Location: driver.At(s.el.Ref)}, s.el) + ": " + word(driver.DoResult{}, r.Err)
	return r
}
