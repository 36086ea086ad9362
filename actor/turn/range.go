package turn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// endWords name the second field of a range of dates. endPrepositions do so only as the first or the last word, unlike in "enter to add".
var (
	endWords        = []string{"end", "return", "checkout"}
	endPrepositions = []string{"to", "until", "till"}
)

// endOf returns the field for the end of a range of dates that begins in a field: the next one, if its name says so. It returns nil if there is
// none.
func (t *resolver) endOf(start *dom.Element) *dom.Element {
	all := t.elements()
	at := slices.IndexFunc(all, func(el *dom.Element) bool { return el.Ref == start.Ref })
	if at < 0 || start.Tag != "input" || isEnd(start) {
		return nil
	}
	for _, el := range all[at+1:] {
		if target.IsField(el) {
			if el.Tag == "input" && el.Role == start.Role && el.Frame == start.Frame && isEnd(el) {
				return el
			}
			return nil
		}
	}
	return nil
}

// otherOf returns the other field of the range of dates that a field belongs to, or nil if there is none.
func (t *resolver) otherOf(el *dom.Element) *dom.Element {
	if end := t.endOf(el); end != nil {
		return end
	}
	for _, start := range t.elements() {
		if target.IsField(start) && isEnd(el) {
			if end := t.endOf(start); end != nil && end.Ref == el.Ref {
				return start
			}
		}
	}
	return nil
}

// fillsNext reports whether the next step fills in a field.
func (t *run) fillsNext(el *dom.Element) bool {
	if t.next == nil {
		return false
	}
	way := t.next.Ways[0]
	return way.By == target.Ref && way.Ref == el.Ref || way.Words != "" && (target.Compare(el.WholeText(), way.Words) < target.Not || target.Compare(el.Placeholder, way.Words) < target.Not)
}

// isEnd reports whether a field is named as the end of a range.
func isEnd(el *dom.Element) bool {
	return slices.ContainsFunc([]string{el.WholeText(), el.Placeholder}, func(name string) bool {
		said := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(name, "-", "")), func(r rune) bool { return !unicode.IsLetter(r) })
		return slices.ContainsFunc(said, func(word string) bool { return slices.Contains(endWords, word) }) ||
			len(said) > 0 && (slices.Contains(endPrepositions, said[0]) || slices.Contains(endPrepositions, said[len(said)-1]))
	})
}

// rangeOf returns the two dates of a value such as "2026-11-21 - 2026-11-28", and nil for other values.
func rangeOf(f *Field) []string {
	dates := dateValues(f, 2)
	if len(dates) != 2 || slices.ContainsFunc(dates, func(date string) bool { return !isDateOrTime(date) }) {
		return nil
	}
	return dates
}

// holdsDate reports whether a value shows the date, the time, or the date and time that was filled in. Seconds may be left out.
func holdsDate(value, filled string) bool {
	if value == filled {
		return true
	}
	if date, ok := parseDate(filled, true, false); ok {
		return showsDate(value, date)
	}
	for _, isDate := range []bool{false, true} {
		wanted, ok := parseDate(filled, isDate, true)
		held, isOne := parseDate(value, isDate, true)
		if ok && isOne && held.Truncate(time.Minute).Equal(wanted.Truncate(time.Minute)) {
			return true
		}
	}
	return false
}

// fillRange fills the two fields of a range of dates, and checks what they then hold.
func (t filler) fillRange(ctx context.Context, f *Field, start, end *dom.Element, dates []string) (Result, error) {
	listed := t.listed()
	var r Result
	for i, el := range []*dom.Element{start, end} {
		action := driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref), Text: dates[i]}
		done, err := t.perform(ctx, Step{Action: action, found: true})
		if err == nil && done.Err == nil && i == 1 {
			done, err = t.leaveDate(ctx, action, done, listed)
		}
		if r = done; err != nil || r.Err != nil {
			return r, err
		}
	}
	f.Form.last = end.Ref
	what := summarize(driver.Action{Kind: driver.Fill, Location: driver.At(start.Ref)}, start)
	var held []string
	isHeld := true
	for i, el := range []*dom.Element{start, end} {
		now := t.x.Head().Snapshot.Find(el.Ref)
		if now == nil {
			r.Ref, r.Element, r.FieldRequests, r.Summary = start.Ref, start, nil, what+": ok, but the page drew the fields again: read the page"
			return r, nil
		}
		isHeld = isHeld && holdsDate(now.Value, dates[i])
		held = append(held, strconv.Quote(now.Value))
	}
	if !isHeld {
		return notFilled(ctx, f, driver.DeliveredPart, apierr.Errorf(apierr.NotActionable, "the fields of the range hold %s: read the page for the format that they expect", strings.Join(held, " and ")))
	}
	r.Ref, r.Element, r.FieldRequests = start.Ref, start, nil
	r.Summary = what + ": ok, the fields of the range hold " + strings.Join(held, " and ")
	return r, nil
}
