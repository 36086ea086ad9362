package dense

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// languages holds the names of the months, and of the weekdays from Sunday, in common languages of calendars.
var languages = [][2][]string{
	{strings.Fields("january february march april may june july august september october november december"),
		strings.Fields("sunday monday tuesday wednesday thursday friday saturday")},
	{strings.Fields("januar februar märz april mai juni juli august september oktober november dezember"),
		strings.Fields("sonntag montag dienstag mittwoch donnerstag freitag samstag")},
	{strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		strings.Fields("dimanche lundi mardi mercredi jeudi vendredi samedi")},
	{strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
		strings.Fields("domingo lunes martes miércoles jueves viernes sábado")},
	{strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		strings.Fields("domenica lunedì martedì mercoledì giovedì venerdì sabato")},
	{strings.Fields("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		strings.Fields("domingo segunda terça quarta quinta sexta sábado")},
	{strings.Fields("januari februari maart april mei juni juli augustus september oktober november december"),
		strings.Fields("zondag maandag dinsdag woensdag donderdag vrijdag zaterdag")},
}

const (
	// shortMonth and shortWeekday are the minimum numbers of letters that identify a month or a weekday.
	shortMonth, shortWeekday = 3, 2
	// maxBetween limits how many characters separate the parts of a date, as in ` de `.
	maxBetween = 5
	// anyYear is the year of a date without one. It is not a leap year.
	anyYear = 2001
)

// datePart is a part of a written date: a month, a weekday, a day, a year, or the text between these.
type datePart struct {
	kind partKind
	text string
}

type partKind uint8

const (
	between partKind = iota
	aMonth
	aWeekday
	aDay
	aYear
)

// writtenDate is a day in words, such as `Sunday, September 27th, 2026`.
type writtenDate struct {
	parts                     []datePart
	language                  int
	year, month, day, weekday int
}

// dateIn returns the date in a text, and the texts before and after it.
func dateIn(text string) (before string, d writtenDate, behind string, ok bool) {
	if len(text) > 200 || !strings.ContainsAny(text, "0123456789") {
		return "", d, "", false
	}
	words := wordsAndSigns(text)
	for language := range languages {
		for i, w := range words {
			if monthOf(w, language) < 0 {
				continue
			}
			first, last := i, i
			d := writtenDate{language: language, year: anyYear, day: -1, weekday: -1}
			d.read(w)
			for d.reach(words, &first, -1) {
			}
			for d.reach(words, &last, 1) {
			}
			if d.day < 0 {
				continue
			}
			for _, w := range words[first : last+1] {
				d.parts = append(d.parts, datePart{d.kindOf(w), w})
			}
			return strings.Join(words[:first], ""), d, strings.Join(words[last+1:], ""), true
		}
	}
	return "", d, "", false
}

// wordsAndSigns splits a text into sequences of letters, digits and other characters. An English ordinal is one word.
func wordsAndSigns(text string) (words []string) {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r):
			return 1
		case '0' <= r && r <= '9':
			return 2
		}
		return 3
	}
	last := 0
	for _, r := range text {
		if k := kind(r); k != last {
			words, last = append(words, ""), k
		}
		words[len(words)-1] += string(r)
	}
	for i := 1; i < len(words); i++ {
		if n, err := strconv.Atoi(words[i-1]); err == nil && words[i] == ordinalOf(n) {
			words[i-1] += words[i]
			words = append(words[:i], words[i+1:]...)
		}
	}
	return words
}

// ordinalOf returns the suffix of an English ordinal number.
func ordinalOf(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return "st"
	case n%10 == 2 && n%100 != 12:
		return "nd"
	case n%10 == 3 && n%100 != 13:
		return "rd"
	}
	return "th"
}

// reach extends a date by the next part in a direction, if the text between them is short.
func (d *writtenDate) reach(words []string, at *int, direction int) bool {
	length := 0
	for i := *at + direction; 0 <= i && i < len(words) && length <= maxBetween; i += direction {
		if d.read(words[i]) {
			*at = i
			return true
		}
		if d.kindOf(words[i]) != between {
			return false
		}
		length += len(words[i])
	}
	return false
}

// read uses a word as a part of the date, unless the date already has that part.
func (d *writtenDate) read(word string) bool {
	field, value := &d.month, monthOf(word, d.language)
	known := d.month > 0
	switch d.kindOf(word) {
	case between:
		return false
	case aMonth:
		value++
	case aWeekday:
		field, value, known = &d.weekday, weekdayOf(word, d.language), d.weekday >= 0
	case aDay:
		field, value, known = &d.day, leadingNumber(word), d.day >= 0
	case aYear:
		field, value, known = &d.year, leadingNumber(word), d.year != anyYear
	}
	if known {
		return false
	}
	*field = value
	return true
}

func (d *writtenDate) kindOf(word string) partKind {
	n := leadingNumber(word)
	switch digits := strings.TrimRight(word, "dhnrst"); {
	case n >= 0 && len(digits) == 4 && digits == word:
		return aYear
	case 0 < n && n <= 31 && len(digits) <= 2:
		return aDay
	case monthOf(word, d.language) >= 0:
		return aMonth
	case weekdayOf(word, d.language) >= 0:
		return aWeekday
	}
	return between
}

// leadingNumber returns the number in a word, ignoring the suffix of an ordinal, or -1 if there is none.
func leadingNumber(word string) int {
	n, err := strconv.Atoi(strings.TrimRight(word, "dhnrst"))
	if err != nil {
		return -1
	}
	return n
}

func monthOf(word string, language int) int { return nameOf(word, languages[language][0], shortMonth) }

func weekdayOf(word string, language int) int {
	return nameOf(word, languages[language][1], shortWeekday)
}

// nameOf returns the index of the name that a word equals or abbreviates with at least least letters, or -1 if there is none.
func nameOf(word string, names []string, least int) int {
	word = strings.ToLower(word)
	if utf8.RuneCountInString(word) < least {
		return -1
	}
	for i, name := range names {
		if strings.HasPrefix(name, word) {
			return i
		}
	}
	return -1
}

// after returns the date that is some days later, written in the same way.
func (d *writtenDate) after(days int) string {
	year, month, day := later(d.year, d.month, d.day, days)
	var b strings.Builder
	for _, p := range d.parts {
		switch p.kind {
		case between:
			b.WriteString(p.text)
		case aMonth:
			names := languages[d.language][0]
			b.WriteString(writtenLike(p.text, names[d.month-1], names[month-1]))
		case aWeekday:
			names := languages[d.language][1]
			b.WriteString(writtenLike(p.text, names[d.weekday], names[(d.weekday+days)%len(names)]))
		case aYear:
			fmt.Fprintf(&b, "%04d", year)
		case aDay:
			b.WriteString(dayLike(p.text, day))
		}
	}
	return b.String()
}

// later returns the date that is some days later. Package time is not available here, because a pure package must not read the clock.
func later(year, month, day, days int) (y, m, d int) {
	for day += days; day > daysOf(year, month); month++ {
		if day -= daysOf(year, month); month == 12 {
			year, month = year+1, 0
		}
	}
	return year, month, day
}

func daysOf(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// writtenLike writes a name in the style of another one: capitalized, in capitals, or abbreviated to the same number of letters.
func writtenLike(text, name, other string) string {
	letters := []rune(other)
	if n := len([]rune(text)); n < len([]rune(name)) {
		letters = letters[:min(n, len(letters))]
	}
	switch like := []rune(text); {
	case unicode.IsUpper(like[len(like)-1]):
		return strings.ToUpper(string(letters))
	case unicode.IsUpper(like[0]):
		letters[0] = unicode.ToUpper(letters[0])
	}
	return string(letters)
}

// dayLike writes a day in the style of another one: with a leading zero, or as an ordinal.
func dayLike(text string, day int) string {
	digits := strings.TrimRight(text, "dhnrst")
	written := padded(day, digits)
	if digits != text {
		written += ordinalOf(day)
	}
	return written
}

// minDays is the minimum number of consecutive weekdays or day numbers in a calendar.
const minDays = 5

// WithoutDays returns a text without the weekdays and days of a calendar and everything after them.
func WithoutDays(text string) string {
	words, run := strings.Fields(text), 0
	for i, w := range words {
		if !isDayWord(w) {
			run = 0
			continue
		}
		if run++; run == minDays {
			return strings.Join(words[:i+1-run], " ")
		}
	}
	return text
}

// IsDays reports whether a text consists only of weekdays or day numbers.
func IsDays(text string) bool {
	words := strings.Fields(text)
	if len(words) == 1 && !strings.ContainsAny(text, "0123456789") {
		return isDayWord(text)
	}
	return len(words) >= minDays && !slices.ContainsFunc(words, func(w string) bool { return !isDayWord(w) })
}

// isDayWord reports whether a word is a weekday or the number of a day.
func isDayWord(word string) bool {
	if n, err := strconv.Atoi(word); err == nil {
		return 0 < n && n <= 31
	}
	for language := range languages {
		if weekdayOf(word, language) >= 0 {
			return true
		}
	}
	return false
}
