// Package part appends the parts of lines that are alike in several formats: cleaned and escaped words,
// states, targets and roles. It guarantees what package compact does for whole lines. It is pure.
package part

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits on the characters of each kind of string, "…" included.
const (
	MaxText      = 101
	MaxValue     = 51
	MaxHref      = 120
	MaxWord      = 40 // tags, roles, types
	MaxAttribute = 60
	MaxVisit     = 50
	MaxCursor    = 64
	MaxTarget    = 32 // where a link leads in DENSE, unless all targets are printed
)

// Ellipsis ends what is cut.
const Ellipsis = "…"

// AppendClean appends at most limit characters of s, on one line: runs of white space and control
// characters become single spaces, invisible characters are dropped, and invalid UTF-8 becomes U+FFFD. A
// text that is cut ends in "…".
func AppendClean(dst []byte, s string, limit int) []byte {
	if len(s) <= limit && isPlain(s) {
		return append(dst, s...)
	}
	cut, n := len(dst), 0 // cut: where all but the last character that fits ends
	space := false
	for _, r := range s {
		if r < utf8.RuneSelf && r > ' ' && r != 0x7f {
			// Most characters are of this kind.
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

// AppendLeft appends how many characters of a text are left out, as in "…+230", to one that ends in "…".
func AppendLeft(dst []byte, left int) []byte {
	if left <= 0 || !bytes.HasSuffix(dst, []byte(Ellipsis)) {
		return dst
	}
	return strconv.AppendInt(append(dst, '+'), int64(left), 10)
}

// Beyond returns how many characters are left out of a text that is appended with at most limit characters, and that is
// itself the beginning of one with left more.
func Beyond(s string, limit, left int) int {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return left
	}
	if strings.HasSuffix(s, Ellipsis) {
		n--
	}
	return left + n - (limit - 1)
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

// IsInvisible reports whether r is invisible and could hide or reorder text: directional marks, zero-width
// spaces, tags. The joiners of scripts and emoji are not.
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

// AppendAfter appends a prefix and s cleaned, or nothing when nothing of s is left.
func AppendAfter(dst []byte, prefix, s string, limit int) []byte {
	start := len(dst)
	dst = append(dst, prefix...)
	filled := AppendClean(dst, s, limit)
	if len(filled) == len(dst) {
		return dst[:start]
	}
	return filled
}
