package elementcontext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// BeginsWord reports whether a text has a part that does not begin within a word, as "age" does in "page". What begins with a sign begins a
// word, and so does what begins where digits end, as "kg" in "12kg".
func BeginsWord(text, part string) bool {
	first, _ := utf8.DecodeRuneInString(part)
	for at := 0; part != ""; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		if before, _ := utf8.DecodeLastRuneInString(text[:at+i]); !inWord(first) || !inWord(before) || unicode.IsDigit(first) != unicode.IsDigit(before) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at+i:])
		at += i + size
	}
	return false
}

// inWord reports whether a character is a part of a word.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
