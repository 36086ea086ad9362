package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// TestTranscripts runs testdata/*.txtar against the daemon and compares the answers. A file has a comment, pages (sections named after
// their path, such as "/login"), which are available both at http://site.example and at http://other.example, a script, and the expected
// transcript. The script has one command per line. $ stands for the cursor of the last answer:
//
//	open URL                  opens the tab or navigates it
//	lines, tree, diff [OPTIONS]  read the tab, with options such as interactive_only=false max_elements=3 cursor=$
//	click NAME                clicks the first interactive element of that name
//	fill NAME = TEXT          replaces a value
//	press KEY
//	run JAVASCRIPT            runs a script in the page
func TestTranscripts(t *testing.T) {
	site := &transcriptSite{}
	base, err := url.Parse(testenv.Serve(t, site))
	if err != nil {
		t.Fatal(err)
	}
	d := testenv.StartDaemon(t, "site-per-process", "disable-features=HttpsUpgrades",
		fmt.Sprintf("host-resolver-rules=MAP site.example:80 %s, MAP other.example:80 %[1]s, MAP * ~NOTFOUND", base.Host))
	golden.Each(t, "testdata/*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		site.archive = a
		script, _ := a.Section("script")
		a.Compare(t, "transcript", (&talk{t: t, d: d}).play(script))
	})
}

// transcriptSite serves the pages of the current archive.
type transcriptSite struct{ archive *golden.Archive }

func (s *transcriptSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, ok := s.archive.Section(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	testenv.HTML(page)(w, r)
}

// talk runs one transcript.
type talk struct {
	t      *testing.T
	d      *testenv.Daemon
	tab    string
	cursor string
	out    strings.Builder
}

// play runs a script and returns the transcript.
func (k *talk) play(script string) string {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fmt.Fprintf(&k.out, "> %s\n", line)
		command, rest, _ := strings.Cut(line, " ")
		k.run(command, rest)
	}
	if _, err := k.d.Tabs.CloseTab(k.t.Context(), &domtapv1.CloseTabRequest{TabId: k.tab}); err != nil {
		k.t.Error(err)
	}
	return k.out.String()
}

func (k *talk) run(command, rest string) {
	k.t.Helper()
	switch command {
	case "open":
		k.open(rest)
	case "lines":
		k.read(domtapv1.Format_FORMAT_LINES, rest)
	case "tree":
		k.read(domtapv1.Format_FORMAT_TREE, rest)
	case "diff":
		k.read(domtapv1.Format_FORMAT_DIFF, "incremental=true "+rest)
	case "click":
		k.act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: k.target(rest)}}})
	case "fill":
		name, text, _ := strings.Cut(rest, " = ")
		k.act(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: k.target(name), Text: text}}})
	case "press":
		k.act(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: rest}}})
	case "run":
		testenv.Evaluate[any](k.t, k.d, "(() => { "+rest+" })()")
	default:
		k.t.Fatalf("unknown command %q", command)
	}
}

func (k *talk) open(address string) {
	k.t.Helper()
	if k.tab == "" {
		r, err := k.d.Tabs.OpenTab(k.t.Context(), &domtapv1.OpenTabRequest{Url: address})
		if err != nil {
			k.t.Fatal(err)
		}
		k.tab = r.GetTab().GetId()
		return
	}
	if _, err := k.d.Tabs.Navigate(k.t.Context(), &domtapv1.NavigateRequest{TabId: k.tab, Url: address}); err != nil {
		k.t.Fatal(err)
	}
}

// target returns the first interactive element with a name.
func (k *talk) target(name string) *domtapv1.Target {
	k.t.Helper()
	for _, e := range k.complete().GetElements() {
		if e.GetText() == name {
			return &domtapv1.Target{Ref: proto.Uint32(e.GetRef())}
		}
	}
	k.t.Fatalf("no element %q", name)
	return nil
}

// complete reads the tab, with another client ID than the transcript, until all its frames have answered.
func (k *talk) complete() *domtapv1.GetDomResponse {
	k.t.Helper()
	r := testenv.GetDom(k.t, k.d, k.tab)
	for ; len(r.GetMetadata().GetLateFrames()) > 0; r = testenv.GetDom(k.t, k.d, k.tab) {
	}
	return r
}

func (k *talk) act(step *domtapv1.Step) {
	k.t.Helper()
	r, err := k.d.Actions.Interact(testenv.Within(k.t, 20*time.Second), &domtapv1.InteractRequest{TabId: k.tab, Steps: []*domtapv1.Step{step}})
	if err != nil {
		k.t.Fatal(err)
	}
	fmt.Fprintf(&k.out, "(%s)\n", strings.ToLower(strings.TrimPrefix(r.GetVerdict().String(), "VERDICT_")))
}

// read prints the tab, and checks the properties of every text.
func (k *talk) read(format domtapv1.Format, options string) {
	k.t.Helper()
	r := &domtapv1.GetCompactRequest{TabId: k.tab, Format: format, ClientId: "transcript"}
	for _, option := range strings.Fields(options) {
		k.set(r, option)
	}
	k.complete()
	got, err := k.d.Dom.GetCompact(testenv.Within(k.t, 20*time.Second), r)
	if err != nil {
		fmt.Fprintf(&k.out, "error: %v\n", err)
		return
	}
	text := got.GetText()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) }) {
		k.t.Errorf("the text has what no line may have: %q", text)
	}
	if cost := tokens.Count(text); got.GetMetadata().GetTokens() > 0 && cost != int(got.GetMetadata().GetTokens()) {
		k.t.Errorf("the text costs %d tokens, the answer says %d", cost, got.GetMetadata().GetTokens())
	}
	if k.cursor = got.GetMetadata().GetNextCursor(); k.cursor != "" {
		// The number of the cursor depends on earlier reads.
		text = strings.ReplaceAll(text, k.cursor, "$")
	}
	if reason := got.GetResync().GetReason(); reason != "" {
		fmt.Fprintf(&k.out, "(in full: %s)\n", reason)
	}
	k.out.WriteString(text)
}

// set sets an option of a read.
func (k *talk) set(r *domtapv1.GetCompactRequest, option string) {
	k.t.Helper()
	name, value, _ := strings.Cut(option, "=")
	number, _ := strconv.ParseInt(value, 10, 32)
	switch name {
	case "interactive_only":
		r.InteractiveOnly = proto.Bool(value == "true")
	case "viewport_only":
		r.ViewportOnly = value == "true"
	case "incremental":
		r.Incremental = value == "true"
	case "dedupe_navigation":
		r.DedupeNavigation = value == "true"
	case "max_elements":
		r.MaxElements = proto.Int32(int32(number))
	case "max_tokens":
		r.MaxTokens = proto.Int32(int32(number))
	case "root_ref":
		r.RootRef = proto.Uint32(uint32(number))
	case "cursor":
		r.Cursor = k.cursor
	default:
		k.t.Fatalf("unknown option %q", option)
	}
}
