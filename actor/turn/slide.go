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
	// maxSlides is how often keys are pressed at a slider in a row, with a look at its value after each.
	maxSlides = 6
	// maxSteps is how many steps a slider is moved by at once.
	maxSteps = 200
)

// isMovedByKeys reports whether a field that takes no text is one whose number the arrow keys change.
func isMovedByKeys(el *dom.Element, refused error) bool {
	var e *apierr.Error
	return el != nil && (el.Role == "slider" || el.Role == "spinbutton") && errors.As(refused, &e) && e.Detail["cause"] == "uneditable"
}

// slider is a slider, or a spin button, that the page draws, while keys set its value.
type slider struct {
	*run
	el     *dom.Element
	wanted float64
	// step is by how much the last key that did anything changed the value.
	step float64
	// spent are the keys that did nothing.
	spent map[string]bool
	// moved says that some key changed the value.
	moved bool
	// mirrored says that the first key which did led away from what is wanted, as it does where texts run from right to left.
	mirrored bool
}

// slide sets the value of a slider by its arrow keys. Refused is the answer to the attempt to enter it as a text.
func (t *run) slide(ctx context.Context, el *dom.Element, text string, refused Result) (Result, error) {
	wanted, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	s := &slider{run: t, el: el, wanted: wanted, spent: map[string]bool{}}
	if now, known := s.value(); err != nil || !known || math.IsInf(wanted, 0) || math.IsNaN(wanted) {
		return s.fail(refused, ""), nil
	} else if now == wanted {
		refused.Done, refused.Err, refused.Delivered = true, nil, driver.DeliveredAll
		refused.Summary = summarize(driver.Action{Kind: driver.Fill, Spot: driver.At(el.Ref)}, el) + ": ok, it was at that"
		return refused, nil
	}
	last := refused
	for range maxSlides {
		key, repeat := s.next()
		if key == "" {
			break
		}
		before, _ := s.value()
		press := driver.Action{Kind: driver.Press, Spot: driver.At(el.Ref), Text: key, Repeat: repeat}
		r, err := t.perform(ctx, Step{Action: press, found: true})
		if err != nil || r.Err != nil {
			return r, err
		}
		last = r
		now, known := s.value()
		if !known {
			break
		}
		if s.saw(key, repeat, before, now); now == wanted {
			r.Summary = summarize(driver.Action{Kind: driver.Fill, Spot: driver.At(el.Ref)}, el) + ": ok, by its arrow keys"
			r.Asked = []Asked{{Kind: driver.Fill, Element: el, Text: s.current().Value}}
			return r, nil
		}
	}
	return s.fail(last, s.where()), nil
}

// current is the slider as it was read last; nil: it is gone.
func (s *slider) current() *dom.Element { return s.x.Head().Snapshot.Find(s.el.Ref) }

// value is the number that a slider shows, if it shows one alone.
func (s *slider) value() (float64, bool) {
	el := s.current()
	if el == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(el.Value, 64)
	return n, err == nil
}

// next is the key to press, and how often; empty: none leads further.
func (s *slider) next() (key string, repeat int) {
	now, _ := s.value()
	keys := []string{"ArrowRight", "ArrowUp"}
	if s.wanted < now != s.mirrored {
		keys = []string{"ArrowLeft", "ArrowDown"}
	}
	steps := 1
	if s.step > 0 {
		if steps = int(math.Round(min(math.Abs(s.wanted-now)/s.step, maxSteps))); steps == 0 {
			return "", 0 // it stops beside what is wanted
		}
	}
	for _, key := range keys {
		if !s.spent[key] {
			return key, steps
		}
	}
	return "", 0
}

// saw notes what a key did.
func (s *slider) saw(key string, repeat int, before, now float64) {
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

// where says where a slider stands that could not be set.
func (s *slider) where() string {
	if el := s.current(); s.moved && el != nil {
		return ": its arrow keys brought it to " + strconv.Quote(el.Value)
	}
	return ": its arrow keys do not lead there"
}

// fail is the answer of a slider that does not hold what it should.
func (s *slider) fail(r Result, why string) Result {
	ref := number(s.el.Ref)
	r.Done, r.Asked, r.Delivered = false, nil, driver.DeliveredNone
	if s.moved {
		r.Delivered = driver.DeliveredPart
	}
	if why == "" {
		why = ": it takes no text, and shows no number to set"
	}
	r.Err = &apierr.Error{Kind: apierr.NotActionable, Detail: map[string]string{"ref": ref, "cause": "uneditable"},
		Message: "ref " + ref + " is a " + s.el.Role + " that the page draws" + why + "; press ArrowRight or ArrowLeft at it, and read what it shows"}
	r.Summary = summarize(driver.Action{Kind: driver.Fill, Spot: driver.At(s.el.Ref)}, s.el) + ": " + word(driver.DoResult{}, r.Err)
	return r
}
