package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/tokens"
)

// answering returns a daemon that answers every request with the given message.
func answering(t *testing.T, answer proto.Message) *fakeDaemon {
	t.Helper()
	daemon := newFakeDaemon(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) { return answer, nil }
	return daemon.start(t)
}

func TestTabsAreATable(t *testing.T) {
	got := newFakeDaemon(t).start(t).at().run(t, "tabs")
	want := "" +
		"TAB  STATUS   HTTP  URL                   TITLE\n" +
		"t1   ready    200   https://one.example/  One\n" +
		"t2   loading  -     about:blank           \n"
	if got.out != want {
		t.Errorf("got\n%s\nwant\n%s", got.out, want)
	}
}

func TestQuietOpenPrintsTheIDAlone(t *testing.T) {
	if got := newFakeDaemon(t).start(t).at().run(t, "open", "-q", "x.example"); got.out != "t1\n" {
		t.Errorf("got %q", got.out)
	}
}

func TestJSONIsOneMessagePerLine(t *testing.T) {
	got := newFakeDaemon(t).start(t).at().run(t, "tabs", "-o", "json")
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines: %q", len(lines), got.out)
	}
	var tab struct{ ID, Title, Status string }
	if err := json.Unmarshal([]byte(lines[1]), &tab); err != nil || tab.ID != "t2" || tab.Status != "TAB_STATUS_LOADING" {
		t.Errorf("%q: %+v, %v", lines[1], tab, err)
	}
	if !strings.Contains(lines[1], `"title":""`) {
		t.Errorf("%q leaves out a field that is empty", lines[1])
	}
}

// TestJSONCannotCommandTheTerminal prints text of a page in every way that prints JSON. No character may affect a terminal, and the parsed
// JSON must equal the text of the page.
func TestJSONCannotCommandTheTerminal(t *testing.T) {
	said := "a\x1b[2J\u202eb\u2066c\u200fd\ufeffe\u009bf\u007fg\u2028h\U000e0041 日本 👍"
	inner, err := json.Marshal(map[string]string{"x": said})
	if err != nil {
		t.Fatal(err)
	}
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		switch r.(type) {
		case *domtapv1.GetDomRequest:
			return &domtapv1.GetDomResponse{Title: said, Metadata: &domtapv1.ViewMetadata{}}, nil
		case *domtapv1.ListTabsRequest:
			return &domtapv1.ListTabsResponse{Tabs: []*domtapv1.Tab{{Id: "t1", Title: said}}}, nil
		case *domtapv1.ExtractRequest:
			return &domtapv1.ExtractResponse{ResultJson: string(inner)}, nil
		case *domtapv1.EvaluateRequest:
			return &domtapv1.EvaluateResponse{ResultJson: string(inner)}, nil
		case *domtapv1.GetStorageStateRequest:
			return &domtapv1.GetStorageStateResponse{State: &domtapv1.StorageState{Cookies: []*domtapv1.Cookie{{Name: said}}}}, nil
		}
		return nil, nil
	}
	daemon.start(t)
	for _, args := range [][]string{
		{"dom", "--json", "--tab", "t1"}, {"tabs", "-o", "json"}, {"extract", "p", "--tab", "t1"}, {"extract", "p", "--tab", "t1", "-o", "json"},
		{"eval", "1", "--tab", "t1"}, {"session", "save", "default", "-"},
	} {
		got := daemon.at().run(t, args...)
		if bad := strings.IndexFunc(got.out, func(r rune) bool { return r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }); bad >= 0 {
			t.Errorf("%v prints %q", args, got.out[bad:min(bad+8, len(got.out))])
		}
		if !strings.Contains(parsedText(t, got.out), said) {
			t.Errorf("%v prints %q, which does not mean %q", args, got.out, said)
		}
	}
}

// parsedText parses JSON, including JSON within its strings, and returns all strings.
func parsedText(t *testing.T, text string) string {
	t.Helper()
	var all strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all.WriteString(v + "\n")
			var inner any
			if json.Unmarshal([]byte(v), &inner) == nil {
				walk(inner)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	walk(parsed)
	return all.String()
}

func TestDomIsATable(t *testing.T) {
	answer := &domtapv1.GetDomResponse{
		Url: "https://shop.example/", Title: "Shop\n\x1b[2J", Revision: 7, Epoch: "e1",
		Metadata: &domtapv1.ViewMetadata{TotalElements: 9, IncludedElements: 3, Tokens: 40, NextCursor: "c1", LateFrames: []string{"F1"}},
		Elements: []*domtapv1.Element{
			{Ref: 0, Tag: "a", Role: "link", Text: "Home", Href: "https://shop.example/home"},
			{Ref: 4, Tag: "input", Type: "checkbox", Role: "checkbox", Text: "Gift wrap", Checked: domtapv1.CheckedState_CHECKED_STATE_TRUE.Enum(), Required: proto.Bool(true)},
			{Ref: 5, Tag: "h2", Level: 2, Disabled: proto.Bool(false)},
		},
	}
	daemon := newFakeDaemon(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) { return answer, nil }
	got := daemon.start(t).at().run(t, "dom", "--tab", "t1")
	want := "" +
		"Shop \ufffd[2J · https://shop.example/\n" +
		"revision 7 of e1 · 3 of 9 elements · 40 tokens as compact text\n" +
		"truncated; continue with --cursor c1\n" +
		"-- frames that did not answer in time: 1; read again\n" +
		"REF  ROLE      TEXT       DETAIL                      STATES\n" +
		"0    link      Home       →https://shop.example/home  \n" +
		"4    checkbox  Gift wrap  type=checkbox               checked required\n" +
		"5    h2                   level=2                     \n"
	if got.out != want {
		t.Errorf("got\n%s\nwant\n%s", got.out, want)
	}
	for _, args := range [][]string{{"dom", "--json"}, {"dom", "-o", "json"}} {
		got := daemon.at().run(t, append(args, "--tab", "t1")...)
		var parsed struct{ Elements []struct{ Ref int } }
		if err := json.Unmarshal([]byte(got.out), &parsed); err != nil || len(parsed.Elements) != 3 {
			t.Errorf("%v: %q, %v", args, got.out, err)
		}
	}
}

func TestCompactIsPrintedAsItIs(t *testing.T) {
	text := "URL: https://shop.example/ | Title: Shop\n[0] Home (a →/home)"
	got := answering(t, &domtapv1.GetCompactResponse{Text: text}).at().run(t, "compact", "--tab", "t1")
	if got.out != text+"\n" {
		t.Errorf("got %q", got.out)
	}
}

func TestReadingSaysWhatItIsAndHowToGoOn(t *testing.T) {
	answer := &domtapv1.ReadPageResponse{
		Mode: domtapv1.ReadMode_READ_MODE_CONTENT, Reason: "a main text stands out", Text: "# Title\n\nText\x1b[2J\n\n", Tokens: 5, TotalTokens: 90,
		NextCursor: "r000000001.2", ChangedSince: true,
		Outline: []*domtapv1.ReadHeading{{Level: 1, Text: "Title", Cursor: "r000000001.0"}, {Level: 2, Text: "Part", Cursor: "r000000001.7"}},
	}
	cmd := answering(t, answer).at()
	footer := "-- content: 5 of 90 tokens\n-- a main text stands out\n-- the page has changed since\n-- continue with --cursor r000000001.2\n"
	if got := cmd.run(t, "read", "t1"); !strings.HasPrefix(got.out, "# Title\n\nText") || !strings.HasSuffix(got.out, footer) || strings.Contains(got.out, "\x1b") {
		t.Errorf("got %q", got.out)
	}
	if got, want := cmd.run(t, "read", "t1", "--outline").out, "Title  (r000000001.0)\n  Part  (r000000001.7)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	file := filepath.Join(t.TempDir(), "page.md")
	if got := cmd.run(t, "read", "t1", "--save", file); !strings.HasPrefix(got.out, file+": 19 bytes\n-- content") {
		t.Errorf("got %q", got.out)
	}
	if saved, err := os.ReadFile(file); err != nil || string(saved) != answer.GetText() {
		t.Errorf("saved %q, %v", saved, err)
	}
	answer.Image, answer.Mode, answer.Marks = []byte("picture"), domtapv1.ReadMode_READ_MODE_VISUAL, make([]*domtapv1.Mark, 3)
	if got := cmd.run(t, "read", "t1", "--save", file); !strings.Contains(got.out, "3 marks") {
		t.Errorf("got %q", got.out)
	}
	if saved, err := os.ReadFile(file); err != nil || string(saved) != "picture" {
		t.Errorf("saved %q, %v", saved, err)
	}
}

func TestVersionIsPrintedByCommandAndFlag(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if got := (command{}).run(t, args...); got.code != exit.OK || !strings.HasPrefix(got.out, "domtap "+programVersion()) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	got := (command{}).run(t, "version", "-o", "json")
	var b build
	if err := json.Unmarshal([]byte(got.out), &b); err != nil || b.Version != programVersion() || b.Go == "" {
		t.Errorf("%q: %v", got.out, err)
	}
}

func TestHelpNamesEveryCommandAndExitCode(t *testing.T) {
	got := (command{}).run(t, "--help")
	for _, cmd := range newRoot(newApp(nil, nil, nil, nil)).Commands() {
		if name := cmd.Name(); !strings.Contains(got.out, "\n  "+name+" ") {
			t.Errorf("the help does not name %s", name)
		}
	}
	for _, code := range []string{"0  ", "1  ", "2  ", "3  ", "4  ", "5  ", "6  ", "7  ", "130  "} {
		if !strings.Contains(got.out, "  "+code) {
			t.Errorf("the help does not name exit code %s", code)
		}
	}
}

func TestHelpSetsCommonFlagsApart(t *testing.T) {
	got := (command{}).run(t, "watch", "--help")
	own, common, found := strings.Cut(got.out, "Common flags: ")
	if !found || !strings.Contains(own, "--count") || !strings.Contains(own, "--timeout") || !strings.Contains(common, "--tab") || strings.Contains(own, "--addr") {
		t.Errorf("got %s", got.out)
	}
	got = (command{}).run(t, "click", "--help")
	if !strings.Contains(got.out, "Target flags: --at --label --name --nth ") || strings.Contains(got.out, "the field with this label") {
		t.Errorf("got %s", got.out)
	}
	got = (command{}).run(t, "click", "--help", "all")
	if !strings.Contains(got.out, "the field with this label") || !strings.Contains(got.out, "the file with the bearer token") {
		t.Errorf("got %s", got.out)
	}
}

// TestHelpAllHasNoEmptyPart checks the complete help of every command: each heading must be followed by flags.
func TestHelpAllHasNoEmptyPart(t *testing.T) {
	forEachCommand(newRoot(newApp(nil, nil, nil, nil)), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		got := (command{}).run(t, append(words, "--help", "all")...)
		for _, heading := range []string{"More flags:", "Target flags:", "Common flags:"} {
			if _, below, found := strings.Cut(got.out, "\n"+heading+"\n"); found && !strings.HasPrefix(strings.TrimLeft(below, " "), "-") {
				t.Errorf("%s: nothing is below %q in %s", cmd.CommandPath(), heading, got.out)
			}
		}
	})
}

// TestHelpIsShort counts the tokens of the help of the commands that agents run.
func TestHelpIsShort(t *testing.T) {
	const most = 250
	for _, cmd := range newRoot(newApp(nil, nil, nil, nil)).Commands() {
		if cmd.GroupID == "daemon" || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		got := (command{}).run(t, cmd.Name(), "--help")
		n := tokens.Count(got.out)
		t.Logf("%4d %s", n, cmd.Name())
		if n > most {
			t.Errorf("the help of %s has %d tokens", cmd.Name(), n)
		}
	}
}

func TestCompletionOffersTabsAndRefs(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.GetDomRequest); ok {
			return &domtapv1.GetDomResponse{Elements: []*domtapv1.Element{
				{Ref: 12, Tag: "button", Role: "button", Text: "Pay"}, {Ref: 3, Tag: "a", Role: "link", Text: "Home"}}}, nil
		}
		return nil, nil
	}
	daemon.start(t)
	for line, want := range map[string]string{
		"__complete compact --tab ": "t1\tOne\nt2\n:4\n",
		"__complete close ":         "t1\tOne\nt2\n:4\n",
		"__complete click 1":        "12\tbutton Pay\n:4\n",
		"__complete click 12 ":      ":4\n",
		"__complete open --wait ":   "load\ncommit\ndom_content_loaded\nnetwork_idle\n:4\n",
		"__complete tabs -o ":       "text\njson\n:4\n",
	} {
		if got := daemon.at().run(t, strings.Split(line, " ")...); got.out != want {
			t.Errorf("%s: got %q, want %q", line, got.out, want)
		}
	}
}

func TestCompletionStartsNoDaemon(t *testing.T) {
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": shortDir(t)}}
	cmd.start = func(context.Context, endpoint.Places) error {
		t.Error("a daemon was started")
		return nil
	}
	if got := cmd.run(t, "__complete", "compact", "--tab", ""); got.out != ":4\n" {
		t.Errorf("got %+v", got)
	}
}

func TestCompletionIsSilentOnErrors(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
		return nil, status.Error(codes.Internal, "no")
	}
	if got := daemon.start(t).at().run(t, "__complete", "click", ""); got.out != ":4\n" || strings.Contains(got.errors, "domtap:") {
		t.Errorf("got %+v", got)
	}
}
