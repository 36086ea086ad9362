package pagelog

import (
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/truncate"
)

// The longest strings of an entry, in characters; a text that is cut ends in "…".
const (
	MaxText = 2000
	MaxURL  = 500
)

// credentials are the user and the password in a URL.
var credentials = lazyregexp.New(`([a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^/?#\s@"'<>]{1,500}@`)

// Text makes a text fit for an entry: truncated, without control characters other than line breaks and tabs,
// and with the users and passwords in URLs masked.
func Text(s string) string { return clip(mask(head(s, MaxText)), MaxText) }

// URL makes a URL fit for an entry: truncated, with users and passwords masked. Of a data: URL, the type is left.
func URL(s string) string {
	if isData(s) {
		kind, _, _ := strings.Cut(s[:min(len(s), 100)], ",")
		return clip(kind, 100) + ",…"
	}
	return clip(mask(head(s, MaxURL)), MaxURL)
}

func isData(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// head bounds the work of masking: masking shortens a text, so more than most bytes are needed.
func head(s string, most int) string { return s[:min(len(s), 8*most)] }

func mask(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return credentials().ReplaceAllString(s, "$1***@")
}

// clip truncates a text and replaces control characters by spaces.
func clip(s string, most int) string {
	head, cut := truncate.Head(s, most)
	head = strings.Map(func(r rune) rune { // a byte that is not valid UTF-8 becomes U+FFFD
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
