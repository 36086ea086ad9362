package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine limits a comment, in characters.
const maxLine = 300

// oneLine converts a text for use in a comment: it returns one line without control characters and other unprintable characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return s
}

// clean returns a text that is valid as a program argument: UTF-8 without NUL.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// shellWord quotes a text as one word of a POSIX shell. Printable characters are in single quotes. Other characters, including those that
// change the text direction, are written as printf escapes, so that they do not reach a terminal or an editor. A line break is written as
// $nl, because command substitution removes trailing line breaks.
func shellWord(s string) string {
	var b strings.Builder
	plain := false
	quoted := func(on bool) {
		if plain != on {
			b.WriteByte('\'')
			plain = on
		}
	}
	for _, r := range clean(s) {
		switch {
		case r == '\'':
			quoted(false)
			b.WriteString(`\'`)
		case r == '\n':
			quoted(false)
			b.WriteString(`"$nl"`)
		case unicode.IsPrint(r):
			quoted(true)
			b.WriteRune(r)
		default:
			quoted(false)
			b.WriteString(`"$(printf '`)
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
			b.WriteString(`')"`)
		}
	}
	quoted(false)
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// lineBreak defines $nl.
const lineBreak = "nl=$(printf '\\nx'); nl=${nl%x}\n"
