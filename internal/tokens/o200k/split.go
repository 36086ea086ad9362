package o200k

import (
	"unicode"
	"unicode/utf8"
)

// class is what the pattern tells apart, or a set of these.
type class uint8

const (
	other    class = 1 << iota // signs, symbols and controls
	capital                    // Lu, Lt
	small                      // Ll
	caseless                   // Lm, Lo
	mark                       // M
	number                     // N
	space                      // white space but for line ends
	lineEnd                    // CR, LF

	// end is behind the last character, and in no set.
	end class = 0
)

// ascii has the classes of the first characters.
var ascii = func() (classes [utf8.RuneSelf]class) {
	for r := range classes {
		classes[r] = classOf(rune(r))
	}
	return classes
}()

// classOf returns the class of a character by Go's tables of Unicode.
func classOf(r rune) class {
	switch {
	case unicode.Is(unicode.Lo, r):
		return caseless
	case unicode.Is(unicode.Ll, r):
		return small
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return capital
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.Is(unicode.Lm, r):
		return caseless
	case unicode.Is(unicode.N, r):
		return number
	case r == '\r' || r == '\n':
		return lineEnd
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// classAt returns the class of the character at s[i], and its size in bytes: end and 0 at the end of s.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return end, 0
	}
	if s[i] < utf8.RuneSelf {
		return ascii[s[i]], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return classOf(r), size
}

// skip returns where the characters end that are at s[i] and of a set of classes.
func skip(s string, i int, set class) int {
	for {
		c, size := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += size
	}
}

// piece returns the size in bytes of the first piece of s, which is valid UTF-8 and not empty. The pattern is a list of
// alternatives, of which the first counts that matches:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	first, size := classAt(s, 0)
	switch first {
	case number:
		return numbers(s)
	case lineEnd:
		return blanks(s)
	}
	if n := word(s, first, size); n > 0 {
		return n
	}
	if first == other {
		return signs(s, size)
	}
	if second, _ := classAt(s, size); s[0] == ' ' && second&(other|mark) != 0 {
		return signs(s, size)
	}
	return blanks(s)
}

// word returns the size of the word that s begins with, by the first two alternatives; 0: it begins with none. The first
// character of s has the given class and size.
func word(s string, first class, size int) int {
	n := 0
	if first&(other|mark|space) != 0 {
		n = size // one of these belongs to the word behind it
	}
	letters, whole := letters(s[n:])
	switch {
	case first == mark && !whole:
		// The first alternative takes the mark alone, before the second takes it with the capitals behind it.
	case letters == 0:
		return 0
	default:
		n += letters
	}
	return n + contraction(s[n:])
}

// letters returns the size of the letters and marks at the start of s that belong to one word: capitals, then small
// letters. Those without case, and marks, count as both. It reports whether the last of them counts as a small letter; otherwise
// there are capitals alone, or nothing.
func letters(s string) (n int, whole bool) {
	both := 0 // the end of the last that counts as both
	for {
		c, size := classAt(s, n)
		switch c {
		case capital:
			n += size
		case caseless, mark:
			n += size
			both = n
		case small:
			return skip(s, n+size, small|caseless|mark), true
		default:
			if both > 0 {
				return both, true
			}
			return n, false
		}
	}
}

// contraction returns the size of the ending of "it's" and the like that s begins with. The long s is an s, too.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	const lower = 0x20 // the bit that small letters have
	switch s[1] | lower {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) < 3 {
		return 0
	}
	switch {
	case s[1:3] == "ſ":
		return 3
	case s[2]|lower == 'e' && (s[1]|lower == 'r' || s[1]|lower == 'v'),
		s[2]|lower == 'l' && s[1]|lower == 'l':
		return 3
	}
	return 0
}

// numbers returns the size of up to three numbers at the start of s.
func numbers(s string) int {
	n := 0
	for range 3 {
		c, size := classAt(s, n)
		if c != number {
			break
		}
		n += size
	}
	return n
}

// signs returns the size of the signs and marks at the start of s, of which the first n bytes are known, and of the line
// ends and slashes behind them.
func signs(s string, n int) int {
	n = skip(s, n, other|mark)
	for n < len(s) && (s[n] == '\r' || s[n] == '\n' || s[n] == '/') {
		n++
	}
	return n
}

// blanks returns the size of the white space at the start of s that is one piece: up to the last line end in it; or all of
// it, at the end of the text; or all but the last character, which belongs to what follows.
func blanks(s string) int {
	n, last, lines := 0, 0, 0 // the ends of all, of all but the last, and of the lines
	for {
		c, size := classAt(s, n)
		switch {
		case c&(space|lineEnd) != 0:
			last = n
			n += size
			if c == lineEnd {
				lines = n
			}
		case lines > 0:
			return lines
		case c == end || last == 0:
			return n
		default:
			return last
		}
	}
}
