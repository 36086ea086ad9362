// Package render turns messages of the API into text for people. It is pure.
//
// The text of a page is untrusted: every function of this package returns text without control characters
// for the terminal, and keeps text of a page on one line where the layout is made of lines.
package render

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean replaces by U+FFFD the characters that control a terminal, change the reading direction, or have no glyph. It removes soft
// hyphens and other hints for line breaks. Line breaks and tabs stay, and so do a variation selector and a joiner that follow a
// character with a glyph, as in emoji.
func Clean(text string) string { return new(cleaner).text(text) }

// JSON escapes the characters of a JSON text that a terminal acts on instead of showing them: controls, marks
// of the reading direction, and all others without a glyph. The text parses to the same value.
func JSON(text []byte) []byte {
	unsafe := func(r rune) bool { return r >= 0x7f && hidden(r) }
	if bytes.IndexFunc(text, unsafe) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !unsafe(r):
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// Result is a result that is JSON as a paragraph.
func Result(text string) string { return Paragraph(string(JSON([]byte(text)))) }

// Line makes one clean line of a text, by folding its white space.
func Line(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }

// Cell makes the text of a table cell: one line of at most limit characters.
func Cell(text string, limit int) string {
	runes := []rune(Line(text))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

// Paragraph makes a clean text end with one line break, unless it is empty.
func Paragraph(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimRight(Clean(text), "\n") + "\n"
}

// Clock is a time of day here, to the millisecond.
func Clock(at time.Time) string { return at.Local().Format("15:04:05.000") }

// Prefixed puts a prefix before each line that is not empty.
func Prefixed(text, prefix string) string {
	if prefix == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString(prefix)
		}
		b.WriteString(line)
	}
	return b.String()
}

// word makes enum values readable: TAB_STATUS_READY becomes ready.
func word(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

// The escape sequences of the colours.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	normal = "\x1b[0m"
)

var sectionColours = map[string]string{"Added:": green, "Removed:": red, "Changed:": yellow, "Moved:": yellow}

// markColours are those of lines of the DENSE_DIFF format.
var markColours = map[string]string{"+ ": green, "- ": red, "~ ": yellow, "= ": yellow, "> ": yellow}

// Colour colours the lines of the DENSE_DIFF format, and those under a heading of the DIFF format. It makes other lines
// bold, up to a page that DENSE_DIFF has instead.
func Colour(diff string) string {
	var b strings.Builder
	section, page := bold, false
	for line := range strings.Lines(diff) {
		body := strings.TrimSuffix(line, "\n")
		if colour, heading := sectionColours[body]; heading {
			section = colour
		} else if colour, marked := markColours[body[:min(2, len(body))]]; marked {
			section = colour
		} else if strings.HasPrefix(body, "URL: ") {
			page = true
		} else if !strings.HasPrefix(body, " ") {
			section = bold
		}
		if page {
			b.WriteString(line)
			continue
		}
		if body != "" {
			b.WriteString(section + body + normal)
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}
