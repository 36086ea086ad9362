package readcmd

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

// table is a table read from JSON: rows that are objects with the same keys, in their order.
type table struct {
	headers []string
	rows    [][]string
}

// tableOf parses the rows of a table. It returns false if the text is something else.
func tableOf(text string) (t table, ok bool) {
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return t, false
	}
	for i, row := range rows {
		d := json.NewDecoder(strings.NewReader(string(row)))
		var words []string
		for {
			token, err := d.Token()
			if err != nil {
				break // the end of the row, which is valid JSON
			}
			if word, is := token.(string); is {
				words = append(words, word)
			}
		}
		var line []string
		for k := 1; k < len(words); k += 2 {
			line = append(line, words[k])
			if i == 0 {
				t.headers = append(t.headers, words[k-1])
			}
		}
		t.rows = append(t.rows, line)
	}
	return t, true
}

// only keeps the columns with the given headers, in the given order. Some words of a header suffice if no other header contains them. If a
// header is missing in the table, or none are given, only keeps all columns.
func (t *table) only(headers []string) {
	var columns []int
	for _, h := range headers {
		at := t.column(render.Line(h))
		if at < 0 {
			return
		}
		columns = append(columns, at)
	}
	if len(columns) == 0 {
		return
	}
	pick := func(line []string) (out []string) {
		for _, at := range columns {
			out = append(out, line[at])
		}
		return out
	}
	t.headers = pick(t.headers)
	for i := range t.rows {
		t.rows[i] = pick(t.rows[i])
	}
}

// column returns the index of the column with this header, else of the only column whose header contains its words, else -1.
func (t *table) column(header string) int {
	at, words := -1, spacedWords(header)
	for i, other := range t.headers {
		switch {
		case strings.EqualFold(header, render.Line(other)):
			return i
		case strings.TrimSpace(words) == "": // a header such as # has no words
		case !strings.Contains(spacedWords(other), words):
		case at == -1:
			at = i
		default:
			at = -2 // ambiguous
		}
	}
	return max(at, -1)
}

// spacedWords returns the words of a text in lower case, with single spaces around them.
func spacedWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return " " + strings.Join(words, " ") + " "
}

// json returns the rows as a JSON array of objects.
func (t *table) json() string {
	text := func(s string) string {
		quoted, _ := json.Marshal(s) // a string is always valid
		return string(quoted)
	}
	rows := make([]string, len(t.rows))
	for i, line := range t.rows {
		fields := make([]string, len(line))
		for k, value := range line {
			fields[k] = text(t.headers[k]) + ":" + text(value)
		}
		rows[i] = "{" + strings.Join(fields, ",") + "}"
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// tsv returns the headers and the rows as lines, with tabs between the cells. A table without rows has no headers.
func (t *table) tsv() string {
	if len(t.headers) == 0 {
		return ""
	}
	var b strings.Builder
	for _, line := range slices.Concat([][]string{t.headers}, t.rows) {
		for i, value := range line {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(render.Line(value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
