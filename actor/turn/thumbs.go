package turn

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// thumbsMeant returns the actions that set the thumbs of one slider, if an ambiguous label means all of them. It returns nil otherwise.
func (t filler) thumbsMeant(f *Field, ambiguous error) []driver.Action {
	e, _ := errors.AsType[*apierr.Error](ambiguous)
	if e == nil || e.Kind != apierr.Ambiguous || !t.areNeighbors(e.Candidates) {
		return nil
	}
	return thumbs(e.Candidates, f.Values)
}

// areNeighbors reports whether no other field is between the first and the last of some elements.
func (t filler) areNeighbors(all []*dom.Element) bool {
	isOne := func(el *dom.Element) bool {
		return slices.ContainsFunc(all, func(one *dom.Element) bool { return one.Ref == el.Ref })
	}
	elements := t.elements()
	seen := 0
	for _, el := range elements[max(0, slices.IndexFunc(elements, isOne)):] {
		switch {
		case seen == len(all):
			return true
		case isOne(el):
			seen++
		case target.IsField(el):
			return false
		}
	}
	return seen == len(all)
}

// thumbs returns the actions that set sliders to as many numbers. It returns nil if the elements are not sliders, or if the values are not as
// many numbers. A thumb cannot pass the next one, so the last thumb is set first if the range moves up.
func thumbs(all []*dom.Element, values []string) []driver.Action {
	sliders := slices.DeleteFunc(slices.Clone(all), func(el *dom.Element) bool { return el.Role != "slider" })
	numbers := numbersOf(values, len(sliders))
	if len(sliders) < 2 || len(sliders) != len(numbers) {
		return nil
	}
	actions := make([]driver.Action, len(sliders))
	for i, el := range sliders {
		actions[i] = driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref), Text: numbers[i]}
	}
	first, _ := strconv.ParseFloat(numbers[0], 64)
	if next, err := strconv.ParseFloat(sliders[1].Value, 64); err == nil && first > next {
		slices.Reverse(actions)
	}
	return actions
}

// grouped matches a number whose thousands are separated by commas, and lists of three-digit numbers that look the same.
var grouped = lazyregexp.New(`^\s*[-+]?\d{1,3}(,\d{3})+\s*$`)

// numbersOf returns n numbers: the values, or the parts of the only value, such as "20-80" or "20 to 80". It returns nil for other values, and
// for one that may be a single number, such as "1,000".
func numbersOf(values []string, n int) []string {
	isOther := func(part string) bool {
		_, err := strconv.ParseFloat(part, 64)
		return err != nil || strings.Trim(part, "+-.0123456789") != "" // not NaN, Inf or a hexadecimal number
	}
	if len(values) == n && !slices.ContainsFunc(values, isOther) {
		return values
	}
	for _, between := range []string{" - ", " to ", "..", "–", "—", ",", "-"} {
		if between == "," && len(values) == 1 && grouped().MatchString(values[0]) {
			continue
		}
		parts := strings.Split(strings.Join(values, ""), between)
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		if len(values) == 1 && len(parts) == n && !slices.ContainsFunc(parts, isOther) {
			return parts
		}
	}
	return nil
}
