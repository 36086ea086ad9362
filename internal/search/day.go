package search

import (
	"strconv"
	"strings"
	"time"
)

// day is the layout of a day.
const day = "2006-01-02"

// forms lists the layouts of dates in providers' answers: ISO 8601, the HTTP date, and formats of English pages.
var forms = []string{
	day, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
	time.RFC1123, time.RFC1123Z, "Jan 2, 2006", "January 2, 2006", "2 Jan 2006", "2 January 2006",
}

// units maps the units in texts such as "3 hours ago" to durations. A month and a year have no exact length, so they are missing.
var units = map[string]time.Duration{
	"second": time.Second, "sec": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	"week": 7 * 24 * time.Hour,
}

// maxAgo limits the number in texts such as "3 hours ago".
const maxAgo = 10_000

// Day returns the day of a date as YYYY-MM-DD in UTC. It accepts the date formats that providers use. It returns an empty string if the
// date has another format, is not exact to the day, or is outside the years 1 to 9999. "ago" is relative to now.
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
