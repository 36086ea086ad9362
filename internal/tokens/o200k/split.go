package o200k

import (
	"unicode"
	"unicode/utf8"
)

// class is a class of characters that the pattern distinguishes, or a set of classes.
type class uint8

const (
	other    class = 1 << iota // signs, symbols and control characters
	capital                    // Lu, Lt
	small                      // Ll
	caseless                   // Lm, Lo
	mark                       // M
	number                     // N
	space                      // white space except line ends
	lineEnd                    // CR, LF

	// end is the position after the last character. It is in no set.
	end class = 0
)

// ascii holds the classes of the ASCII characters.
var ascii = func() (classes [utf8.RuneSelf]class) {
	for r := range classes {
		classes[r] = classOf(rune(r))
	}
	return classes
}()

// classOf returns the class of a character according to Go's Unicode tables.
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

// classAt returns the class of the character at s[i] and its size in bytes. At the end of s it returns end and 0.
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

// skip returns the position after the run of characters at s[i] whose classes are in a set.
func skip(s string, i int, set class) int {
	for {
		c, size := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += size
	}
}

// piece returns the size in bytes of the first piece of s, which must be valid UTF-8 and not empty. The pattern is a list of alternatives;
// the first one that matches applies:
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

// word returns the size of the word at the start of s, by the first two alternatives. It returns 0 if neither matches. The first character
// of s has the given class and size.
func word(s string, first class, size int) int {
	n := 0
	if first&(other|mark|space) != 0 {
		n = size // this character belongs to the following word
	}
	letters, whole := letters(s[n:])
	switch {
	case first == mark && !whole:
		// The first alternative matches only the mark. The second would match it with the following capitals, but comes later.
	case letters == 0:
		return 0
	default:
		n += letters
	}
	return n + contraction(s[n:])
}

// letters returns the size of the letters and marks at the start of s that belong to one word: capitals, then small letters. Caseless
// letters and marks count as both. whole reports whether the last one counts as a small letter. Otherwise the word has only capitals, or is
// empty.
func letters(s string) (n int, whole bool) {
	both := 0 // the end of the last letter that counts as both
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

// contraction returns the size of the ending at the start of s, as in "it's" or "we're". The long s counts as an s, too.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	const lower = 0x20 // the bit that is set in small letters
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

// signs returns the size of the signs and marks at the start of s, and of the line ends and slashes after them. The first n bytes are known
// to belong to it.
func signs(s string, n int) int {
	n = skip(s, n, other|mark)
	for n < len(s) && (s[n] == '\r' || s[n] == '\n' || s[n] == '/') {
		n++
	}
	return n
}

// blanks returns the size of the piece of white space at the start of s. The piece ends after the last line end. Without a line end, it is
// all white space at the end of the text; elsewhere it excludes the last character, which belongs to the next piece.
func blanks(s string) int {
	n, last, lines := 0, 0, 0 // the ends of all white space, of all but the last character, and of the line ends
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
