package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/internal/truncate"
)

// sanitise collapses white space and removes invisible characters and control characters. If lines is set, line ends and white space within
// lines stay.
func sanitise(text string, lines bool) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\r' && lines:
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == 0x2028 || r == 0x2029:
			if lines {
				b.WriteByte(' ')
			} else {
				space = true
			}
			continue
		case compact.IsInvisible(r), r == 0xfffc: // U+FFFC represents an embedded object
			continue
		default:
			if space {
				b.WriteByte(' ')
			}
			b.WriteRune(r) // invalid UTF-8 bytes become U+FFFD
		}
		space = false
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// fold sanitises a text and trims outer white space.
func fold(text string) string { return strings.TrimSpace(sanitise(text, false)) }

// clip truncates a text to a number of characters plus "…".
func clip(text string, limit int) string {
	head, cut := truncate.Head(text, limit)
	if !cut {
		return text
	}
	return strings.TrimRight(head, " ") + truncate.Ellipsis
}

// escape escapes text that could be parsed as markup: emphasis, code, tags and links. It escapes nothing else, because every backslash
// costs a token.
func escape(text string) string {
	if !strings.ContainsAny(text, "\\`*_<]~") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if needsEscape(text, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func needsEscape(text string, i int) bool {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch text[i] {
	case '\\':
		return isSign(after)
	case '`':
		return true
	case '*':
		return before != ' ' || after != ' '
	case '_':
		return (!isWord(before) || !isWord(after)) && (before != ' ' || after != ' ')
	case '<':
		return isWord(after) || after == '/' || after == '!'
	case ']':
		return after == '('
	case '~':
		return after == '~'
	}
	return false
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

func isSign(c byte) bool { return c > ' ' && c < 0x7f && !isWord(c) }

// lineSafe escapes a line that could be parsed as a heading, a quote, an item, a fence, a rule or a row.
func lineSafe(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if trimmed == "" {
		return ""
	}
	switch c := trimmed[0]; c {
	case '#', '>', '|':
		return `\` + trimmed
	case '-', '+', '=', '~':
		rest := strings.TrimLeft(trimmed, string(c))
		if c != '~' && strings.HasPrefix(trimmed[1:], " ") || strings.TrimSpace(rest) == "" || strings.HasPrefix(trimmed, "~~~") {
			return `\` + trimmed
		}
	}
	digits := 0
	for digits < len(trimmed) && trimmed[digits] >= '0' && trimmed[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(trimmed) && (trimmed[digits] == '.' || trimmed[digits] == ')') &&
		(digits+1 == len(trimmed) || trimmed[digits+1] == ' ') {
		return trimmed[:digits] + `\` + trimmed[digits:]
	}
	return trimmed
}

// trimLines trims every line and drops empty ones.
func trimLines(text string) string {
	if !strings.Contains(text, "\n") {
		return strings.TrimSpace(text)
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// mask replaces typed secrets.
const mask = "••••"

// hasContent reports whether a text contains more than separators.
func hasContent(text string) bool {
	return strings.Contains(text, mask) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.So, unicode.Sc, unicode.Sm) || r == '…'
	})
}

// longestRun returns the length of the longest run of a byte.
func longestRun(text string, c byte) int {
	most, run := 0, 0
	for i := range len(text) {
		if text[i] != c {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

// textOf returns the text below a node, with a space at the end of each block or line.
func textOf(top *html.Node) string {
	var b strings.Builder
	for n := range top.Descendants() {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Br || isBlock(n):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// rawText returns the text below a node and keeps its line breaks.
func rawText(top *html.Node) string {
	var b strings.Builder
	for n := range top.Descendants() {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		case isBlock(n) && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n"):
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// RawText returns the text of markup and keeps its line breaks. If the markup has preformatted text, as that of a browser for a text file,
// it returns only the first: browsers add controls next to it.
func RawText(markup string) string {
	_, body := parse(Source{HTML: markup})
	for n := range body.Descendants() {
		if n.DataAtom == atom.Pre {
			return rawText(n)
		}
	}
	return rawText(body)
}

// language returns the language of code from its classes.
func language(pre *html.Node) string {
	for n := pre; n != nil; n = n.FirstChild {
		for class := range strings.FieldsSeq(attribute(n, "class")) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-", "brush:"} {
				name, ok := strings.CutPrefix(class, prefix)
				if ok && name != "" && len(name) <= 20 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+#-") == "" {
					return name
				}
			}
		}
	}
	return ""
}
