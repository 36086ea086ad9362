package search

import (
	"strconv"
	"strings"
	"time"
)

// day is the form of a day.
const day = "2006-01-02"

// forms are the forms of dates in answers of providers: ISO 8601, of HTTP, and those of English pages.
var forms = []string{
	day, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
	time.RFC1123, time.RFC1123Z, "Jan 2, 2006", "January 2, 2006", "2 Jan 2006", "2 January 2006",
}

// units are how long the units of "3 hours ago" take. A month and a year have no exact length.
var units = map[string]time.Duration{
	"second": time.Second, "sec": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	"week": 7 * 24 * time.Hour,
}

// maxAgo bounds the number in "3 hours ago".
const maxAgo = 10_000

// Day returns the day of a date in one of the forms that providers use, as YYYY-MM-DD in UTC; empty: the date has another
// form, is not exact to the day, or is not from the years 1 to 9999. now is the time that "ago" counts from.
func Day(date string, now time.Time) string {
	date = strings.TrimSpace(date)
	for _, form := range forms {
		if t, err := time.Parse(form, date); err == nil {
			return format(t)
		}
	}
	words := strings.Fields(strings.ToLower(date))
	switch {
	case len(words) == 1 && words[0] == "today":
		return format(now)
	case len(words) == 1 && words[0] == "yesterday":
		return format(now.Add(-24 * time.Hour))
	case len(words) != 3 || words[2] != "ago":
		return ""
	}
	n, err := strconv.Atoi(words[0])
	if words[0] == "a" || words[0] == "an" {
		n, err = 1, nil
	}
	unit, known := units[strings.TrimSuffix(words[1], "s")]
	if err != nil || n < 0 || n > maxAgo || !known {
		return ""
	}
	return format(now.Add(-time.Duration(n) * unit))
}

func format(t time.Time) string {
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return ""
	}
	return t.Format(day)
}
