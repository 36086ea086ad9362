package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

const (
	// maxMonths limits how many months a calendar is turned.
	maxMonths = 36
	// maxHeader limits the length of the text that names the month of a calendar, in bytes.
	maxHeader = 60
	// leastDays is the number of days of the shortest month.
	leastDays = 28
)

// calendar is the calendar that a read-only field opens.
type calendar struct {
	filler
	field *Field
	at    resolved
	// listed holds the elements that existed before the calendar was opened.
	listed map[dom.Ref]bool
	date   time.Time
	// jumped reports whether the year was entered in the calendar's own field.
	jumped bool
	// clicked is the day that was clicked.
	clicked dom.Ref
}

// opensCalendar reports whether a field that rejected a text may open a calendar: it is read-only, and the text is a date.
func opensCalendar(el *dom.Element, f *Field, refused error) bool {
	e, ok := errors.AsType[*apierr.Error](refused)
	_, isDate := parseDate(f.value(), true, false)
	return ok && el != nil && e.Detail["cause"] == "readonly" && isDate && len(f.Values) == 1
}

// pickDate chooses a date in the calendar that a read-only field opens, and checks what the field then holds. Refused is the result of the
// attempt to enter the date as text. It is returned if the field opens no calendar.
func (t filler) pickDate(ctx context.Context, f *Field, at resolved, refused Result) (Result, error) {
	c := &calendar{filler: t, field: f, at: at}
	c.date, _ = parseDate(f.value(), true, false)
	if err := t.readStructure(ctx); err != nil { // else the texts of the page would seem to be new
		return Result{}, err
	}
	c.listed = t.listed()
	if r, err := t.perform(ctx, Step{Action: click(at.ref), found: true}); err != nil || r.Err != nil {
		return r, err
	}
	if err := c.read(ctx); err != nil {
		return Result{}, err
	}
	if _, known := c.month(); !known && c.day() == nil {
		refused.Delivered = driver.DeliveredPart // the click
		return refused, nil
	}
	r, err := c.choose(ctx)
	if err != nil || r.Err != nil {
		return r, err
	}
	return c.verify(ctx, r)
}

// read reads all elements, because days and headers may be texts.
func (c *calendar) read(ctx context.Context) error {
	_, err := c.x.Read(ctx, actor.ReadOptions{Structural: true})
	return err
}

// opened returns the elements that opening the calendar and turning it have added.
func (c *calendar) opened() []*dom.Element {
	return slices.DeleteFunc(slices.Clone(c.elements()), func(el *dom.Element) bool { return c.listed[el.Ref] })
}

// choose turns the calendar to the month of the date and clicks the day.
func (c *calendar) choose(ctx context.Context) (Result, error) {
	for range maxMonths + 2 { // the last one only clicks the day
		if day := c.day(); day != nil {
			c.clicked = day.Ref
			return c.perform(ctx, Step{Action: click(day.Ref), found: true})
		}
		shown, known := c.month()
		ahead := monthsBetween(shown, c.date)
		if field := c.yearField(shown.Year()); known && field != nil && shown.Year() != c.date.Year() && !c.jumped {
			if r, err := c.jump(ctx, field); err != nil || r.Err != nil {
				return r, err
			}
			continue
		}
		switch {
		case !known:
			return c.fail(ctx, time.Time{}, "it shows no month that can be recognized, or closed again")
		case ahead == 0 || ahead > maxMonths || ahead < -maxMonths:
			return c.fail(ctx, shown, "it does not offer that day")
		}
		button := c.turning(ahead > 0)
		if button == nil {
			return c.fail(ctx, shown, "it has no button for another month that can be recognized")
		}
		if r, err := c.perform(ctx, Step{Action: click(button.Ref), found: true}); err != nil || r.Err != nil {
			return r, err
		}
		if err := c.read(ctx); err != nil {
			return Result{}, err
		}
		now, known := c.month()
		if !known { // both months may still be drawn
			if err := c.read(ctx); err != nil {
				return Result{}, err
			}
			now, known = c.month()
		}
		if left := monthsBetween(now, c.date); known && max(left, -left) >= max(ahead, -ahead) {
			return c.fail(ctx, now, "its button did not lead there")
		}
	}
	return c.fail(ctx, time.Time{}, "it does not reach that month")
}

// yearField returns the calendar's select or input for the year that it shows, or nil.
func (c *calendar) yearField(year int) *dom.Element {
	for _, el := range c.opened() {
		if (el.Tag == "select" || el.Tag == "input") && el.Value == strconv.Itoa(year) {
			return el
		}
	}
	return nil
}

// jump enters the year of the date in the calendar's own field.
func (c *calendar) jump(ctx context.Context, field *dom.Element) (Result, error) {
	c.jumped = true
	year := strconv.Itoa(c.date.Year())
	one := driver.Action{Kind: driver.Fill, Location: driver.At(field.Ref), Text: year}
	if field.Tag == "select" {
		one = driver.Action{Kind: driver.Select, Location: driver.At(field.Ref), Values: []string{year}}
	}
	r, err := c.perform(ctx, Step{Action: one, found: true})
	if e, failed := errors.AsType[*apierr.Error](r.Err); failed && e.Kind == apierr.NotActionable { // not offered: the months lead there
		r.Err = nil
	}
	if err == nil && r.Err == nil {
		err = c.read(ctx)
	}
	return r, err
}

// fail returns the result for a calendar that is open but does not lead to the date.
func (c *calendar) fail(ctx context.Context, shown time.Time, why string) (Result, error) {
	shows := ""
	if !shown.IsZero() {
		shows = " at " + shown.Format("January 2006")
	}
	return notFilled(ctx, c.field, driver.DeliveredPart, apierr.Errorf(apierr.NotActionable, "%s is read-only and opened a calendar%s, but %s: read the page, and click in the calendar", c.field.name(), shows, why))
}

// verify checks that the field holds the date. Some calendars stay open until a button confirms the day.
func (c *calendar) verify(ctx context.Context, r Result) (Result, error) {
	for _, confirm := range [][]string{nil, {"ok", "apply", "done", "set", "select", "confirm", "save"}} {
		if button := c.button(confirm); confirm != nil && button != nil && c.x.Head().Snapshot.Find(c.clicked) != nil {
			if done, err := c.perform(ctx, Step{Action: click(button.Ref), found: true}); err != nil || done.Err != nil {
				return done, err
			}
		}
		if now := c.x.Head().Snapshot.Find(c.at.ref); now != nil && showsDate(now.Value, c.date) {
			r.Summary = summarize(driver.Action{Kind: driver.Fill, Location: driver.At(c.at.ref)}, c.at.el) + ": ok, holds " + strconv.Quote(now.Value)
			r.Ref, r.Element = c.at.ref, c.at.el
			r.FieldRequests = []FieldRequest{{Kind: driver.Fill, Element: c.at.el, Text: now.Value}}
			return r, nil
		}
	}
	holds := ""
	if now := c.x.Head().Snapshot.Find(c.at.ref); now != nil {
		holds = fmt.Sprintf(", but the field holds %q", now.Value)
	}
	return notFilled(ctx, c.field, driver.DeliveredPart, apierr.Errorf(apierr.NotActionable, "the day was clicked in the calendar of %s%s: read the page", c.field.name(), holds))
}

// button returns the only added button with one of the names, or nil.
func (c *calendar) button(names []string) *dom.Element {
	found := slices.DeleteFunc(c.opened(), func(el *dom.Element) bool {
		return el.Role != "button" || !slices.Contains(names, strings.ToLower(el.WholeText()))
	})
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// month returns the only month that the calendar shows. Calendars of several months show none.
func (c *calendar) month() (time.Time, bool) {
	var month time.Month
	var year int
	for _, el := range c.opened() {
		text := strings.TrimSpace(el.WholeText() + " " + el.Value)
		if len(text) > maxHeader || el.Role == "option" {
			continue
		}
		d := readDate(text)
		if d.day != 0 || d.month != 0 && month != 0 && d.month != month || d.year != 0 && year != 0 && d.year != year {
			if d.day == 0 && d.month != 0 {
				return time.Time{}, false
			}
			continue
		}
		month, year = max(month, d.month), max(year, d.year)
	}
	if month == 0 || year == 0 {
		return time.Time{}, false
	}
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC), true
}

// monthsBetween returns how many months later the second date is.
func monthsBetween(from, to time.Time) int {
	return 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
}

// day returns the element of the date: the innermost one whose name or hint is the whole date, or else the one with its number in the shown
// month. It returns nil if there is none, or more than one.
func (c *calendar) day() *dom.Element {
	all := c.opened()
	whole := slices.DeleteFunc(slices.Clone(all), func(el *dom.Element) bool {
		return el.States.Disabled == dom.True || len(el.WholeText()) > maxHeader || !readDate(el.WholeText()).is(c.date) && !strings.Contains(el.Hints, "is-"+c.date.Format("2006-01-02"))
	})
	whole = slices.DeleteFunc(whole, func(el *dom.Element) bool {
		return slices.ContainsFunc(whole, func(inner *dom.Element) bool { return inner != el && c.within(inner, el.Ref) })
	})
	if len(whole) > 0 {
		if len(whole) > 1 {
			return nil
		}
		return whole[0]
	}
	if shown, known := c.month(); !known || monthsBetween(shown, c.date) != 0 {
		return nil
	}
	if day := numbered(c.days(all), c.date.Day()); day != nil && day.States.Disabled != dom.True {
		return day
	}
	return nil
}

// days returns the elements whose text is the number of a day, without those that contain another one.
func (c *calendar) days(all []*dom.Element) (days []*dom.Element) {
	for _, el := range all {
		if n, err := strconv.Atoi(el.WholeText()); err != nil || n < 1 || n > 31 || el.Role == "option" {
			continue
		}
		if last := len(days) - 1; last >= 0 && days[last].WholeText() == el.WholeText() && c.within(el, days[last].Ref) {
			days = days[:last]
		}
		days = append(days, el)
	}
	return days
}

// numbered returns the day with a number of the month that begins with the first 1. The days before it belong to the month before, and the
// days after the next 1 to the month after. It returns nil if the numbers are not those of a month.
func numbered(days []*dom.Element, day int) *dom.Element {
	first := slices.IndexFunc(days, func(el *dom.Element) bool { return el.WholeText() == "1" })
	if first < 0 || len(days)-first < leastDays {
		return nil
	}
	for i, el := range days[first:] {
		if el.WholeText() != strconv.Itoa(i+1) {
			return nil
		}
		if i+1 == day {
			return el
		}
	}
	return nil
}

// turning returns the button that leads to the next or the previous month, or nil if it is not clear which.
func (c *calendar) turning(forward bool) *dom.Element {
	words, signs := []string{"previous", "prev", "back", "left", "earlier"}, "‹<←◀❮«"
	if forward {
		words, signs = []string{"next", "forward", "right", "later"}, "›>→▶❯»"
	}
	var best []*dom.Element
	most := 0
	for _, el := range c.opened() {
		if el.Kind != dom.Interactive || len(el.WholeText()) > maxHeader || el.States.Disabled == dom.True {
			continue
		}
		said := strings.FieldsFunc(strings.ToLower(el.WholeText()+" "+el.Hints), func(r rune) bool { return !unicode.IsLetter(r) })
		points := 0
		switch {
		case slices.Contains(said, "year") || slices.Contains(said, "decade"):
		case slices.ContainsFunc(words, func(w string) bool { return slices.Contains(said, w) }):
			points = 3
			if slices.Contains(said, "month") {
				points = 4
			}
		case utf8.RuneCountInString(el.WholeText()) == 1 && strings.Contains(signs, el.WholeText()):
			points = 2
			if strings.Contains("«»", el.WholeText()) { // often a year
				points = 1
			}
		}
		if points > most {
			best, most = nil, points
		}
		if points > 0 && points == most {
			best = append(best, el)
		}
	}
	if len(best) != 1 {
		return nil
	}
	return best[0]
}

// datePieces are the parts of a date that a text contains. 0 means that it contains none, or several.
type datePieces struct {
	year  int
	month time.Month
	day   int
}

func (d datePieces) is(date time.Time) bool {
	return d.year == date.Year() && d.month == date.Month() && d.day == date.Day()
}

// readDate returns the parts of the date in a text with an English month or with numbers from the year to the day.
func readDate(text string) (d datePieces) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var numbers []int
	for _, word := range words {
		if m := englishMonth(word); m != 0 {
			d.month = m
		}
		digits := strings.TrimRight(word, "stndrh") // 1st, 2nd, 3rd, 4th
		if n, err := strconv.Atoi(digits); err == nil {
			numbers = append(numbers, n)
		}
	}
	if d.month == 0 && len(numbers) == 3 && isYear(numbers[0]) && 1 <= numbers[1] && numbers[1] <= 12 {
		return datePieces{numbers[0], time.Month(numbers[1]), numbers[2]}
	}
	for _, n := range numbers {
		switch {
		case isYear(n):
			d.year = n
		case d.month != 0 && d.day == 0 && 1 <= n && n <= 31: // a time may follow
			d.day = n
		}
	}
	return d
}

// englishMonth returns the month with a name or an abbreviation of three letters, or 0.
func englishMonth(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); strings.EqualFold(word, name) || strings.EqualFold(word, name[:3]) {
			return m
		}
	}
	return 0
}

func isYear(n int) bool { return 1900 <= n && n < 2200 }

// showsDate reports whether a value contains the day, the month and the year of a date, in any order.
func showsDate(value string, date time.Time) bool {
	if readDate(value).is(date) {
		return true
	}
	var numbers []string
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsDigit(r) }) {
		numbers = append(numbers, strings.TrimLeft(word, "0"))
	}
	year := date.Format("2006")
	if !slices.Contains(numbers, year) {
		year = date.Format("06")
	}
	for _, part := range []string{year, strconv.Itoa(int(date.Month())), strconv.Itoa(date.Day())} {
		at := slices.Index(numbers, part)
		if at < 0 {
			return false
		}
		numbers = slices.Delete(numbers, at, at+1)
	}
	return true
}
