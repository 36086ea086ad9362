// Package render turns API messages into text for people. Its functions have no side effects.
//
// Text of a page is untrusted. Every function of this package returns text without terminal control characters, and keeps text of a page on
// one line where the layout consists of lines.
package render

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean replaces characters that control a terminal, change the reading direction, or have no glyph by U+FFFD. It removes soft hyphens and
// other hints for line breaks. It keeps line breaks and tabs, and variation selectors and joiners that follow a character with a glyph, as
// in emoji.
func Clean(text string) string { return new(cleaner).text(text) }

// JSON escapes the characters of a JSON text that a terminal would interpret instead of showing: controls, marks of the reading direction,
// and all others without a glyph. The text parses to the same value.
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

// Result returns a JSON result as a paragraph.
func Result(text string) string { return Paragraph(string(JSON([]byte(text)))) }

// Line returns a clean text on one line, with its white space folded.
func Line(text string) string { return Clean(strings.Join(strings.Fields(text), " ")) }

// Cell returns the text of a table cell: one line of at most limit characters.
func Cell(text string, limit int) string {
	runes := []rune(Line(text))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}

// Paragraph returns a clean text that ends with a line break, unless it is empty.
func Paragraph(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimRight(Clean(text), "\n") + "\n"
}

// Clock returns the local time of day, with milliseconds.
func Clock(at time.Time) string { return at.Local().Format("15:04:05.000") }

// Prefixed adds a prefix to each line that is not empty.
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

// word returns an enum value in readable form: TAB_STATUS_READY becomes ready.
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

// markColours maps the line marks of the DENSE_DIFF format to colours.
var markColours = map[string]string{"+ ": green, "- ": red, "~ ": yellow, "= ": yellow, "> ": yellow}

// Colour colours the lines of the DENSE_DIFF format, and the lines under a heading of the DIFF format. It makes other lines bold, up to the
// start of a page, which DENSE_DIFF may contain instead of a diff.
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
