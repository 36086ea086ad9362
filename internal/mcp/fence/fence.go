// Package fence marks the text of web pages as untrusted data, which models must not follow as instructions.
//
// A fence is a pair of tags with a random number (nonce) that is new for each answer. A page does not know the number, so it cannot end its
// own fence and continue as the server. Page text that looks like the end of a fence is also altered, for readers that ignore the nonce.
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

// nonces is the number of possible nonces. 12 digits cost few tokens and cannot be guessed.
var nonces = big.NewInt(1_000_000_000_000)

// lookalike matches text that looks like the end of a fence, with any white space and case.
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
			panic("fence: the system gives no random numbers: " + err.Error()) // crypto/rand does not fail on the systems that Go supports
		}
		if nonce := fmt.Sprintf("%012d", n); !strings.Contains(text, nonce) {
			return nonce
		}
	}
}

// Clean removes characters that people do not see but models may read: control characters, characters that change the direction of text,
// and invisible tag characters. It also escapes text that looks like the end of a fence: "</page" becomes "<\/page", which is the same text
// in JSON.
func Clean(text string) string {
	text = strings.Map(visible, strings.ToValidUTF8(text, "\ufffd"))
	return lookalike().ReplaceAllString(text, `${1}\${2}`)
}

// visible maps a character to itself, to U+FFFD if it is replaced, or to -1 if it is dropped.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < ' ', r >= 0x7f && r <= 0x9f, r == '\u2028', r == '\u2029':
		return '\ufffd'
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and variation selectors, which can encode bytes
		return -1
	case r == '\u00ad', r == '\u200b', r == '\u2060', r == '\ufeff': // allowed and forbidden line breaks
		return -1
	case r == '\u200c', r == '\u200d', unicode.Is(unicode.Prepended_Concatenation_Mark, r): // used in emoji, and in scripts that join letters
		return r
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point), r == '\u2800': // direction marks, fillers, blanks
		return '\ufffd'
	}
	return r
}
