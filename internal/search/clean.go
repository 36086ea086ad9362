package search

import (
	"math"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/domtap/domtap/internal/truncate"
)

// The most characters of the parts of a result. A URL that is longer than maxURL bytes is left out.
const (
	maxTitle = 200
	maxText  = 500
	maxShort = 80
	maxPlace = 200
	maxURL   = 2048
)

// maxRating and maxNumber are the largest numbers that are not nonsense.
const (
	maxRating = 100
	maxNumber = 1 << 30
)

// Clean returns the results of a provider as this package promises them: at most count, bounded, on one line, without the
// key, and with Host and Day. Results without a title and an address are left out. now is the time of the answer.
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

// address returns a URL as it is shown, and its host; both are empty for what is not the absolute URL of a page.
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
	// A URL escapes its path and query when it is printed, but not its host.
	shown, host = key.Remove(Line(u.String())), key.Remove(Line(u.Hostname()))
	if strings.ContainsRune(shown, ' ') || len(shown) > maxURL {
		return "", ""
	}
	return shown, strings.TrimPrefix(host, "www.")
}

// Line makes one line of a text: white space is folded, and control characters and invalid UTF-8 are left out.
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
