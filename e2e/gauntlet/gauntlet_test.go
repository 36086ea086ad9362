package gauntlet

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// TestGauntlet solves small pages as an agent does: it knows of a page only what GetCompact prints, names what
// it acts on by the refs that stand there, and uses no selector. A page counts as solved when its title says so; a page
// on which anything else was hit says that for good. A file of gauntlet has a comment, pages (sections named after
// their path, at http://site.example and http://other.example alike), and the steps, one a line:
//
//	click, dblclick, rightclick, hover, check, uncheck, scroll NAME
//	fill, type NAME = TEXT       \n in TEXT is a line break
//	select NAME = LABEL | LABEL
//	press KEY [NAME]
//	upload NAME = FILE
//	drag NAME -> NAME, drag NAME by X,Y, scroll NAME by X,Y
//	wait TEXT                    until the page shows it
//	accept [TEXT], dismiss       answers a dialog
//	back, newtab, oldtab
//	refused NAME                 a click on it must be refused as not actionable
//	try NAME                     a click on it may be refused
//	note NAME                    remembers its ref, which "click noted" uses; "stale noted" must be refused as stale
//
// NAME is "TEXT" as the line of the element says it, with #2 behind it for the second of that text, and with the
// element's tag before it where that tells it from another: button "Save".
func TestGauntlet(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d pages, want 60 at least: %v", len(files), err)
	}
	site, d := gauntlet(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "page\tsolved\tcalls\ttokens")
	var weighed weights
	played := 0
	tab := "" // all pages are shown in it, one after the other
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		r := &runner{d: d, tab: tab, weighed: &weighed}
		ok := t.Run(name, func(t *testing.T) {
			played++
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			site.archive = a
			r.t = t
			r.solve(section(a, "steps"))
		})
		if tab = r.first; !ok && tab != "" { // another page is not to suffer from what this one did to its tab
			_, _ = d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab})
			tab = ""
		}
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\n", name, ok, r.calls, r.tokens)
	}
	_ = w.Flush()
	t.Logf("\n%s%d diffs cost %d tokens, and their pages %d", table.String(), weighed.diffs, weighed.tokens, weighed.pages)
	if played > 20 && weighed.diffs < played/2 {
		t.Errorf("only %d diffs were weighed", weighed.diffs)
	}
}

// gauntlet serves pages to a daemon.
func gauntlet(t *testing.T) (*gauntletSite, *testenv.Daemon) {
	site := &gauntletSite{}
	base, err := url.Parse(testenv.Serve(t, site))
	if err != nil {
		t.Fatal(err)
	}
	return site, testenv.StartDaemon(t, "site-per-process", "disable-features=HttpsUpgrades",
		fmt.Sprintf("host-resolver-rules=MAP site.example:80 %s, MAP other.example:80 %[1]s, MAP * ~NOTFOUND", base.Host))
}

// gauntletSite serves the pages of the archive that is played.
type gauntletSite struct{ archive *txtar.Archive }

// judge is what every page of the gauntlet begins with.
const judge = `<!doctype html><html lang=en><meta charset=utf-8><title>Gauntlet</title><link rel=icon href="data:,"><script>
let failed = false;
function solved() { if (!failed) document.title = "Solved" }
function wrong(what) { failed = true; document.title = "Wrong: " + what }
</script>`

func (s *gauntletSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := section(s.archive, r.URL.Path)
	if page == "" {
		http.NotFound(w, r)
		return
	}
	testenv.HTML(judge+page)(w, r)
}

// runner solves one page.
type runner struct {
	t             *testing.T
	d             *testenv.Daemon
	first         string // the tab of the page
	tab, opener   string
	popup         string
	noted         uint32
	calls, tokens int
	weighed       *weights
	witness       func(tab string) // called whenever the agent looks at a tab or acted on it; may be nil
}

// weights are what diffs cost, and the pages that they are about.
type weights struct{ diffs, tokens, pages int }

// gauntletLimit bounds each call, so that a page that cannot be solved fails and does not hang.
const gauntletLimit = 30 * time.Second

func (r *runner) solve(script string) {
	r.first = r.d.For(r.t).Show(r.tab, "http://site.example/")
	r.tab = r.first
	r.calls++
	defer func() {
		if r.popup != "" {
			_, _ = r.d.Tabs.CloseTab(r.t.Context(), &domtapv1.CloseTabRequest{TabId: r.popup})
		}
	}()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			r.do(line)
		}
	}
	if text := r.read(); !strings.Contains(text, "| Title: Solved\n") {
		r.t.Errorf("the page is not solved; it reads\n%s", text)
	}
}

// read is what the agent sees of the page.
func (r *runner) read() string {
	r.t.Helper()
	ctx := testenv.Within(r.t, gauntletLimit)
	got, err := r.d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: r.tab})
	for err == nil && len(got.GetMetadata().GetLateFrames()) > 0 {
		got, err = r.d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: r.tab})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.calls++
	r.tokens += tokens.Count(got.GetText())
	r.looked()
	return got.GetText()
}

// looked calls the witness.
func (r *runner) looked() {
	if r.witness != nil {
		r.witness(r.tab)
	}
}

var (
	gauntletLine   = regexp.MustCompile(`(?m)^\[(\d+)\] (?:(.*) )?\((\w+)(?:[^()]|\([^()]*\))*\)(?: ‹.*›)?$`)
	gauntletTarget = regexp.MustCompile(`^(\w*) ?"([^"]*)"(?: #(\d+))?`)
)

// target finds the element that a step names in what the page reads like, and what the step says behind it.
func (r *runner) target(words string) (*domtapv1.Target, string) {
	r.t.Helper()
	if rest, ok := strings.CutPrefix(words, "noted"); ok {
		return &domtapv1.Target{Ref: proto.Uint32(r.noted)}, strings.TrimSpace(rest)
	}
	m := gauntletTarget.FindStringSubmatch(words)
	if m == nil {
		r.t.Fatalf("a step names no target: %s", words)
	}
	text := r.read()
	var refs []uint32
	for _, line := range gauntletLine.FindAllStringSubmatch(text, -1) {
		if line[2] == m[2] && (m[1] == "" || line[3] == m[1]) {
			n, _ := strconv.ParseUint(line[1], 10, 32)
			refs = append(refs, uint32(n))
		}
	}
	n := 1
	if m[3] != "" {
		n, _ = strconv.Atoi(m[3])
	}
	if len(refs) < n || m[3] == "" && len(refs) > 1 {
		r.t.Fatalf("%d elements are named %q; the page reads\n%s", len(refs), m[2], text)
	}
	return &domtapv1.Target{Ref: proto.Uint32(refs[n-1])}, strings.TrimSpace(words[len(m[0]):])
}

// do does one step.
func (r *runner) do(line string) {
	r.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "note":
		target, _ := r.target(rest)
		r.noted = target.GetRef()
	case "refused":
		r.refused(rest, "NOT_ACTIONABLE")
	case "stale":
		r.refused(rest, "STALE_REF")
	case "try":
		target, _ := r.target(rest)
		_, _ = r.act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}})
	case "wait":
		r.wait(strings.Trim(rest, `"`))
	case "accept", "dismiss":
		r.answer(verb == "accept", rest)
	case "newtab":
		r.opener, r.tab = r.tab, r.popup
	case "oldtab":
		r.tab = r.opener
	default:
		if reason, err := r.act(r.step(verb, rest)); reason != "" || err != nil {
			r.t.Fatalf("%s: %s %v", line, reason, err)
		}
	}
}

// refused clicks what must not be clicked.
func (r *runner) refused(words, want string) {
	r.t.Helper()
	target, _ := r.target(words)
	reason, err := r.act(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}})
	if reason != want {
		r.t.Fatalf("click %s: refused with %q (%v), want %s", words, reason, err, want)
	}
}

// act does a step in a call of its own, and says with which reason it failed.
func (r *runner) act(step *domtapv1.Step) (reason string, err error) {
	r.t.Helper()
	r.calls++
	got, err := r.d.Actions.Interact(testenv.Within(r.t, gauntletLimit), &domtapv1.InteractRequest{
		TabId: r.tab, Steps: []*domtapv1.Step{step}, Format: domtapv1.Format_FORMAT_DENSE_DIFF})
	if err != nil {
		return testenv.Reason(err), err
	}
	r.tokens += tokens.Count(got.GetResults()[0].GetSummary() + "\n" + got.GetDiffText())
	r.weigh(got)
	r.looked()
	if got.GetNewTabId() != "" {
		r.popup = got.GetNewTabId()
	}
	if result := got.GetResults()[0]; !result.GetOk() {
		return result.GetReason(), fmt.Errorf("%s", result.GetError())
	}
	return "", nil
}

// weigh fails the test when a diff costs more than the page, unless the page has changed again since.
func (r *runner) weigh(got *domtapv1.InteractResponse) {
	r.t.Helper()
	page, err := r.d.Dom.GetCompact(testenv.Within(r.t, gauntletLimit), &domtapv1.GetCompactRequest{
		TabId: r.tab, Format: domtapv1.Format_FORMAT_DENSE, ClientId: "referee"})
	if err != nil || page.GetRevision() != got.GetTab().GetRevision() {
		return // a dialog is open, or the page changes by itself
	}
	diff, most := tokens.Count(got.GetDiffText()), tokens.Count(page.GetText())
	if diff > 0 {
		r.weighed.diffs++
		r.weighed.tokens += diff
		r.weighed.pages += most
	}
	if diff > most {
		r.t.Errorf("the diff costs %d tokens, and the page %d:\n%s\n%s", diff, most, got.GetDiffText(), page.GetText())
	}
}

func (r *runner) wait(text string) {
	r.t.Helper()
	r.calls++
	_, err := r.d.Dom.WaitFor(testenv.Within(r.t, gauntletLimit), &domtapv1.WaitForRequest{
		TabId: r.tab, Until: &domtapv1.WaitCondition{Text: text}, Timeout: durationpb.New(gauntletLimit)})
	if err != nil {
		r.t.Fatalf("wait for %q: %v; the page reads\n%s", text, err, r.read())
	}
}

func (r *runner) answer(accept bool, text string) {
	r.t.Helper()
	r.calls++
	request := &domtapv1.AnswerDialogRequest{TabId: r.tab, Accept: accept}
	if text != "" {
		request.PromptText = &text
	}
	if _, err := r.d.Tabs.AnswerDialog(testenv.Within(r.t, gauntletLimit), request); err != nil {
		r.t.Fatal(err)
	}
}

// step makes the step of a line.
func (r *runner) step(verb, words string) *domtapv1.Step {
	r.t.Helper()
	if verb == "back" {
		return &domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}
	}
	if verb == "press" {
		key, name, _ := strings.Cut(words, " ")
		press := &domtapv1.PressStep{Key: key}
		if name != "" {
			press.Target, _ = r.target(name)
		}
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: press}}
	}
	target, rest := r.target(words)
	value := strings.ReplaceAll(strings.TrimPrefix(rest, "= "), `\n`, "\n")
	switch verb {
	case "click":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
	case "rightclick":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target, Button: "right"}}}
	case "dblclick":
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: target}}}
	case "hover":
		return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: target}}}
	case "check":
		return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: target}}}
	case "uncheck":
		return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: target}}}
	case "fill":
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: target, Text: value}}}
	case "type":
		return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: target, Text: value}}}
	case "select":
		return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: target, Values: strings.Split(value, " | ")}}}
	case "upload":
		file := &domtapv1.UploadFile{Name: value, Content: []byte("content")}
		return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: target, Files: []*domtapv1.UploadFile{file}}}}
	case "scroll", "drag":
		return r.moving(verb, target, rest)
	}
	r.t.Fatalf("unknown step %s", verb)
	return nil
}

// moving makes a scroll or a drag.
func (r *runner) moving(verb string, target *domtapv1.Target, rest string) *domtapv1.Step {
	r.t.Helper()
	var x, y float64
	if by, ok := strings.CutPrefix(rest, "by "); ok {
		if _, err := fmt.Sscanf(by, "%f,%f", &x, &y); err != nil {
			r.t.Fatalf("%s %s: %v", verb, rest, err)
		}
	}
	if verb == "scroll" {
		return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: target, DeltaX: x, DeltaY: y}}}
	}
	drag := &domtapv1.DragStep{Target: target, DeltaX: x, DeltaY: y}
	if name, ok := strings.CutPrefix(rest, "-> "); ok {
		drag.To, _ = r.target(name)
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: drag}}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}
