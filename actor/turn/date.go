package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// datePart is the part of a date or time that a section of a field holds.
type datePart uint8

const (
	noPart datePart = iota
	year
	month
	day
	hour
	minute
	second
	dayPeriod
)

// partNames holds the beginnings of words that name a part of a date in the languages of common date fields.
var partNames = map[datePart][]string{
	year:      {"year", "jahr", "ann", "año", "ano", "jaar", "yyyy"},
	month:     {"month", "monat", "mois", "mes", "maand", "mm"},
	day:       {"day", "tag", "jour", "día", "dia", "giorno", "dag", "dd"},
	hour:      {"hour", "stunde", "heure", "hora", "ora", "uur", "hh"},
	minute:    {"minut"},
	second:    {"second", "sekund", "segund"},
	dayPeriod: {"am/pm", "meridiem"},
}

// partOf returns the part of a date that an element holds: a spin button that is no native input, and whose name contains that part.
func partOf(el *dom.Element) datePart {
	if el.Role != "spinbutton" || el.Tag == "input" {
		return noPart
	}
	if strings.Contains(strings.ToLower(el.WholeText()), "a. m./p. m.") {
		return dayPeriod
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(el.WholeText()), func(r rune) bool { return unicode.IsSpace(r) || r == ',' }) {
		for part, names := range partNames {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(word, name) }) {
				return part
			}
		}
	}
	return noPart
}

// section is a spin button that holds one part of a date or time.
type section struct {
	*dom.Element
	part datePart
}

// dateFields returns the date fields whose sections are among elements in document order. A field ends where a part repeats. A lone section
// is no field.
func dateFields(elements []*dom.Element) (fields [][]section) {
	var field []section
	end := func() {
		if len(field) > 1 {
			fields = append(fields, field)
		}
		field = nil
	}
	for _, el := range elements {
		part := partOf(el)
		if part == noPart {
			continue
		}
		if slices.ContainsFunc(field, func(s section) bool { return s.part == part }) {
			end()
		}
		field = append(field, section{el, part})
	}
	end()
	return fields
}

// fieldsAround returns the date fields inside the innermost element that contains all the given elements.
func (t filler) fieldsAround(all []*dom.Element) [][]section {
	for outer := all[0].Parent; outer != dom.NoRef; {
		if !slices.ContainsFunc(all, func(el *dom.Element) bool { return !t.within(el, outer) }) {
			return t.fieldsIn(outer)
		}
		holder := t.x.Head().Snapshot.Find(outer)
		if holder == nil {
			break
		}
		outer = holder.Parent
	}
	return nil
}

// fieldsIn returns the date fields inside an element.
func (t filler) fieldsIn(outer dom.Ref) [][]section {
	return dateFields(slices.DeleteFunc(slices.Clone(t.elements()), func(el *dom.Element) bool { return partOf(el) == noPart || !t.within(el, outer) }))
}

// datesIn returns the date fields inside a group. Some fields show their sections only after a click, so a group is clicked if it contains
// nothing but a button for a calendar, and the value is a date or time.
func (t filler) datesIn(ctx context.Context, f *Field, el *dom.Element) ([][]section, error) {
	if !isGroup(el) || el.Role == "radiogroup" {
		return nil, nil
	}
	if err := t.readStructure(ctx); err != nil {
		return nil, err
	}
	isOther := func(c *dom.Element) bool { return c.Kind == dom.Interactive && t.within(c, el.Ref) && !opensDates(c) }
	if isDateOrTime(f.value()) && !slices.ContainsFunc(t.elements(), isOther) {
		if _, err := t.perform(ctx, Step{Action: click(el.Ref), found: true}); err != nil {
			return nil, err
		}
	}
	return t.fieldsIn(el.Ref), nil
}

// opensDates reports whether an element is a button for a calendar or a clock.
func opensDates(el *dom.Element) bool {
	return el.Role == "button" && slices.ContainsFunc(strings.Fields(strings.ToLower(el.WholeText())), func(word string) bool {
		return slices.Contains([]string{"date", "time", "calendar", "clock"}, strings.Trim(word, ",:"))
	})
}

// isDateOrTime reports whether a value is a date, a time, or both.
func isDateOrTime(value string) bool {
	for _, has := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		if _, ok := parseDate(value, has[0], has[1]); ok {
			return true
		}
	}
	return false
}

// meant returns the date fields that an ambiguous label means, if all elements with that label are sections of one field, or of the two
// fields of a range.
func (t filler) meant(f *Field, ambiguous error) [][]section {
	e, _ := errors.AsType[*apierr.Error](ambiguous)
	if e == nil || e.Kind != apierr.Ambiguous || slices.ContainsFunc(e.Candidates, func(el *dom.Element) bool { return partOf(el) == noPart }) {
		return nil
	}
	fields := t.fieldsAround(e.Candidates)
	if len(fields) != len(dateValues(f, len(fields))) {
		return nil
	}
	return fields
}

// dateValues returns the dates to enter in n fields: the values of f, or the two ends of a range in one value.
func dateValues(f *Field, n int) []string {
	if n != 2 || len(f.Values) != 1 {
		return f.Values
	}
	for _, between := range []string{" - ", " – ", " — ", " to ", "..", "/"} {
		from, to, is := strings.Cut(f.value(), between)
		if is && !strings.Contains(to, between) && (between != "/" || len(from) >= len("2026-3-1")) {
			return []string{strings.TrimSpace(from), strings.TrimSpace(to)}
		}
	}
	return f.Values
}

// fillDates enters a date or time in each of the fields, section by section, and checks what they hold.
func (t filler) fillDates(ctx context.Context, f *Field, fields [][]section) (Result, error) {
	values := dateValues(f, len(fields))
	if len(values) != len(fields) {
		return notFilled(ctx, f, driver.DeliveredNone, apierr.Errorf(apierr.Invalid, "%s has sections for %d dates: write them as 2026-03-14 - 2026-03-20, or name one section", f.name(), len(fields)))
	}
	var all [][]string
	for i, field := range fields {
		texts, err := sectionTexts(values[i], field)
		if err != nil {
			return notFilled(ctx, f, driver.DeliveredNone, err)
		}
		all = append(all, texts)
	}
	r := Result{Done: true, Delivered: driver.DeliveredAll, Ref: fields[0][0].Ref, Element: fields[0][0].Element}
	r.Summary = "fill " + strconv.Quote(cmp.Or(f.Ways[0].Words, f.Ways[0].Name, target.DisplayName(r.Element))) + ": ok"
	for i, field := range fields {
		requests, err := t.fillDate(ctx, field, all[i])
		if err != nil {
			return notFilled(ctx, f, driver.DeliveredPart, err)
		}
		r.FieldRequests = append(r.FieldRequests, requests...)
	}
	f.Form.last = fields[len(fields)-1][0].Ref
	return r, nil
}

// fillDate types the text of each section. A page may reject a text until another section is filled in, such as day 31 while the month is
// February, so sections that do not hold their text are typed again once.
func (t filler) fillDate(ctx context.Context, field []section, texts []string) (requests []FieldRequest, err error) {
	for range 2 {
		for i, s := range field {
			if t.holds(s, texts[i]) {
				continue
			}
			if err := t.typeSlowly(ctx, s.Ref, texts[i]); err != nil {
				return nil, err
			}
		}
	}
	if _, err := t.x.Read(ctx, actor.ReadOptions{}); err != nil {
		return nil, err
	}
	for i, s := range field {
		now := cmp.Or(t.x.Head().Snapshot.Find(s.Ref), s.Element)
		if !t.holds(s, texts[i]) {
			return nil, apierr.Errorf(apierr.NotActionable, "the page did not accept %q in ref %d, %s: it holds %q; read the page, and type into the section or press ArrowUp on it",
				texts[i], s.Ref, target.Describe(s.Element), now.Value)
		}
		requests = append(requests, FieldRequest{Kind: driver.Fill, Element: s.Element, Text: now.Value})
	}
	return requests, nil
}

// typeSlowly types a text one key at a time. Some pages draw a section anew after each key, and lose keys that come before that.
func (t filler) typeSlowly(ctx context.Context, ref dom.Ref, text string) error {
	for _, key := range text {
		r, err := t.perform(ctx, Step{Action: driver.Action{Kind: driver.Type, Location: driver.At(ref), Text: string(key)}, found: true})
		if err != nil {
			return err
		}
		if e, failed := errors.AsType[*apierr.Error](r.Err); failed && e.Kind != apierr.NotDelivered { // the section shows what arrived
			return r.Err
		}
	}
	return nil
}

// holds reports whether a section shows a text: the same number, possibly with the name of the month, or the same half of the day.
func (t filler) holds(s section, text string) bool {
	now := t.x.Head().Snapshot.Find(s.Ref)
	if now == nil {
		return false
	}
	if s.part == dayPeriod {
		half := map[string]string{"A": "0", "P": "1"} // some count the halves of the day
		return now.Value == half[text] || strings.HasPrefix(strings.ToUpper(now.Value), text)
	}
	if n, _ := strconv.Atoi(text); s.part == month && 1 <= n && n <= 12 && strings.HasPrefix(now.Value, time.Month(n).String()[:3]) {
		return true
	}
	if s.part == month && now.Value != s.Value && !strings.ContainsFunc(now.Value, unicode.IsDigit) {
		return englishMonth(now.Value) == 0 // a page in another language shows the name of the month that it accepted
	}
	digits := strings.IndexFunc(now.Value+" ", func(r rune) bool { return !unicode.IsDigit(r) })
	held, err := strconv.Atoi(now.Value[:digits])
	wanted, _ := strconv.Atoi(text)
	return err == nil && held == wanted
}

// performAndLeave performs one action. After a date or time was filled in, it moves the focus out of the field.
func (t filler) performAndLeave(ctx context.Context, a Step) (Result, error) {
	if a.Kind != driver.Fill || !isDateOrTime(a.Text) {
		return t.perform(ctx, a)
	}
	listed := t.listed()
	r, err := t.perform(ctx, a)
	if err != nil || r.Err != nil {
		return r, err
	}
	a.Action.Ref = r.Ref
	return t.leaveDate(ctx, a.Action, r, listed)
}

// leastOpened is the number of elements that a calendar or a clock adds at least.
const leastOpened = 12

// opensMuch reports whether typing added a calendar, a clock, or another large list. Listed holds the elements from before.
func (t filler) opensMuch(listed map[dom.Ref]bool) bool {
	opened := 0
	for _, el := range t.elements() {
		if !listed[el.Ref] {
			opened++
		}
	}
	return opened >= leastOpened
}

// leaveDate moves the focus out of a field in which a typed date or time opened a calendar or a clock, or that had the focus before. Such a
// field takes the text only then, and drops it or restores its earlier text if, for example, the other date of a range is missing. A
// dropped text is typed again, so that the other date can follow. The focus stays in a field whose range has no other date yet, or if the
// next step presses keys at the focused element. Listed holds the elements from before the text was typed.
func (t filler) leaveDate(ctx context.Context, a driver.Action, r Result, listed map[dom.Ref]bool) (Result, error) {
	typed := t.x.Head().Snapshot.Find(a.Ref)
	if typed == nil || typed.Value == "" || t.live.Hung() || t.keepsFocus {
		return r, nil
	}
	isOpen := t.opensMuch(listed) || r.Element != nil && r.Element.States.Focused == dom.True
	switch other := t.otherOf(typed); {
	case typed.Type == "date" || !isOpen && (other == nil || other.Value == ""): // the browser's own picker opens nothing
		return r, nil
	case other != nil && other.Value == "":
		if !t.fillsNext(other) {
			r.Summary += ", but the other date of its range is empty: fill " + target.Describe(other)
		}
		return r, nil
	}
	left, err := t.perform(ctx, Step{Action: driver.Action{Kind: driver.Leave, Location: driver.At(a.Ref)}, found: true})
	if err != nil || left.Err != nil {
		return r, err
	}
	now := t.x.Head().Snapshot.Find(a.Ref)
	switch {
	case now == nil:
		r.Summary += ", but the field disappeared when the focus left it: read the page"
		return r, nil
	case now.Value == "" || r.Element != nil && now.Value == r.Element.Value && now.Value != typed.Value:
		again, err := t.perform(ctx, Step{Action: a, found: true})
		if err == nil && again.Err == nil {
			again.Summary += ", but the page drops it when the focus leaves: press Enter in it, or fill the other date of its range next"
		}
		return again, err
	}
	r.Summary = summarize(a, now) + ": ok"
	if now.Value != a.Text {
		r.Summary += ", holds " + strconv.Quote(now.Value)
	}
	switch {
	case now.States.Invalid == dom.True:
		r.Summary += ", but the page marks it as invalid: read the page for the format that it expects"
	case now.Role == "combobox" && now.States.Expanded == dom.True: // Enter could submit its form
		r.Summary += ", but its calendar stays open: press Enter in it, or click the day, if the page needs that to take the date"
	}
	r.Destination = cmp.Or(left.Destination, r.Destination)
	r.Summary += r.Destination
	r.FieldRequests = []FieldRequest{{Kind: driver.Fill, Element: now, Text: now.Value}}
	return r, nil
}

// dateLayouts are the formats of dates and times that are unambiguous. Other formats must list the numbers in the order of the sections.
var (
	dateLayouts = []string{"2006-01-02", "2006/01/02", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "January 2 2006", "Jan 2 2006"}
	timeLayouts = []string{"15:04", "15:04:05", "3:04 PM", "3:04PM", "3:04:05 PM", "3 PM", "3PM", "3:04 pm", "3:04pm", "3:04:05 pm", "3 pm", "3pm"}
)

// sectionTexts returns the text to type into each section of a field for a date or time.
func sectionTexts(value string, field []section) ([]string, error) {
	has := func(part datePart) bool {
		return slices.ContainsFunc(field, func(s section) bool { return s.part == part })
	}
	if at, ok := parseDate(value, has(year) || has(month) || has(day), has(hour) || has(minute)); ok && (at.Second() == 0 || has(second)) {
		texts := make([]string, len(field))
		for i, s := range field {
			texts[i] = s.textOf(at, has(dayPeriod))
		}
		return texts, nil
	}
	if at, err := time.Parse("2006-01", value); err == nil && len(field) == 2 && has(year) && has(month) {
		return []string{field[0].textOf(at, false), field[1].textOf(at, false)}, nil
	}
	numbers := strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	longest := slices.IndexFunc(numbers, func(s string) bool { return len(s) > 2 })
	if len(numbers) != len(field) || longest >= 0 && field[longest].part != year {
		return nil, apierr.Errorf(apierr.Invalid, "%q is no date or time for the sections %s: write a date as 2026-03-14, a time as 07:30, or both with a space between them",
			value, target.List(elementsOf(field), maxCandidates))
	}
	for i, s := range field {
		if s.part != dayPeriod {
			continue
		}
		if numbers[i] = strings.ToUpper(numbers[i][:1]); numbers[i] != "A" && numbers[i] != "P" {
			return nil, apierr.Errorf(apierr.Invalid, "%q does not end in AM or PM: write a time as 07:30 or 7:30 PM", value)
		}
	}
	return numbers, nil
}

// parseDate parses a date, a time, or a date followed by a time.
func parseDate(value string, isDate, isTime bool) (time.Time, bool) {
	layouts := dateLayouts
	switch {
	case isDate && isTime:
		layouts = nil
		for _, date := range dateLayouts {
			for _, clock := range timeLayouts {
				layouts = append(layouts, date+" "+clock, date+"T"+clock, date+", "+clock)
			}
		}
	case isTime:
		layouts = timeLayouts
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, strings.TrimSpace(value)); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// textOf returns the text to type into a section for the given time. With halves, hours count to 12.
func (s section) textOf(at time.Time, halves bool) string {
	switch s.part {
	case year:
		return at.Format("2006")
	case month:
		return at.Format("01")
	case day:
		return at.Format("02")
	case hour:
		if halves {
			return at.Format("03")
		}
		return at.Format("15")
	case minute:
		return at.Format("04")
	case second:
		return at.Format("05")
	}
	return at.Format("PM")[:1]
}

func elementsOf(field []section) (all []*dom.Element) {
	for _, s := range field {
		all = append(all, s.Element)
	}
	return all
}
