package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostile contains texts that would end the element, start another one, or start a script if they were not escaped.
var hostile = []string{
	`</script><script>alert(1)</script>`, `</SCRIPT >`, `<!--<script>`, "]]>\u2028\u2029", `"><img src=x onerror=alert(1)>`, `{{script}}{{data}}{{policy}}`,
	"\x00\xff\xfe", `'; alert(1); '`, `\u003c/script>`, "javascript:alert(1)",
}

// example returns a trace in which every text is the given text.
func example(text string, states, pictures int) Trace {
	tab := Tab{
		ID: text, Log: []Line{{At: 5, Kind: "request", Level: text, Text: text, URL: text, Type: text, Failure: text, Problem: true}},
		Clients: []Client{{Name: text, Calls: 1, Tokens: 3}},
	}
	for i := range states {
		tab.States = append(tab.States, State{At: int64(i * 100), Revision: uint64(i + 1), Text: NewText(fmt.Sprintf("%s\nsame\nrow %d\nsame\n", text, i)), Needed: i%5 == 0})
	}
	for i := range pictures {
		tab.Pictures = append(tab.Pictures, Picture{At: int64(i * 100), Width: 4, Height: 3, PageWidth: 8, Type: "image/jpeg", Data: bytes.Repeat([]byte{byte(i)}, 10_000)})
	}
	for i := range 10 {
		tab.Steps = append(tab.Steps, Step{ID: uint64(i + 1), At: int64(i * 100), End: int64(i*100 + 50), Kind: "turn", Client: text, Action: text, Target: text, Text: text,
			Verdict: text, Outcome: text, Failed: text, Diff: text, Marks: []Mark{{Point: []float64{1, 2}, Box: []float64{1, 2, 3, 4}}}})
	}
	return Trace{Program: text, Started: 1_700_000_000_000, Duration: 10_000, Tabs: []Tab{tab}, Left: []string{text}}
}

func mustMake(t *testing.T, tr Trace, maxBytes int) (string, []string) {
	t.Helper()
	b, left, err := Make(tr, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > maxBytes {
		t.Fatalf("the file has %d bytes, and %d were allowed", len(b), maxBytes)
	}
	return string(b), left
}

var element = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func TestContentOfPagesStaysData(t *testing.T) {
	plain, _ := mustMake(t, example("plain", 3, 1), 1<<20)
	around := func(file string) string {
		if n := len(element.FindAllString(file, -1)); n != 1 {
			t.Fatalf("%d elements of data", n)
		}
		return element.ReplaceAllLiteralString(file, "")
	}
	for _, text := range hostile {
		file, _ := mustMake(t, example(text, 3, 1), 1<<20)
		if around(file) != around(plain) {
			t.Errorf("%q changed what is around the data", text)
		}
		data := element.FindStringSubmatch(file)[1]
		if strings.ContainsAny(data, "<>&\u2028\u2029") {
			t.Errorf("%q is in the data as it is", text)
		}
		var got struct {
			Tabs []struct {
				Steps []struct{ Target string }
				Lines []string
			}
		}
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(text, "\ufffd")
		if text != "\x00\xff\xfe" && (got.Tabs[0].Steps[0].Target != want || got.Tabs[0].Lines[0] != want) {
			t.Errorf("%q became %q", text, got.Tabs[0].Steps[0].Target)
		}
	}
}

func TestTheFileAllowsItsOwnScriptAndStyleAlone(t *testing.T) {
	file, _ := mustMake(t, example("plain", 3, 1), 1<<20)
	policy := html.UnescapeString(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(file)[1])
	for _, tag := range []string{"script", "style"} {
		content := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(file, -1)
		if len(content) != 1 {
			t.Fatalf("%d elements %s", len(content), tag)
		}
		sum := sha256.Sum256([]byte(content[0][1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %s has no %s", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %s", policy)
	}
	for _, bad := range []string{" src=\"", " href=", "url(", "@import", " style=", " onclick", "innerHTML", "insertAdjacentHTML", "document.write", "eval("} {
		if strings.Contains(file, bad) {
			t.Errorf("the file has %s", bad)
		}
	}
}

func TestTheSameTraceMakesTheSameBytes(t *testing.T) {
	for _, limit := range []int{MinBytes, 1 << 20} {
		a, leftA := mustMake(t, example("text", 200, 30), limit)
		b, leftB := mustMake(t, example("text", 200, 30), limit)
		if a != b || !slices.Equal(leftA, leftB) {
			t.Errorf("at most %d bytes: two files differ", limit)
		}
	}
}

func TestWhatDoesNotFitIsLeftOutAndSaid(t *testing.T) {
	tr := example("text", 2000, 100)
	all, left := mustMake(t, tr, 8<<20)
	if len(left) != 1 {
		t.Errorf("with room for all, %q is left out", left)
	}
	small, left := mustMake(t, tr, MinBytes+200_000)
	if len(small) >= len(all) || len(left) < 2 || !strings.Contains(left[1], "of 100 pictures were left out") || !strings.Contains(small, left[1]) {
		t.Errorf("it leaves out %q", left)
	}
	if len(tr.Tabs[0].Pictures) != 100 || len(tr.Tabs[0].States) != 2000 || tr.Tabs[0].Steps[0].Diff == "" {
		t.Error("the caller's trace was changed")
	}
	if _, _, err := Make(tr, MinBytes-1); err == nil {
		t.Error("a size below the least is accepted")
	}
	tr.Tabs[0].Steps = []Step{{Text: strings.Repeat("x", 1<<20)}}
	if _, _, err := Make(tr, MinBytes); err == nil {
		t.Error("a step that does not fit is accepted")
	}
}

// States that steps start or end with are omitted last.
func TestStatesOfStepsStayLongest(t *testing.T) {
	tab := example("text", 100, 0).Tabs[0]
	for slices.ContainsFunc(tab.States[1:], func(s State) bool { return !s.Needed }) {
		if !halveStates(&tab) {
			t.Fatal("nothing can be left out")
		}
	}
	if len(tab.States) != 20 {
		t.Errorf("%d states of 20 steps are there", len(tab.States))
	}
}

func TestEncodedStatesAreReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var states []State
	for i := range 200 {
		var lines []string
		for range random.IntN(6) {
			lines = append(lines, fmt.Sprint("line ", random.IntN(4)))
		}
		states = append(states, State{At: int64(i), Text: NewText(strings.Join(lines, "\n"))})
	}
	table, all := encode(states)
	var now []int
	for i, c := range all { // same as in data.js
		now = slices.Concat(now[:c.First], c.Lines, now[len(now)-c.Last:])
		var lines []string
		for _, l := range now {
			lines = append(lines, table[l])
		}
		if got := NewText(strings.Join(lines, "\n")); !slices.Equal(got, states[i].Text) {
			t.Fatalf("state %d is %v, want %v", i, got, states[i].Text)
		}
	}
}

func TestEveryFileOfThePageIsUsed(t *testing.T) {
	file, _ := mustMake(t, example("plain", 1, 0), 1<<20)
	entries, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := files.ReadFile("page/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if path.Ext(e.Name()) != ".html" && !strings.Contains(file, string(content)) {
			t.Errorf("%s is not in the file", e.Name())
		}
	}
	for _, place := range []string{"{{policy}}", "{{style}}", "{{script}}", "{{data}}"} {
		if strings.Contains(file, place) {
			t.Errorf("the place %s was not filled", place)
		}
	}
}
