package extract

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Answer is a document's raw answer to a plan.
type Answer struct {
	// Invalid is the path of a field whose selector the browser rejects.
	Invalid string `json:"invalid"`
	// Stale reports that the root no longer exists.
	Stale     bool              `json:"stale"`
	Values    []json.RawMessage `json:"values"`
	Table     *tableAnswer      `json:"table"`
	Rows      int               `json:"rows"`
	Truncated bool              `json:"truncated"`
	// Frames lists the frames below the root, in document order.
	Frames []string `json:"frames"`
	URL    string   `json:"url"`
}

type tableAnswer struct {
	Headers []string   `json:"headers"`
	Rows    [][]string `json:"rows"`
	Found   int        `json:"found"`
	Size    int        `json:"size"`
}

// Result is the extracted data.
type Result struct {
	JSON []byte
	// Missing lists the paths of values that were not found, at most 1,000.
	Missing   []string
	Truncated bool
	Rows      int
}

// Assemble combines the answers of all documents, in document order. A single-value field has the value of the first document that contains
// one. A field with "all" has the values of all documents. The error is a *SchemaError if the browser rejects a selector.
func (s *Schema) Assemble(answers []Answer, rows int) (*Result, error) {
	w := &writer{rows: rows}
	for _, a := range answers {
		if a.Invalid != "" {
			return nil, fault(s.known(a.Invalid), "is not a valid CSS selector")
		}
		w.truncated = w.truncated || a.Truncated
		w.found += min(max(a.Rows, 0), 1e9)
	}
	if s.Table != nil {
		w.table(answers)
	} else {
		w.object(s.Fields, values(answers), "")
	}
	return &Result{JSON: w.out, Missing: w.missing, Truncated: w.truncated, Rows: min(w.found, 1e9)}, nil
}

// known returns path if the schema contains it. A page may send any path.
func (s *Schema) known(path string) string {
	for rest := s.Fields; len(rest) > 0; rest = rest[1:] {
		if rest[0].Path == path {
			return path
		}
		rest = append(rest, rest[0].Fields...)
	}
	return ""
}

// values returns, for each field, the answers of the documents.
func values(answers []Answer) [][]json.RawMessage {
	var out [][]json.RawMessage
	for _, a := range answers {
		for i, v := range a.Values {
			if i >= MaxFields {
				break
			}
			if i >= len(out) {
				out = append(out, nil)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// writer writes the result.
type writer struct {
	out       []byte
	rows      int
	found     int
	missing   []string
	truncated bool
	// depth counts the attempts in progress.
	depth int
}

// slack is the space that each level of nesting reserves for the levels around it. When a list is full, the brackets and the names of
// omitted fields still fit.
const slack = 128 << 10

func (w *writer) full() bool { return len(w.out) > MaxResult-slack*(w.depth+1) }

func (w *writer) miss(path string) {
	if len(w.missing) >= maxMissing {
		w.truncated = true
		return
	}
	w.missing = append(w.missing, path)
}

// attempt calls write, and undoes its output if that is too long.
func (w *writer) attempt(write func()) bool {
	before, missing := len(w.out), len(w.missing)
	w.depth++
	write()
	w.depth--
	if !w.full() {
		return true
	}
	w.out, w.missing, w.truncated = w.out[:before], w.missing[:missing], true
	return false
}

func (w *writer) text(s string) {
	raw, err := json.Marshal(s)
	if err != nil {
		raw = []byte(`""`) // a string can always be represented
	}
	w.out = append(w.out, raw...)
}

// object writes fields with their answers.
func (w *writer) object(fields []*Field, answered [][]json.RawMessage, at string) {
	w.out = append(w.out, '{')
	for i, f := range fields {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.text(f.Name)
		w.out = append(w.out, ':')
		var given []json.RawMessage
		if i < len(answered) {
			given = answered[i]
		}
		if !w.attempt(func() { w.field(f, given, join(at, f.Name)) }) {
			w.out = append(w.out, "null"...)
		}
	}
	w.out = append(w.out, '}')
}

func (w *writer) field(f *Field, given []json.RawMessage, path string) {
	if f.All {
		w.list(f, given, path)
		return
	}
	for _, v := range given {
		if string(v) != "null" {
			w.value(f, v, path)
			return
		}
	}
	w.nothing(f, path)
}

// nothing writes a field that was not found.
func (w *writer) nothing(_ *Field, path string) {
	w.miss(path)
	w.out = append(w.out, "null"...)
}

func (w *writer) list(f *Field, given []json.RawMessage, path string) {
	w.out = append(w.out, '[')
	n := 0
	for _, raw := range given {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			continue
		}
		for _, item := range items {
			if n >= w.rows {
				w.truncated = true
				break
			}
			written := w.attempt(func() {
				if n > 0 {
					w.out = append(w.out, ',')
				}
				w.value(f, item, path+"["+strconv.Itoa(n)+"]")
			})
			if !written {
				break
			}
			n++
		}
	}
	if n == 0 {
		w.miss(path)
	}
	w.out = append(w.out, ']')
}

// value writes one value: a row of fields, or a converted text.
func (w *writer) value(f *Field, raw json.RawMessage, path string) {
	if len(f.Fields) > 0 {
		var inner []json.RawMessage
		if string(raw) == "null" || json.Unmarshal(raw, &inner) != nil {
			w.nothing(f, path)
			return
		}
		each := make([][]json.RawMessage, min(len(inner), len(f.Fields)))
		for i := range each {
			each[i] = []json.RawMessage{inner[i]}
		}
		w.object(f.Fields, each, path)
		return
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		w.nothing(f, path)
		return
	}
	w.convert(f, *text, path)
}

func (w *writer) convert(f *Field, text, path string) {
	switch f.Type {
	case Number:
		if n, ok := ParseNumber(text, f.Comma); ok {
			w.out = strconv.AppendFloat(w.out, n, 'f', -1, 64)
			return
		}
	case Boolean:
		if b, ok := ParseBoolean(text, f.Attribute); ok {
			w.out = strconv.AppendBool(w.out, b)
			return
		}
	default:
		w.text(text)
		return
	}
	w.nothing(f, path)
}

// table writes the rows of the largest table among the answers.
func (w *writer) table(answers []Answer) {
	var best *tableAnswer
	for _, a := range answers {
		if a.Table != nil && (best == nil || a.Table.Size > best.Size) {
			best = a.Table
		}
	}
	w.out = append(w.out, '[')
	if best == nil {
		w.miss("table")
		w.found = 0
	} else {
		w.found = min(max(best.Found, 0), 1e9)
		w.lines(best)
	}
	w.out = append(w.out, ']')
}

func (w *writer) lines(t *tableAnswer) {
	keys := distinct(t.Headers)
	for i, line := range t.Rows {
		if i >= w.rows || !w.attempt(func() { w.line(keys, line, i) }) {
			w.truncated = true
			return
		}
	}
}

func (w *writer) line(keys, line []string, i int) {
	if i > 0 {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, '{')
	for c, key := range keys {
		if c > 0 {
			w.out = append(w.out, ',')
		}
		w.text(key)
		w.out = append(w.out, ':')
		if c < len(line) {
			w.text(line[c])
		} else {
			w.out = append(w.out, `""`...)
		}
	}
	w.out = append(w.out, '}')
}

// distinct returns unique keys for headers. A page may send any headers.
func distinct(headers []string) []string {
	seen := map[string]bool{}
	out := make([]string, 0, min(len(headers), 200))
	for i, h := range headers {
		if i >= 200 {
			break
		}
		for n := 2; seen[h]; n++ {
			h = fmt.Sprintf("%s %d", headers[i], n)
		}
		seen[h] = true
		out = append(out, h)
	}
	return out
}
