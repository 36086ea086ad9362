package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters replaces letters whose plain forms Unicode does not name, and signs that people type differently.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i",
	"’", "'", "‘", "'", "‐", "-", "–", "-", "—", "-", "−", "-")

// quotes makes straight quotes of others.
var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`)

func straight(s string) string { return quotes.Replace(s) }

// fold makes one of all texts that differ in case, accents, compatibility forms and white space only.
func fold(s string) string {
	if !isASCII(s) {
		s = norm.NFKD.String(strings.ToLower(s))
		s = norm.NFC.String(strings.Map(plain, s))
		s = letters.Replace(s)
	}
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

// plain drops accents and characters without a width.
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

// hasWord reports whether a text has a word that neither follows nor precedes a letter or digit.
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
