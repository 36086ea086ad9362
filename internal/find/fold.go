package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters replaces letters that have no Unicode decomposition, and signs that people type differently.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"’", "'", "‘", "'", "‐", "-", "–", "-", "—", "-", "−", "-")

// quotes replaces typographic quotes with straight ones.
var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`)

func straightQuotes(s string) string { return quotes.Replace(s) }

// fold returns the same text for all texts that differ only in case, accents, compatibility forms and white space.
func fold(s string) string {
	if !isASCII(s) {
		s = norm.NFKD.String(strings.ToLower(s))
		s = norm.NFC.String(strings.Map(plain, s))
		s = letters.Replace(s)
	}
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

// plain removes accents and zero-width characters.
func plain(r rune) rune {
	if r >= 0x300 && r <= 0x36f || r == 0xad || r == 0x200b || r == 0xfeff {
		return -1
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hasWord reports whether a text contains a word that is not adjacent to a letter or digit.
func hasWord(text, word string) bool {
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		at = i + size
	}
	return false
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// origin returns the scheme and the host of a URL.
func origin(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}
