package tokens

import (
	"unicode"
	"unicode/utf8"
)

// features are the inputs of an estimate. These counts explain most of the behavior of a tokenizer.
type features struct {
	words    int // runs of ASCII letters; a capital after a lower-case letter starts a new run
	beyond   int // letters of words beyond the sixth
	digits   int // groups of up to three digits
	signs    int // ASCII signs
	newlines int
	han      int // Chinese, Japanese and Korean characters
	letters  int // other letters outside ASCII, with their marks
	symbols  int // all other characters outside ASCII
}

// Estimate returns the approximate number of tokens of s. It takes a few nanoseconds per byte and needs no vocabulary. For lines of package
// compact on saved English pages, the median error is 3% and the largest 9%; in other languages it is within 15%. For other texts the error
// may be larger in either direction. For a strict budget, use Count.
func Estimate(s string) int {
	var f features
	f.read(s)
	return f.tokens()
}

// tokens computes the weighted sum of the features. The weights are in thousandths of a token. They were fitted by least squares of the
// relative error on LINES of twenty saved pages and of synthetic pages in fourteen languages.
func (f *features) tokens() int {
	sum := 872*f.words + 316*f.beyond + 1201*f.digits + 694*f.signs + 456*f.newlines +
		682*f.han + 354*f.letters + 1205*f.symbols
	return (sum + 500) / 1000
}

// Classes of bytes.
const (
	blank = iota
	small
	capital
	digit
	sign
	newline
	wide
)

var classes = func() (c [256]uint8) {
	for b := range c {
		switch {
		case b >= utf8.RuneSelf:
			c[b] = wide
		case b >= 'a' && b <= 'z':
			c[b] = small
		case b >= 'A' && b <= 'Z':
			c[b] = capital
		case b >= '0' && b <= '9':
			c[b] = digit
		case b == '\n':
			c[b] = newline
		case b > ' ' && b != 0x7f:
			c[b] = sign
		}
	}
	return c
}()

// read counts the features of s.
func (f *features) read(s string) {
	last, run := uint8(blank), 0
	for i := 0; i < len(s); i++ {
		class := classes[s[i]]
		switch class {
		case small, capital:
			if last != small && last != capital || last == small && class == capital {
				f.words++
				run = 0
			}
			if run++; run > 6 {
				f.beyond++
			}
		case digit:
			if last != digit {
				run = 0
			}
			if run%3 == 0 {
				f.digits++
			}
			run++
		case sign:
			f.signs++
		case newline:
			f.newlines++
		case wide:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size - 1
			f.readWide(r)
		}
		last = class
	}
}

// readWide counts a character outside ASCII.
func (f *features) readWide(r rune) {
	switch {
	case r >= 0xc0 && r < 0x250 || r >= 0x370 && r < 0x530: // Latin, Greek and Cyrillic
		f.letters++
	case r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		f.han++
	case unicode.In(r, unicode.L, unicode.M):
		f.letters++
	default:
		f.symbols++
	}
}
