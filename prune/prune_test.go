package prune

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

// TestShapes prunes testdata/*.txtar: a transcript of each shape in the section "in", and what comes out of it in "out".
func TestShapes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := Transcript(a.Files[0].Data, Options{Keep: 1, MinBytes: 120})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "out", Data: out}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if string(out) != string(a.Files[1].Data) {
				t.Errorf("got\n%s\nwant\n%s", out, a.Files[1].Data)
			}
		})
	}
}

// page is what a browser tool answers after a step, about as large as a page of a shop.
func page(step int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "URL: https://shop.example/%d | Title: Step %[1]d\n", step)
	for i := range 60 {
		fmt.Fprintf(&b, "[%d] Item %d of step %d, with a name (a →/item/%d)\n", i, i, step, i)
	}
	return b.String()
}

// session is a browsing session of ten steps in every shape: what the user asked, and for each step what the
// assistant thought, the call and its result, and now and then a result of another tool.
func session(shape string) []byte {
	var messages []any
	add := func(m ...any) { messages = append(messages, m...) }
	type o = map[string]any
	add(o{"role": "user", "content": "Find the cheapest teapot. <html> is what pages begin with.", "id": "u1"})
	for i := range 10 {
		id, name, text := fmt.Sprint("call_", i), "browser_click", page(i)
		if i%4 == 3 {
			name, text = "read_file", "<!doctype html><p>"+strings.Repeat("notes ", 50)
		}
		thought := fmt.Sprint("Step ", i, " then.")
		args := o{"ref": i}
		switch shape {
		case "openai":
			add(o{"role": "assistant", "content": thought, "tool_calls": []any{o{"id": id, "type": "function", "function": o{"name": name, "arguments": `{"ref":1}`}}}},
				o{"role": "tool", "tool_call_id": id, "content": text})
		case "responses":
			add(o{"type": "message", "role": "assistant", "content": []any{o{"type": "output_text", "text": thought}}},
				o{"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}, o{"type": "function_call_output", "call_id": id, "output": text})
		case "anthropic":
			add(o{"role": "assistant", "content": []any{o{"type": "text", "text": thought}, o{"type": "tool_use", "id": id, "name": name, "input": args}}},
				o{"role": "user", "content": []any{o{"type": "tool_result", "tool_use_id": id, "content": []any{o{"type": "text", "text": text}}}}})
		case "vercel-ui":
			add(o{"id": id, "role": "assistant", "parts": []any{o{"type": "text", "text": thought},
				o{"type": "tool-" + name, "toolCallId": id, "state": "output-available", "input": args, "output": o{"text": text}}}})
		case "vercel-model":
			add(o{"role": "assistant", "content": []any{o{"type": "tool-call", "toolCallId": id, "toolName": name, "input": args}}},
				o{"role": "tool", "content": []any{o{"type": "tool-result", "toolCallId": id, "toolName": name, "output": o{"type": "text", "value": text}}}})
		case "mcp":
			add(o{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": o{"name": name, "arguments": args}},
				o{"jsonrpc": "2.0", "id": i, "result": o{"content": []any{o{"type": "text", "text": text}}, "isError": false}})
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
	in := []byte(`[{"role":"tool","name":"look","content":"` + strings.Repeat("x", 300) + `"},{"role":"tool","name":"browser_click","content":"` + strings.Repeat("y", 300) + `"}]`)
	for _, c := range []struct {
		o    Options
		want int
	}{
		{Options{}, 1}, {Options{Tools: []string{"look"}}, 1}, {Options{Tools: []string{"*"}}, 2}, {Options{MinBytes: 1000}, 0}, {Options{Keep: -1}, 1},
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

func TestPagesAreToldFromOtherTexts(t *testing.T) {
	tree := strings.Repeat("- button \"Pay\" [ref=e1]\n  - link \"Home\" [ref=e2]: /\n", 4)
	for text, want := range map[string]bool{
		"<!DOCTYPE html><title>x</title>": true, "Here it is:\n<html lang=en>": true, tree: true,
		strings.Repeat("uid=1_2 button \"Pay\"\n", 6): true, strings.Repeat("[12] Pay now (button disabled)\n", 6): true,
		"A list:\n- milk\n- eggs\n- bread\n- tea\n- salt\n- rice": false, "": false, "func main() {}": false,
	} {
		if got := looksLikePage(text); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
}

func TestWhatIsNoTranscriptSaysWhere(t *testing.T) {
	for in, want := range map[string]string{
		"": "empty", "  ": "empty", "1": "byte 0", `"x"`: "byte 0", "[": "middle", `[{"a":1}`: "middle", "[{]": "byte", "[{}] x": "byte", `[{} {}]`: "comma",
		`{"messages":[}`: "byte", `{"messages" []}`: "colon", `{1:2}`: "name", `[,]`: "byte", `[tru]`: "byte",
	} {
		_, _, err := Transcript([]byte(in), Default())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one with %q", in, err, want)
		}
	}
}

// TestMemoryIsThatOfTheTail streams a transcript of 100 MB and looks at what is held back.
func TestMemoryIsThatOfTheTail(t *testing.T) {
	const n = 20_000
	text, err := json.Marshal(strings.Repeat(page(1), 2))
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "[")
		for i := range n {
			_, err := fmt.Fprintf(w, `%s{"role":"tool","name":"browser_click","tool_call_id":"%d","content":%s}`, strings.Repeat(",", min(i, 1)), i, text)
			if err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "]")
		_ = w.Close()
	}()
	p := newPruner(io.Discard, r, Options{Keep: 3}.withDefaults())
	if err := p.transcript(); err != nil {
		t.Fatal(err)
	}
	if p.in.offset < 100<<20 || p.stats.Removed != n-3 {
		t.Errorf("%d bytes, %+v", p.in.offset, p.stats)
	}
	if cap(p.held) > 64 {
		t.Errorf("%d pieces were held back", cap(p.held))
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestErrorsOfTheOutputAreTold(t *testing.T) {
	if _, err := Stream(brokenPipe{}, bytes.NewReader(session("openai")), Default()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

// FuzzOnlyResultsChange holds of any JSON: the output is JSON of the same structure, in which nothing but the values of results
// is another, and pruning it again changes nothing.
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

// differences counts the values that are others.
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
