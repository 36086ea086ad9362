package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/domtap/domtap/internal/golden"
)

// TestShapes prunes testdata/*.txtar. The section "in" has a transcript of each format, and "out" the result.
func TestShapes(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", 7, func(t *testing.T, in string) string {
		out, _, err := Transcript([]byte(in), Options{Keep: 1, MinBytes: 120})
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	})
}

// page returns the answer of a browser tool after a step, about as large as a page of a shop.
func page(step int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "URL: https://shop.example/%d | Title: Step %[1]d\n", step)
	for i := range 60 {
		fmt.Fprintf(&b, "[%d] Item %d of step %d, with a name (a →/item/%d)\n", i, i, step, i)
	}
	return b.String()
}

// step is a call of a tool and its answer as an MCP result.
type step struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    struct {
		Content []map[string]any `json:"content"`
		IsError bool             `json:"isError"`
	} `json:"result"`
}

// text returns the text of the answer.
func (s step) text() string {
	var b strings.Builder
	for _, block := range s.Result.Content {
		text, _ := block["text"].(string)
		b.WriteString(text)
	}
	return b.String()
}

func newStep(tool, text string) step {
	s := step{Tool: tool, Arguments: json.RawMessage(`{"ref":1}`)}
	s.Result.Content = []map[string]any{{"type": "text", "text": text}}
	return s
}

// session returns a browsing session of ten steps, with some results of other tools.
func session(shape string) []byte {
	var steps []step
	for i := range 10 {
		if i%4 == 3 {
			steps = append(steps, newStep("read_file", "<!doctype html><p>"+strings.Repeat("notes ", 50)))
		} else {
			steps = append(steps, newStep("browser_click", page(i)))
		}
	}
	return transcript(shape, steps)
}

// transcript returns a session in a given format: the user's request and, for each step, the assistant's text, the call and its result.
func transcript(shape string, steps []step) []byte {
	var messages []any
	add := func(m ...any) { messages = append(messages, m...) }
	type o = map[string]any
	add(o{"role": "user", "content": "Find the cheapest teapot. <html> is what pages begin with.", "id": "u1"})
	for i, s := range steps {
		id, name, args, text := fmt.Sprint("call_", i), s.Tool, s.Arguments, s.text()
		thought := fmt.Sprint("Step ", i, " then.")
		switch shape {
		case "openai":
			add(o{"role": "assistant", "content": thought, "tool_calls": []any{o{"id": id, "type": "function", "function": o{"name": name, "arguments": string(args)}}}},
				o{"role": "tool", "tool_call_id": id, "content": text})
		case "responses":
			add(o{"type": "message", "role": "assistant", "content": []any{o{"type": "output_text", "text": thought}}},
				o{"type": "function_call", "call_id": id, "name": name, "arguments": string(args)}, o{"type": "function_call_output", "call_id": id, "output": text})
		case "anthropic":
			add(o{"role": "assistant", "content": []any{o{"type": "text", "text": thought}, o{"type": "tool_use", "id": id, "name": name, "input": args}}},
				o{"role": "user", "content": []any{o{"type": "tool_result", "tool_use_id": id, "content": s.Result.Content}}})
		case "vercel-ui":
			add(o{"id": id, "role": "assistant", "parts": []any{o{"type": "text", "text": thought},
				o{"type": "tool-" + name, "toolCallId": id, "state": "output-available", "input": args, "output": o{"text": text}}}})
		case "vercel-model":
			add(o{"role": "assistant", "content": []any{o{"type": "tool-call", "toolCallId": id, "toolName": name, "input": args}}},
				o{"role": "tool", "content": []any{o{"type": "tool-result", "toolCallId": id, "toolName": name, "output": o{"type": "text", "value": text}}}})
		case "mcp":
			add(o{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": o{"name": name, "arguments": args}},
				o{"jsonrpc": "2.0", "id": i, "result": s.Result})
		}
		if i == len(steps)/2 {
			add(o{"role": "user", "content": "Go on. - button \"Pay\" [ref=e1]", "id": "u2"})
		}
	}
	out, err := json.MarshalIndent(messages, "", " ")
	if err != nil {
		panic(err)
	}
	return out
}

var shapes = []string{"openai", "responses", "anthropic", "vercel-ui", "vercel-model", "mcp"}

func TestSessionsShrinkByHalfAtLeast(t *testing.T) {
	for _, shape := range shapes {
		in := session(shape)
		out, stats, err := Transcript(in, Default())
		if err != nil {
			t.Fatal(err)
		}
		if stats.Snapshots != 8 || stats.Removed != 7 {
			t.Errorf("%s: %+v, want 7 of 8 snapshots removed", shape, stats)
		}
		if stats.BytesBefore != int64(len(in)) || stats.BytesAfter != int64(len(out)) || 2*len(out) > len(in) {
			t.Errorf("%s: %d bytes became %d, %+v", shape, len(in), len(out), stats)
		}
		if n := bytes.Count(out, []byte("<!doctype html>")) + bytes.Count(out, []byte(`\u003c!doctype html\u003e`)); n != 2 {
			t.Errorf("%s: %d of 2 files are left", shape, n)
		}
		if !bytes.Contains(out, []byte("Step 9")) || bytes.Contains(out, []byte("of step 8")) {
			t.Errorf("%s: not the newest was kept", shape)
		}
	}
}

// recording is a real session on the pages of a small shop: the answers of a server to an agent's calls.
type recording struct {
	Server string `json:"server"`
	Steps  []step `json:"steps"`
}

func recordings(t *testing.T) map[string]recording {
	t.Helper()
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	all := map[string]recording{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(text, &r); err != nil || len(r.Steps) < 10 {
			t.Fatalf("%s: %d steps, %v", file, len(r.Steps), err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = r
	}
	return all
}

// TestRecordedSessionsShrinkByHalfAtLeast prunes the answers of real servers in every format and prints the savings.
func TestRecordedSessionsShrinkByHalfAtLeast(t *testing.T) {
	t.Logf("%-10s  %-12s  %5s  %9s  %7s  %7s  %7s", "server", "shape", "steps", "snapshots", "before", "after", "smaller")
	for name, r := range recordings(t) {
		newest := r.Steps[len(r.Steps)-1].text()
		for _, shape := range shapes {
			in := transcript(shape, r.Steps)
			out, stats, err := Transcript(in, Default())
			if err != nil {
				t.Fatal(err)
			}
			smaller := 100 - 100*float64(len(out))/float64(len(in))
			t.Logf("%-10s  %-12s  %5d  %9d  %7d  %7d  %6.1f%%", name, shape, len(r.Steps), stats.Snapshots, len(in), len(out), smaller)
			if smaller < 50 {
				t.Errorf("%s, %s: only %.1f%% smaller", name, shape, smaller)
			}
			if got := kept(in, out, ""); got != stats.Removed {
				t.Errorf("%s, %s: %d results became placeholders, %+v", name, shape, got, stats)
			}
			if quoted, _ := json.Marshal(newest); !bytes.Contains(out, quoted) {
				t.Errorf("%s, %s: the newest page is not there", name, shape)
			}
			if again, _, err := Transcript(out, Default()); err != nil || !bytes.Equal(again, out) {
				t.Errorf("%s, %s: pruned again it is another, %v", name, shape, err)
			}
		}
	}
}

// kept counts the strings that became placeholders. It returns -1000 or less if anything else changed: a message, a call, an id, or a text
// of the user or the assistant.
func kept(before, after json.RawMessage, key string) int {
	if len(before) > 0 && before[0] == '"' && !bytes.Equal(before, after) {
		var text string
		allowed := map[string]bool{"content": true, "output": true, "text": true, "value": true}
		if json.Unmarshal(after, &text) == nil && text == Placeholder && allowed[key] {
			return 1
		}
		return -1000
	}
	if key == "output" && string(after) == `{"removed":"`+Placeholder+`"}` {
		return 1
	}
	var a, b map[string]json.RawMessage
	if json.Unmarshal(before, &a) == nil && json.Unmarshal(after, &b) == nil && len(a) > 0 {
		return keptOf(slices.Sorted(maps.Keys(a)), len(b), func(k string) int { return kept(a[k], b[k], k) })
	}
	var x, y []json.RawMessage
	if json.Unmarshal(before, &x) == nil && json.Unmarshal(after, &y) == nil && len(x) > 0 {
		n := min(len(x), len(y))
		return keptOf(make([]string, len(x)), len(y), func(string) int { n--; return kept(x[n], y[n], key) })
	}
	if !bytes.Equal(before, after) {
		return -1000
	}
	return 0
}

func keptOf(keys []string, there int, one func(string) int) int {
	if len(keys) != there {
		return -1000
	}
	n := 0
	for _, key := range keys {
		n += one(key)
	}
	return n
}

// TestMessagesAfterAKeptPageStay checks that diffs are kept or pruned with the page that they are based on, and that short results stay.
func TestMessagesAfterAKeptPageStay(t *testing.T) {
	change := "# changed\n<page nonce=1>\nclick \"Pay\": ok\nChanges: +9 -0 ~0\nAdded:\n" + strings.Repeat("  [4] <button>Undo</button>\n", 50) + "</page nonce=1>"
	elsewhere := strings.Replace(change, "# changed", "# navigated", 1)
	for _, c := range []struct {
		name, steps, want string
		keep              int
	}{
		{"reports before a page go with the one before them", "page0 report page1 report report", ". . page1 report report", 1},
		{"two pages, two chains", "page0 report page1 report page2 report", ". . page1 report page2 report", 2},
		{"another page is one, whatever told of it", "page0 report elsewhere report", ". . elsewhere report", 1},
		{"no page at all", "report report", "report report", 1},
		{"a page after reports", "report report page0", ". . page0", 1},
		{"nothing is kept", "page0 report", ". .", 0},
		{"words are not a page", "page0 words page1 words", ". words page1 words", 1},
		{"words at the end do not drive a page out", "page0 words words", "page0 words words", 1},
	} {
		var steps []step
		for _, word := range strings.Fields(c.steps) {
			text := map[string]string{"report": change, "elsewhere": elsewhere, "words": strings.Repeat("Clicked and waited. ", 16)}[word]
			if text == "" {
				text = page(int(word[4] - '0'))
			}
			steps = append(steps, newStep("browser_interact", text))
		}
		out, _, err := Transcript(transcript("openai", steps), Options{Keep: c.keep})
		if err != nil {
			t.Fatal(err)
		}
		var messages []struct{ Role, Content string }
		if err := json.Unmarshal(out, &messages); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range messages {
			if m.Role != "tool" {
				continue
			}
			word := strings.Fields(c.steps)[len(got)]
			if m.Content == Placeholder {
				word = "."
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s became %s, want %s", c.name, c.steps, got, c.want)
		}
	}
}

// TestToolsOfDomtapAreKnown checks the answers of domtap's own server, including the fence around them.
func TestToolsOfDomtapAreKnown(t *testing.T) {
	for _, name := range strings.Fields("browser_get_dom browser_get_elements_compact browser_interact browser_fill_form browser_navigate browser_tab " +
		"browser_read_page browser_screenshot browser_wait browser_extract browser_batch browser_find") {
		if !matches(browserTools, "mcp__domtap__"+name) {
			t.Errorf("%s is not known", name)
		}
	}
	o := Default().withDefaults()
	long := "# the page offers more tools than are listed\n<page nonce=1>\n" + strings.Repeat("pay(item: string) Pays\n", 1000) + "</page nonce=1>"
	for _, name := range []string{"browser_page_tools", "browser_call_page_tool", "browser_find"} {
		if got := o.kindOf(name, &result{payloads: []payload{{text: long, end: len(long)}}}); got != report {
			t.Errorf("the answer of %s is of kind %d, want %d: it replaces no page", name, got, report)
		}
	}
	for _, s := range recordings(t)["domtap"].Steps {
		r := &result{payloads: []payload{{text: s.text(), end: len(s.text())}}}
		want, said := other, s.text()
		switch {
		case strings.HasPrefix(said, "# changed") && len(said) >= DefaultMinBytes:
			want = report
		case len(said) >= DefaultMinBytes:
			want = snapshot
		}
		for _, tool := range []string{s.Tool, "", "another_name"} {
			if got := o.kindOf(tool, r); got != want {
				t.Errorf("%q: %.60q is of kind %d, want %d", tool, said, got, want)
			}
		}
	}
}

func TestKeepSaysHowManyStay(t *testing.T) {
	for keep := range 10 {
		for _, shape := range shapes {
			_, stats, err := Transcript(session(shape), Options{Keep: keep})
			if err != nil || stats.Snapshots-stats.Removed != min(keep, 8) {
				t.Errorf("%s, keep %d: %+v, %v", shape, keep, stats, err)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	in := []byte(`[{"role":"tool","name":"look","content":"` + strings.Repeat("x", 300) + `"},{"role":"tool","name":"browser_click","content":"` + strings.Repeat("y", 1100) + `"}]`)
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{}, 1}, {Options{Tools: []string{"look"}}, 1}, {Options{Tools: []string{"*"}}, 2}, {Options{MinBytes: 300}, 0}, {Options{Keep: -1}, 1},
		{Options{Tools: []string{}}, 0},
	} {
		if _, stats, err := Transcript(in, c.o); err != nil || stats.Removed != c.want {
			t.Errorf("%+v: %+v, %v, want %d", c.o, stats, err, c.want)
		}
	}
	out, _, err := Transcript(in, Options{Placeholder: `gone "for good"`})
	if err != nil || !bytes.Contains(out, []byte(`"content":"gone \"for good\""`)) {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestNamesOfServersDoNotCount(t *testing.T) {
	for name, want := range map[string]bool{
		"mcp__playwright__browser_click": true, "playwright.browser_snapshot": true, "Browser_Navigate": true,
		"browser_take_screenshot": true, "mcp__files__read_file": false, "todo_list": false,
	} {
		if got := matches(browserTools, strings.ToLower(name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestPagesAreDistinguishedFromOtherTexts(t *testing.T) {
	tree := strings.Repeat("- button \"Pay\" [ref=e1]\n  - link \"Home\" [ref=e2]: /\n", 4)
	for text, want := range map[string]bool{
		"<!DOCTYPE html><title>x</title>": true, "Here it is:\n<html lang=en>": true, tree: true,
		"URL: https://a.example/ | Title: A\n# Cart\n" + strings.Repeat("[12] Pay [13] More ", 3) + "\n": true, "URL: see [1] and [2] below\n": false,
		strings.Repeat("uid=1_2 button \"Pay\"\n", 6): true, strings.Repeat("[12] Pay now (button disabled)\n", 6): true,
		"A list:\n- milk\n- eggs\n- bread\n- tea\n- salt\n- rice": false, "": false, "func main() {}": false,
	} {
		if got := looksLikePage(text); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
}

func TestInvalidTranscriptErrorNamesThePosition(t *testing.T) {
	for in, want := range map[string]string{
		"": "empty", "  ": "empty", "1": "byte 0", `"x"`: "byte 0", "[": "incomplete", `[{"a":1}`: "incomplete", "[{]": "byte", "[{}] x": "byte", `[{} {}]`: "comma",
		`{"messages":[}`: "byte", `{"messages" []}`: "colon", `{1:2}`: "name", `[,]`: "byte", `[tru]`: "byte",
	} {
		_, _, err := Transcript([]byte(in), Default())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one with %q", in, err, want)
		}
	}
}

// endless generates the messages of a transcript one by one, and measures the live heap after every tenth of it.
type endless struct {
	message func(i int) []byte
	n, at   int
	rest    []byte
	most    uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		switch {
		case e.at > e.n:
			return 0, io.EOF
		case e.at == e.n:
			e.rest = []byte("]")
		default:
			e.rest = append([]byte{','}, e.message(e.at)...)
			if e.at == 0 {
				e.rest[0] = '['
			}
		}
		if e.at%(e.n/10) == 0 {
			e.most = max(e.most, liveHeap())
		}
		e.at++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// hasRaceDetector reports whether this test was built with -race, which makes everything slower by an order of magnitude.
func hasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestMemoryIsThatOfTheTail streams a transcript of 110 MB, or a tenth of it with the race detector, and measures the live heap.
func TestMemoryIsThatOfTheTail(t *testing.T) {
	text, err := json.Marshal(strings.Repeat(page(1), 8))
	if err != nil {
		t.Fatal(err)
	}
	before := liveHeap()
	e := &endless{n: 4500, message: func(i int) []byte {
		return fmt.Appendf(nil, `{"role":"tool","name":"browser_click","tool_call_id":"%d","content":%s}`, i, text)
	}}
	if hasRaceDetector() {
		e.n /= 15
	}
	stats, err := Stream(io.Discard, e, Options{Keep: 3})
	if err != nil {
		t.Fatal(err)
	}
	if stats.BytesBefore < int64(e.n*24_000) || stats.Removed != e.n-3 {
		t.Errorf("got %+v", stats)
	}
	grown := int64(e.most) - int64(before)
	t.Logf("%d MB, and at most %d KB more on the heap", stats.BytesBefore>>20, grown>>10)
	if grown > stats.BytesBefore/8 {
		t.Errorf("the heap grew by %d KB", grown>>10)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputErrorsAreReported(t *testing.T) {
	if _, err := Stream(brokenPipe{}, bytes.NewReader(session("openai")), Default()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

// FuzzOnlyResultsChange checks for any JSON that the output is JSON of the same structure, that only the values of results differ, and that
// pruning the output again changes nothing.
func FuzzOnlyResultsChange(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data, 1)
	}
	few := strings.Repeat("[1] Pay (button)\n", 8) // the fuzzer minimizes inputs, which takes minutes for long ones
	f.Add(transcript("vercel-ui", []step{newStep("browser_click", few), newStep("x", "Changes: +1 -0 ~0\n  [1] <a>"+strings.Repeat("b", 60)), newStep("", few)}), 1)
	f.Add([]byte(`{"model":"m","messages":[{"role":"tool","content":[{"type":"image","data":"`+strings.Repeat("A", 400)+`"}]}],"messages":[]}`), 0)
	f.Add([]byte(`[{"role":"tool","content":{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":"`+strings.Repeat("A", 400)+`"}},"content":"x"}]`), 0)
	f.Fuzz(func(t *testing.T, in []byte, keep int) {
		o := Options{Keep: keep, MinBytes: 60}
		out, stats, err := Transcript(in, o)
		if err != nil {
			return
		}
		var before, after any
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%s became %s", in, out)
		}
		if n := differences(before, after); n > 4*stats.Removed*(len(in)/60+1) || n > 0 && stats.Removed == 0 {
			t.Errorf("%d values are others, %+v", n, stats)
		}
		if stats.Removed == 0 && !bytes.Equal(in, out) {
			t.Errorf("nothing was removed, and %s became %s", in, out)
		}
		again, _, err := Transcript(out, o)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("pruned again, %s became %s, %v", out, again, err)
		}
	})
}

// FuzzPiecesOfInputDoNotMatter checks for any input that reading it byte by byte gives the same output or error as reading it whole.
func FuzzPiecesOfInputDoNotMatter(f *testing.F) {
	f.Add(transcript("anthropic", []step{newStep("browser_click", strings.Repeat("[1] Pay (button)\n", 8)), newStep("browser_click", strings.Repeat("[2] Go (button)\n", 8))}), 1)
	f.Add([]byte(`{"a":[1,{"b":"\\"}],"messages":[{"role":"tool","content":"\u00e9\\\""} , 1e5,true]}`), 0)
	f.Fuzz(func(t *testing.T, in []byte, keep int) {
		o := Options{Keep: keep, MinBytes: 60}
		want, stats, wantErr := Transcript(in, o)
		var out bytes.Buffer
		got, err := Stream(&out, iotest.OneByteReader(bytes.NewReader(in)), o)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q: %v, at once %v", in, err, wantErr)
		}
		if err == nil && (got != stats || !bytes.Equal(out.Bytes(), want)) {
			t.Errorf("%q became %q, at once %q", in, out.Bytes(), want)
		}
	})
}

// differences counts the values that differ.
func differences(a, b any) int {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(m) != len(a) {
			return 1
		}
		n := 0
		for key, value := range a {
			n += differences(value, m[key])
		}
		return n
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return 1
		}
		n := 0
		for i := range a {
			n += differences(a[i], l[i])
		}
		return n
	}
	if reflect.DeepEqual(a, b) {
		return 0
	}
	return 1
}

func BenchmarkStream(b *testing.B) {
	in := session("openai")
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Stream(io.Discard, bytes.NewReader(in), Default()); err != nil {
			b.Fatal(err)
		}
	}
}
