package script

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/golden"
)

// The archives contain entries in protobuf text format, and states. A state has a line with revision and URL, and a line for each element
// with ref, depth, tag, role, text and value.
func TestProgramsOfRecordings(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", 2, func(t *testing.T, a *golden.Archive) {
		entries, _ := a.Section("entries")
		var all domtapv1.GetTimelineResponse
		if err := prototext.Unmarshal([]byte(entries), &all); err != nil {
			t.Fatal(err)
		}
		states, _ := a.Section("states")
		s := New(recorded(all.GetEntries(), parseStates(t, states)))
		a.Compare(t, "script", string(s.Shell()))
		text, err := s.Go()
		if err != nil {
			t.Fatal(err)
		}
		a.Compare(t, "go-test", string(text))
	})
}

// recorded returns a recording of the given entries and states.
func recorded(entries []*domtapv1.TimelineEntry, states []*dom.Snapshot) Recording {
	r := Recording{ID: "r1", Tab: "t1", Entries: entries, UpTo: func(epoch string, revision uint64) *dom.Snapshot {
		for _, s := range slices.Backward(states) {
			if s.Epoch == epoch && s.Revision <= revision {
				return s
			}
		}
		return nil
	}}
	if len(states) > 0 {
		r.First = states[0]
	}
	return r
}

func parseStates(t *testing.T, text string) (all []*dom.Snapshot) {
	t.Helper()
	var elements []*dom.Element
	var around []dom.Ref
	lines := bufio.NewScanner(strings.NewReader(text + "end"))
	for lines.Scan() {
		line := lines.Text()
		var revision uint64
		var url string
		n, _ := fmt.Sscanf(line, "revision %d %s", &revision, &url)
		if n == 2 || line == "end" {
			if len(all) > 0 {
				all[len(all)-1].Elements = dom.ListOf(elements)
			}
			if n == 2 {
				all = append(all, &dom.Snapshot{Revision: revision, URL: url})
			}
			elements, around = nil, nil
			continue
		}
		el := &dom.Element{Parent: dom.NoRef}
		if _, err := fmt.Sscanf(line, "%d %d %s %s %q %q", &el.Ref, &el.Depth, &el.Tag, &el.Role, &el.Text, &el.Value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if around = around[:el.Depth]; el.Depth > 0 {
			el.Parent = around[el.Depth-1]
		}
		around = append(around, el.Ref)
		if el.Role == "row" || el.Role == "cell" || el.Role == "heading" {
			el.Kind = dom.Structural
		}
		elements = append(elements, el)
	}
	return all
}

// hostile returns a recording with the given text in all places that programs include.
func hostile(name string) Recording {
	el := &dom.Element{Ref: 1, Parent: dom.NoRef, Tag: "button", Role: "button", Text: name}
	field := &dom.Element{Ref: 2, Parent: dom.NoRef, Tag: "textarea", Role: "textbox", Text: "Note", Value: name}
	state := &dom.Snapshot{Revision: 1, URL: name, Elements: dom.ListOf([]*dom.Element{el, field})}
	done := func(method string, turn *domtapv1.TimelineTurn) *domtapv1.TimelineEntry {
		return &domtapv1.TimelineEntry{
			Method: method, State: domtapv1.TimelineState_TIMELINE_STATE_DONE, RevisionFrom: 1, RevisionTo: 1,
			Event: &domtapv1.TimelineEntry_Turn{Turn: turn},
		}
	}
	r := recorded([]*domtapv1.TimelineEntry{
		done("Navigate", &domtapv1.TimelineTurn{Url: name}),
		done("Interact", &domtapv1.TimelineTurn{Steps: []*domtapv1.TimelineStep{
			{Kind: "click", Ok: true, Ref: proto.Uint32(1), Role: "button", Name: name, Target: &domtapv1.Target{Ref: proto.Uint32(1)}},
			{Kind: "fill", Ok: true, Target: &domtapv1.Target{Label: "x" + name}, Ref: proto.Uint32(2), Value: name, Length: 1},
			{Kind: "x" + name, Ok: true, Ref: proto.Uint32(1), Target: &domtapv1.Target{Ref: proto.Uint32(1)}},
			{Kind: "hover", Ok: false, Summary: name, Error: name, Reason: name},
		}}),
		{Event: &domtapv1.TimelineEntry_Popup{Popup: &domtapv1.TimelinePopup{Url: name, TabId: name}}},
	}, []*dom.Snapshot{state})
	r.ID, r.Tab = name, name
	return r
}

// FuzzTextsStayInTheirQuotes runs the shell script with a domtap that prints its arguments, and parses the strings of the Go test. The
// strings must contain every text of the page unchanged, and nothing else.
func FuzzTextsStayInTheirQuotes(f *testing.F) {
	for _, seed := range []string{
		"Pay", "it's", `"; touch x; "`, "$(id)", "`id`", "${HOME}", "\\", "a\nb\n", "\n", "-", "--help", "-- -", "\x1b]0;x\a", "\u202egnp", "\u00a0 ", "*/ //go:build x",
		"'\n# '", "!!", "~", "*", "%s%n", "é\u0301漢🙂", "\x00", "\xff", "a\r", "{{.}}", "EOF", "a[b=\"c\"]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 1000 {
			t.Skip()
		}
		s := New(hostile(name))
		goText, err := s.Go()
		if err != nil {
			t.Fatal(err)
		}
		checkGo(t, goText, s)
		checkShell(t, s)
	})
}

// want returns the texts that both programs must contain after the URL.
func (s *Script) want() (texts []string) {
	for _, o := range s.orders {
		for _, text := range []string{o.target.GetName(), o.target.GetLabel(), o.value.text} {
			if o.kind != comment && text != "" {
				texts = append(texts, clean(text))
			}
		}
	}
	return texts
}

func checkGo(t *testing.T, text []byte, s *Script) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "x_test.go", text, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(parsed.Imports) > 5 || len(parsed.Decls) > 4 {
		t.Fatalf("a text became code:\n%s", text)
	}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			one, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, one)
		}
		return true
	})
	for _, want := range s.want() {
		if !slices.Contains(found, want) {
			t.Fatalf("%q is not in\n%s", want, text)
		}
	}
	printable(t, string(text))
}

// printable fails a test if a program contains characters that a terminal does not show unchanged.
func printable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Fatalf("the program has %U:\n%q", r, text)
		}
	}
}

// stub is a domtap that prints its arguments, each followed by NUL.
const stub = `domtap() { if [ "$1" != open ] && [ "$1" != close ]; then for a in "$@"; do printf '%s\0' "$a"; done; fi; }
`

func checkShell(t *testing.T, s *Script) {
	t.Helper()
	text := string(s.Shell())
	printable(t, text)
	for _, in := range s.inputs {
		text = in.name + "=typed\n" + text
	}
	cmd := exec.Command("sh", "-s")
	cmd.Dir, cmd.Env = t.TempDir(), []string{"LC_ALL=C"}
	cmd.Stdin = strings.NewReader(stub + text)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%v: %s\n%s", err, problems.String(), text)
	}
	got := strings.Split(string(out), "\x00")
	var want []string
	for _, o := range s.orders {
		want = append(want, words(o)...)
	}
	if want = append(want, ""); !slices.Equal(got, want) {
		t.Fatalf("the commands were\n%q and not\n%q\n%s", got, want, text)
	}
}

// words returns the arguments of the orders that result from hostile.
func words(o order) (out []string) {
	switch o.kind {
	case comment:
		return nil
	case "url", "text":
		return []string{"wait", "--" + o.kind, clean(o.value.text)}
	}
	out = append(out, o.kind)
	for _, flag := range [][2]string{{"--role", o.target.GetRole()}, {"--name", o.target.GetName()}, {"--label", o.target.GetLabel()}, {"--selector", o.target.GetSelector()}, {"--placeholder", o.target.GetPlaceholder()}} {
		if flag[1] != "" {
			out = append(out, flag[0], clean(flag[1]))
		}
	}
	switch {
	case o.kind == "click" || o.kind == "wait":
		return out
	case o.kind == "fill" && (o.value.input != "" || o.value.text == "-"):
		return append(out, "-")
	case o.value.input != "":
		return append(out, "--", "typed")
	case strings.HasPrefix(o.value.text, "-"):
		out = append(out, "--")
	}
	return append(out, clean(o.value.text))
}

// Any entries of a file can be converted to programs.
func FuzzProgramsAreMadeOfAnyEntries(f *testing.F) {
	seed, err := proto.Marshal(&domtapv1.GetTimelineResponse{Entries: hostile("x").Entries})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		var all domtapv1.GetTimelineResponse
		if proto.Unmarshal(b, &all) != nil {
			t.Skip()
		}
		r := hostile("x")
		r.Entries = all.GetEntries()
		s := New(r)
		printable(t, string(s.Shell()))
		if _, err := s.Go(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestInputsHaveNamesOfVariables(t *testing.T) {
	b := builder{named: map[string]bool{}}
	for _, one := range []struct{ words, want string }{
		{"Password", "INPUT_PASSWORD"}, {"Password", "INPUT_PASSWORD_2"}, {"E-mail  address:", "INPUT_E_MAIL_ADDRESS"}, {"漢字", "INPUT_TEXT"}, {"", "INPUT_TEXT_2"},
		{"1;rm -rf $HOME", "INPUT_1_RM_RF_HOME"},
	} {
		if got := b.input(one.words, "").input; got != one.want {
			t.Errorf("%q: %s, want %s", one.words, got, one.want)
		}
	}
}
