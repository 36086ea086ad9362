package trace

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"unique"
)

//go:embed page
var files embed.FS

// MinBytes is the smallest size that callers may request. It has room for the page itself and little more.
const MinBytes = 128 << 10

// Make creates the file, at most maxBytes large, and returns a list of the omitted parts. To fit, it repeatedly halves the largest part: it
// omits every second picture or state, or the older half of the diffs, the log or the steps.
func Make(t Trace, maxBytes int) (file []byte, left []string, err error) {
	if maxBytes < MinBytes {
		return nil, nil, fmt.Errorf("the limit is %d bytes, but the page itself needs %d: raise the limit", maxBytes, MinBytes)
	}
	page, err := newPage()
	if err != nil {
		return nil, nil, err
	}
	t.Tabs = slices.Clone(t.Tabs)
	had := count(t)
	for {
		now := t
		now.Left = append(slices.Clone(t.Left), had.without(count(t))...)
		file, sizes, err := page.fill(now)
		if err != nil || len(file) <= maxBytes {
			return file, now.Left, err
		}
		if !shrink(&t, sizes) {
			return nil, nil, fmt.Errorf("the steps do not fit into %d bytes: raise the limit", maxBytes)
		}
	}
}

// page is the file without the data.
type page struct{ before, after []byte }

// newPage combines the files of the page into one.
func newPage() (page, error) {
	read := func(names ...string) (all string, err error) {
		for _, name := range names {
			b, err := files.ReadFile("page/" + name)
			if err != nil {
				return "", err
			}
			all += "\n" + string(b)
		}
		return all, nil
	}
	style, err := read("style.css")
	if err != nil {
		return page{}, err
	}
	script, err := read("data.js", "view.js", "main.js")
	if err != nil {
		return page{}, err
	}
	body, err := read("index.html")
	if err != nil {
		return page{}, err
	}
	before, after, _ := strings.Cut(strings.NewReplacer(
		"{{policy}}", html.EscapeString(policy(script, style)), "{{style}}", style, "{{script}}", script,
	).Replace(strings.TrimSpace(body)+"\n"), "{{data}}")
	return page{[]byte(before), []byte(after)}, nil
}

// policy returns a Content-Security-Policy that allows one script, one style, and pictures inside the file.
func policy(script, style string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// sizes holds the size of each part in bytes.
type sizes struct{ pictures, states, diffs, log, steps int }

// fill returns the file with the data of a trace.
func (p page) fill(t Trace) ([]byte, sizes, error) {
	type tab struct {
		Tab
		Lines  []string  `json:"lines"`
		States []changed `json:"states"`
	}
	data := struct {
		Trace
		Tabs []tab `json:"tabs"`
	}{Trace: t, Tabs: []tab{}}
	var s sizes
	for _, one := range t.Tabs {
		lines, states := encode(one.States)
		data.Tabs = append(data.Tabs, tab{one, lines, states})
		s.states += length(lines) + length(states)
		s.log += length(one.Log)
		for _, p := range one.Pictures {
			s.pictures += base64.StdEncoding.EncodedLen(len(p.Data))
		}
		for _, step := range one.Steps {
			s.diffs += len(step.Diff)
		}
		s.steps += length(one.Steps)
	}
	s.steps -= s.diffs
	// Marshal escapes <, >, &, U+2028 and U+2029, so the data cannot end the script element.
	text, err := json.Marshal(data)
	return bytes.Join([][]byte{p.before, text, p.after}, nil), s, err
}

// length returns the length of a value as JSON, in bytes.
func length(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0 // marshaling the whole trace fails, too, and returns the error
	}
	return len(b)
}

// changed encodes a state as a difference from the previous one. It keeps some of the first and last lines of the previous state.
type changed struct {
	At       int64  `json:"at"`
	Revision uint64 `json:"revision"`
	First    int    `json:"first"`
	Last     int    `json:"last"`
	// Lines holds the lines in between, as indices in the table.
	Lines []int `json:"lines"`
}

// encode encodes states so that each distinct line is stored once.
func encode(states []State) (table []string, out []changed) {
	table, out = []string{}, []changed{}
	known := map[unique.Handle[string]]int{}
	var before []int
	for _, s := range states {
		now := make([]int, 0, len(s.Text))
		for _, line := range s.Text {
			i, ok := known[line]
			if !ok {
				i = len(table)
				known[line], table = i, append(table, line.Value())
			}
			now = append(now, i)
		}
		first, last, most := 0, 0, min(len(before), len(now))
		for first < most && before[first] == now[first] {
			first++
		}
		for last < most-first && before[len(before)-1-last] == now[len(now)-1-last] {
			last++
		}
		out = append(out, changed{s.At, s.Revision, first, last, slices.Clone(now[first : len(now)-last])})
		before = now
	}
	return table, out
}
