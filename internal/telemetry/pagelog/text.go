package pagelog

import (
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/truncate"
)

// Limits on the strings of an entry, in characters. A truncated text ends in "…".
const (
	MaxText = 2000
	MaxURL  = 500
)

// credentials matches the user and password in a URL.
var credentials = lazyregexp.New(`([a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^/?#\s@"'<>]{1,500}@`)

// Text prepares a text for an entry: it truncates the text, removes control characters other than line breaks and tabs, and masks users and
// passwords in URLs.
func Text(s string) string { return clip(mask(head(s, MaxText)), MaxText) }

// URL prepares a URL for an entry: it truncates the URL and masks users and passwords. For a data: URL it keeps only the type.
func URL(s string) string {
	if isData(s) {
		kind, _, _ := strings.Cut(s[:min(len(s), 100)], ",")
		return clip(kind, 100) + ",…"
	}
	return clip(mask(head(s, MaxURL)), MaxURL)
}

func isData(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// head bounds the work of masking. Masking shortens a text, so head keeps up to eight times the limit.
func head(s string, most int) string { return s[:min(len(s), 8*most)] }

func mask(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return credentials().ReplaceAllString(s, "$1***@")
}

// clip truncates a text and replaces control characters with spaces.
func clip(s string, most int) string {
	head, cut := truncate.Head(s, most)
	head = strings.Map(func(r rune) rune { // an invalid UTF-8 byte becomes U+FFFD
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
			return ' '
		}
		return r
	}, head)
	if !cut {
		return head
	}
	return strings.TrimRight(head, " \n\t") + truncate.Ellipsis
}
