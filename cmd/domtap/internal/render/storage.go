package render

import (
	"strings"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// cellLimit limits how many characters of a name or value a table shows.
const cellLimit = 60

// Cookies returns a table of cookies, with their values or the sizes of the values.
func Cookies(all []*domtapv1.StoredCookie, values bool, now time.Time) string {
	return table("COOKIE\tVALUE\tDOMAIN\tPATH\tEXPIRES\tFLAGS", all, func(one *domtapv1.StoredCookie) []string {
		c := one.GetCookie()
		return []string{Cell(c.GetName(), cellLimit), valueOr(c.GetValue(), values, one.GetValueBytes()), Cell(c.GetDomain(), cellLimit), Cell(c.GetPath(), cellLimit), expiry(c.GetExpires(), now), flags(c)}
	})
}

// valueOr returns a value for a table, or its size.
func valueOr(value string, shown bool, bytes int32) string {
	if !shown {
		return plural.Of(bytes, "byte")
	}
	return Cell(value, cellLimit)
}

// expiry returns when a cookie expires, in the form for a table.
func expiry(seconds float64, now time.Time) string {
	if seconds <= 0 {
		return "session"
	}
	at := time.Unix(int64(seconds), 0).UTC()
	if at.Before(now) {
		return "expired"
	}
	return at.Format("2006-01-02 15:04")
}

func flags(c *domtapv1.Cookie) string {
	var words []string
	if c.GetSecure() {
		words = append(words, "secure")
	}
	if c.GetHttpOnly() {
		words = append(words, "http-only")
	}
	if c.GetSameSite() != "" {
		words = append(words, "same-site="+Cell(c.GetSameSite(), cellLimit))
	}
	if c.Priority != nil {
		words = append(words, "priority="+Cell(c.GetPriority(), cellLimit))
	}
	if c.PartitionKey != nil {
		words = append(words, "partition="+Cell(c.GetPartitionKey(), cellLimit))
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// Storage returns a table of the entries of each origin.
func Storage(all []*domtapv1.StoredOrigin) string {
	var parts []string
	for _, o := range all {
		parts = append(parts, Cell(o.GetOrigin(), 200)+"\n"+table("ENTRY\tVALUE", o.GetEntries(), func(e *domtapv1.StoredEntry) []string {
			return []string{Cell(e.GetName(), cellLimit), valueOr(e.GetValue(), e.Value != nil, e.GetValueBytes())}
		}))
	}
	return strings.Join(parts, "\n")
}
