package render

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Writer writes text to a terminal. It applies Clean to everything written, and keeps the state of Clean between calls of Write, so that a
// character may be split between two calls. It is safe for concurrent use.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	clean cleaner
	// rest holds the first bytes of an incomplete character.
	rest []byte
}

// NewWriter returns a Writer that writes to w. It returns w itself if w is a Writer, and nil for nil.
func NewWriter(w io.Writer) io.Writer {
	switch w := w.(type) {
	case nil:
		return nil
	case *Writer:
		return w
	}
	return &Writer{w: w}
}

// Write cleans and writes p. It returns len(p), or the error of the underlying stream.
func (s *Writer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.rest) + string(p)
	whole := len(text) - incomplete(text)
	s.rest = []byte(text[whole:])
	if _, err := io.WriteString(s.w, s.clean.text(text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// incomplete returns the length of an incomplete character at the end of text, 0 to 3 bytes.
func incomplete(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRuneInString(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Raw returns the underlying stream of a Writer, without Clean, and any other w unchanged. It is for escape sequences of domtap itself,
// such as colours. Other text must be cleaned before it is written to this stream.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Writer); ok {
		return s.w
	}
	return w
}

// Exact returns the stream for output that a program reads byte for byte: pictures, archives, bodies and MCP messages. It is Raw(w) for a
// file or a pipe, and w on a terminal.
func Exact(w io.Writer) io.Writer {
	raw := Raw(w)
	if f, ok := raw.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		return w
	}
	return raw
}

// cleaner holds the state of Clean within a text.
type cleaner struct {
	// base is the last character with a glyph, or 0 at the beginning of a line.
	base rune
	// varied and joined report whether a variation selector or a joiner followed base.
	varied, joined bool
}

// text returns the next part of the text, cleaned.
func (c *cleaner) text(part string) string {
	if strings.IndexFunc(part, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r > '~') }) < 0 {
		if part != "" {
			*c = cleaner{base: rune(part[len(part)-1])}
		}
		return part
	}
	return strings.Map(c.next, part)
}

// next maps a character to itself, to U+FFFD, or to nothing (-1).
func (c *cleaner) next(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		*c = cleaner{}
		return r
	case !hidden(r):
		*c = cleaner{base: r}
		return r
	case r == '\u00ad', r == '\u200b', r == '\u2060': // hints for line breaks
		return -1
	case unicode.Is(unicode.Variation_Selector, r) && !c.varied && !c.joined && c.base > ' ':
		c.varied = true
		return r
	case (r == '\u200c' || r == '\u200d') && !c.joined && c.base > '~': // in emoji, and in scripts that join letters
		c.joined = true
		return r
	}
	*c = cleaner{} // the next selector or joiner has no base
	return unicode.ReplacementChar
}

// hidden reports whether a character has no glyph and is not white space: controls, format characters, line separators, tags, variation
// selectors, fillers and other blanks.
func hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // format characters with a glyph
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return r == '\u2800' || r == '\U0001d159' || r >= 0xe0000 && r <= 0xe0fff
}
