package search

import (
	"math"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/domtap/domtap/internal/truncate"
)

// Limits on the characters of the parts of a result. A URL longer than maxURL bytes is omitted.
const (
	maxTitle = 200
	maxText  = 500
	maxShort = 80
	maxPlace = 200
	maxURL   = 2048
)

// maxRating and maxNumber are the largest plausible numbers.
const (
	maxRating = 100
	maxNumber = 1 << 30
)

// Clean returns the results of a provider in the form that this package guarantees: at most count results, each bounded, with single-line
// texts, without the key, and with Host and Day set. It omits results without a URL; only a place with a title needs none. now is the time
// of the answer.
func Clean(all []Result, kind Kind, count int, key Secret, now time.Time) []Result {
	out := make([]Result, 0, min(count, len(all)))
	for _, r := range all {
		if len(out) == count {
			break
		}
		if r, ok := clean(r, kind, key, now); ok {
			out = append(out, r)
		}
	}
	return out
}

func clean(r Result, kind Kind, key Secret, now time.Time) (Result, bool) {
	for _, part := range []struct {
		text *string
		most int
	}{
		{&r.Title, maxTitle}, {&r.Text, maxText}, {&r.Date, maxShort}, {&r.Source, maxShort}, {&r.Price, maxShort},
		{&r.Address, maxPlace}, {&r.Phone, maxShort},
	} {
		*part.text = truncate.Runes(key.Remove(Line(*part.text)), part.most)
	}
	r.ImageURL, _ = address(r.ImageURL, key)
	r.URL, r.Host = address(r.URL, key)
	if r.URL == "" && kind == Images {
		r.URL, r.Host = address(r.ImageURL, key)
	}
	r.Day = Day(r.Date, now)
	if !(r.Rating > 0 && r.Rating <= maxRating) || math.IsNaN(r.Rating) {
		r.Rating = 0
	}
	for _, n := range []*int{&r.Ratings, &r.ImageWidth, &r.ImageHeight} {
		if *n < 0 || *n > maxNumber {
			*n = 0
		}
	}
	return r, r.URL != "" || kind == Places && r.Title != ""
}

// address returns a URL in printable form and its host. Both are empty if text is not the absolute URL of a page.
func address(text string, key Secret) (shown, host string) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return "", ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", ""
	}
	u.User = nil
	// Printing a URL escapes its path and query, but not its host.
	shown, host = key.Remove(Line(u.String())), key.Remove(Line(u.Hostname()))
	if strings.ContainsRune(shown, ' ') || len(shown) > maxURL {
		return "", ""
	}
	return shown, strings.TrimPrefix(host, "www.")
}

// Line converts a text to a single line: it collapses white space and removes control characters and invalid UTF-8.
func Line(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar, r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}
