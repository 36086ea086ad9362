// Package part appends the parts of lines that several formats share: cleaned and escaped words, states, targets and roles. It gives the
// same guarantees for parts that package compact gives for whole lines. It is pure.
package part

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The maximum lengths of strings in characters, including "…".
const (
	MaxText      = 101
	MaxValue     = 51
	MaxHref      = 120
	MaxWord      = 40 // tags, roles, types
	MaxAttribute = 60
	MaxVisit     = 50
	MaxCursor    = 64
	MaxTarget    = 32 // the target of a link in DENSE, unless all targets are printed
)

// Ellipsis ends truncated texts.
const Ellipsis = "…"

// AppendClean appends at most limit characters of s on one line. It replaces runs of white space and control characters by single spaces,
// drops invisible characters, and replaces invalid UTF-8 by U+FFFD. A truncated text ends in "…".
func AppendClean(dst []byte, s string, limit int) []byte {
	if len(s) <= limit && isPlain(s) {
		return append(dst, s...)
	}
	cut, n := len(dst), 0 // cut: the end of all but the last character that fits
	space := false
	for _, r := range s {
		if r < utf8.RuneSelf && r > ' ' && r != 0x7f {
			// the most common case
		} else if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = n > 0
			continue
		} else if IsInvisible(r) {
			continue
		}
		width := 1
		if space {
			width = 2
		}
		if n+width > limit {
			return append(dst[:cut], Ellipsis...)
		}
		if space {
			dst = append(dst, ' ')
		}
		dst = utf8.AppendRune(dst, r)
		n += width
		space = false
		if n < limit {
			cut = len(dst)
		}
	}
	return dst
}

// AppendLeft appends the number of omitted characters, as in "…+230", to a text that ends in "…".
func AppendLeft(dst []byte, left int) []byte {
	if left <= 0 || !bytes.HasSuffix(dst, []byte(Ellipsis)) {
		return dst
	}
	return strconv.AppendInt(append(dst, '+'), int64(left), 10)
}

// Beyond returns how many characters are omitted from a text if at most limit characters are appended and the text itself has already
// omitted some.
func Beyond(s string, limit, omitted int) int {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return omitted
	}
	if strings.HasSuffix(s, Ellipsis) {
		n--
	}
	return omitted + n - (limit - 1)
}

// isPlain reports whether s is printable ASCII without outer or repeated spaces.
func isPlain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' ' || s == ""
}

// IsInvisible reports whether r is invisible and could hide or reorder text: directional marks, zero-width spaces, tags. It returns false
// for the joiners of scripts and emoji.
func IsInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0xfeff,
		r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xfff9 && r <= 0xfffb ||
		r >= 0xe0000 && r <= 0xe0fff
}

// AppendAfter appends a prefix and s cleaned. It appends nothing if s is empty after cleaning.
func AppendAfter(dst []byte, prefix, s string, limit int) []byte {
	start := len(dst)
	dst = append(dst, prefix...)
	filled := AppendClean(dst, s, limit)
	if len(filled) == len(dst) {
		return dst[:start]
	}
	return filled
}
