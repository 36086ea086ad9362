package part

import (
	"strings"
	"unicode/utf8"
)

// AppendWords appends cleaned words of the page, with a backslash before each character that would otherwise start another part of a line.
// Characters in extra are always escaped.
func AppendWords(dst []byte, s string, limit int, extra string) []byte {
	start := len(dst)
	dst = AppendClean(dst, s, limit)
	if !mayNeedEscape(dst[start:], extra) {
		return dst
	}
	words := string(dst[start:])
	dst = dst[:start]
	for i, r := range words {
		if needsEscape(words, i, r) || strings.ContainsRune(extra, r) {
			dst = append(dst, '\\')
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// AppendQuoted appends a value in double quotes, with the number of characters omitted from it.
func AppendQuoted(dst []byte, value string, left int) []byte {
	return append(AppendLeft(AppendWords(append(dst, '"'), value, MaxValue, `"`), left), '"')
}

func mayNeedEscape(words []byte, extra string) bool {
	for _, c := range words {
		switch c {
		case '\\', '[', '(', '|', 0xe2: // the first byte of →, ←, ‹ and …
			return true
		}
		if strings.IndexByte(extra, c) >= 0 {
			return true
		}
	}
	return false
}

// needsEscape reports whether the character at s[i] would not be parsed as a part of words.
func needsEscape(s string, i int, r rune) bool {
	var before, after byte = ' ', ' '
	if i > 0 {
		before = s[i-1]
	}
	if next := i + utf8.RuneLen(r); next < len(s) {
		after = s[next]
	}
	switch r {
	case '\\':
		return true
	case '[':
		return '0' <= after && after <= '9'
	case '(':
		return before == ' ' && 'a' <= after && after <= 'z'
	case '|':
		return before == ' ' && after == ' '
	case '→':
		return before == ' ' && after != ' '
	case '‹', '←':
		return before == ' '
	case '+':
		return strings.HasSuffix(s[:i], Ellipsis) && '0' <= after && after <= '9'
	}
	return false
}

// AppendRole appends a role: lower-case letters, digits and hyphens, starting with a letter. All other characters are dropped.
func AppendRole(dst []byte, role string) []byte {
	start := len(dst)
	for i := 0; i < len(role) && len(dst)-start < MaxWord; i++ {
		c := role[i]
		if 'a' <= c && c <= 'z' || len(dst) > start && (c == '-' || '0' <= c && c <= '9') {
			dst = append(dst, c)
		}
	}
	if len(dst) == start {
		dst = append(dst, "generic"...)
	}
	return dst
}

// unspaced encodes characters that are not allowed in a target, because a target is one word, in the way URLs may encode them.
var unspaced = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D", `\`, "%5C")

// Target returns an address as DENSE prints it: one word without parts that look like a ref.
func Target(address string, limit int) string {
	return unspaced.Replace(string(AppendClean(nil, address, limit)))
}
