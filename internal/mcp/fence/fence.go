// Package fence marks the words of web pages as what they are: data from a stranger, which a model must not obey.
//
// A fence is a pair of tags with a number that is drawn anew for each answer. What a page says was said before the
// number was drawn, so that no page can end its own fence and go on in our name. And whatever in a page looks like
// the end of a fence is taken apart, so that a careless reader does not take it for one either.
//
// It has no state and no goroutine.
package fence

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// nonces is how many numbers there are: 12 digits are few tokens, and more than anybody guesses at the first try.
var nonces = big.NewInt(1_000_000_000_000)

// lookalike is what a reader may take for the end of a fence, also across white space and in any case.
var lookalike = regexp.MustCompile(`(?i)(<\s*)(/\s*page\b)`)

// Around returns text between a pair of tags. Empty text stays empty. The text is cleaned before: see Clean.
func Around(text string) string {
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

// draw returns a nonce that does not stand in the text.
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

// Clean takes out of text what a person who looks at the page does not see and a model may read: control characters,
// signs that turn the direction of text, invisible tag characters. And it takes apart what looks like the end of a
// fence: "</page" becomes "<\/page", which in JSON is the same text.
func Clean(text string) string {
	text = strings.Map(visible, strings.ToValidUTF8(text, "\ufffd"))
	return lookalike.ReplaceAllString(text, `${1}\${2}`)
}

// visible maps a character to itself, to a sign that something was there, or to nothing.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < ' ', r >= 0x7f && r <= 0x9f, r == '\u2028', r == '\u2029':
		return '\ufffd'
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u200e', r == '\u200f':
		return '\ufffd'
	case r >= 0xe0000 && r <= 0xe007f, r >= 0xe0100 && r <= 0xe01ef: // tags; selectors of variants, which can spell bytes
		return -1
	}
	return r
}
