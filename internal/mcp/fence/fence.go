// Package fence marks the text of web pages as untrusted data, which a model must not obey.
//
// A fence is a pair of tags with a random number (nonce) that is new for each answer. The page does not know the
// number, so no page can end its own fence and continue as the server. Page text that looks like the end of a
// fence is also altered, for readers that ignore the nonce.
//
// The package has no state and no goroutine.
package fence

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// nonces is how many nonces there are: 12 digits are few tokens and cannot be guessed.
var nonces = big.NewInt(1_000_000_000_000)

// lookalike matches what looks like the end of a fence, with any white space and case.
var lookalike = lazyregexp.New(`(?i)(<\s*)(/\s*page\b)`)

// Wrap returns the cleaned text (see Clean) between a pair of tags. Empty text stays empty.
func Wrap(text string) string {
	if text == "" {
		return ""
	}
	text = Clean(text)
	nonce := draw(text)
	var b strings.Builder
	b.Grow(len(text) + 64)
	fmt.Fprintf(&b, "<page nonce=%s>\n%s", nonce, text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "</page nonce=%s>", nonce)
	return b.String()
}

// draw returns a nonce that does not occur in the text.
func draw(text string) string {
	for {
		n, err := rand.Int(rand.Reader, nonces)
		if err != nil {
			panic("fence: the system gives no random numbers: " + err.Error()) // crypto/rand does not fail where Go runs
		}
		if nonce := fmt.Sprintf("%012d", n); !strings.Contains(text, nonce) {
			return nonce
		}
	}
}

// Clean removes what a person does not see and a model may read: control characters, characters that change the
// direction of text, invisible tag characters. It also escapes what looks like the end of a fence: "</page"
// becomes "<\/page", which is the same text in JSON.
func Clean(text string) string {
	text = strings.Map(visible, strings.ToValidUTF8(text, "\ufffd"))
	return lookalike().ReplaceAllString(text, `${1}\${2}`)
}

// visible maps a character to itself, to U+FFFD for a removed one, or to nothing.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < ' ', r >= 0x7f && r <= 0x9f, r == '\u2028', r == '\u2029':
		return '\ufffd'
	case r >= 0xe0000 && r <= 0xe0fff: // tags; selectors of variants, which can spell bytes
		return -1
	case r == '\u00ad', r == '\u200b', r == '\u2060', r == '\ufeff': // where a line may or may not break
		return -1
	case r == '\u200c', r == '\u200d', unicode.Is(unicode.Prepended_Concatenation_Mark, r): // of emoji, and of scripts that join letters
		return r
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point), r == '\u2800': // directions, fillers, blanks
		return '\ufffd'
	}
	return r
}
