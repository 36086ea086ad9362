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

// MinBytes is the least size that can be asked for: the page itself, and a little.
const MinBytes = 128 << 10

// Make makes the file, of at most maxBytes bytes, and returns with it what it does not have. It leaves out the largest part
// first, by halves: of pictures and states every second one, of diffs, the log and the steps the older ones.
func Make(t Trace, maxBytes int) (file []byte, left []string, err error) {
	if maxBytes < MinBytes {
		return nil, nil, fmt.Errorf("at most %d bytes: the page itself needs %d: allow more", maxBytes, MinBytes)
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
			return nil, nil, fmt.Errorf("the steps do not fit into %d bytes: allow more", maxBytes)
		}
	}
}

// page is the file around the data.
type page struct{ before, after []byte }

// newPage puts the files of the page into one.
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

// policy allows one script, one style, and pictures that are in the file.
func policy(script, style string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// sizes is how many bytes each part has.
type sizes struct{ pictures, states, diffs, log, steps int }

// fill makes the file with the data of a trace.
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
	// Marshal escapes <, >, &, U+2028 and U+2029, so that nothing in it ends the element.
	text, err := json.Marshal(data)
	return bytes.Join([][]byte{p.before, text, p.after}, nil), s, err
}

// length is how many bytes a value has as JSON.
func length(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0 // then the whole cannot be written either, and fails with the error
	}
	return len(b)
}

// changed is a state as what changed since the one before: it keeps the first and the last lines of that one.
type changed struct {
	At       int64  `json:"at"`
	Revision uint64 `json:"revision"`
	First    int    `json:"first"`
	Last     int    `json:"last"`
	// Lines are those between, by their places in the table.
	Lines []int `json:"lines"`
}

// encode writes each line once.
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
