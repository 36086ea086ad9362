package elementcontext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// BeginsWord reports whether part occurs in text other than within a word, as "age" does in "page". A part that begins with a symbol begins
// a word, and so does a part after digits, such as "kg" in "12kg".
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
