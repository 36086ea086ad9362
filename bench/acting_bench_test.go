package bench

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// BenchmarkIntents performs the same two tasks in one call for the whole task, and in one call per step, as tools without turns do. The
// tasks are posting a message on a page with a composer, and filling and sending a form of five fields. It counts the round trips and their
// cost for a model: the tokens of the requests (as JSON, as in a tool call) and of the read parts of the answers (the text of a page; texts
// and the diff of an action).
func BenchmarkIntents(b *testing.B) {
	mux := http.NewServeMux()
	mux.HandleFunc("/composer", serve(composer()))
	mux.HandleFunc("/form", serve(form))
	d := testenv.StartDaemon(b)
	a := &agent{b: b, d: d, url: testenv.Serve(b, mux)}
	a.tab = d.Open("about:blank")
	for b.Loop() {
		a.compare("post", 1, 5, a.postAtOnce, a.postStepByStep)
		a.compare("form", 2, 12, a.fillAtOnce, a.fillStepByStep)
	}
}

func serve(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		fmt.Fprint(w, page)
	}
}

// composer returns a page with thirty posts and a box for a new post.
func composer() string {
	var feed strings.Builder
	for i := range 30 {
		fmt.Fprintf(&feed, `<article><a href="/u/%d">Person %d</a><p>Something that person %d has to say.</p><button>Reply to %[1]d</button><button>Like %[1]d</button></article>`, i, i, i)
	}
	return `<!doctype html><title>Feed</title><nav><a href="/">Home</a> <a href="/explore">Explore</a> <a href="/inbox">Inbox</a></nav>
<div id=m role=textbox contenteditable=true aria-label="What is new?" style="border: 1px solid; min-height: 2em"></div><button id=p disabled>Post</button><main id=f>` + feed.String() + `</main>
<script>
m.oninput = () => p.disabled = !m.textContent;
p.onclick = () => { f.insertAdjacentHTML("afterbegin", "<article><a href=/me>Me</a><p>" + m.textContent + "</p><button>Delete</button></article>"); m.textContent = ""; p.disabled = true; document.title = "Posted" };
</script>`
}

const form = `<!doctype html><title>Sign up</title><form action="javascript:void 0" onsubmit="document.title = [...new FormData(this).values()].join()">
<label>Name <input name=name></label><label>Email <input name=email type=email></label>
<label>Country <select name=country><option value=se>Sweden<option value=no>Norway</select></label>
<label>Born <input name=born type=date></label><label><input type=checkbox name=terms value=yes> I agree</label><button>Sign up</button></form>`

// agent counts the cost of its calls.
type agent struct {
	b             *testing.B
	d             *testenv.Daemon
	url, tab      string
	calls, tokens int
	page          string
}

// compare performs a task in both ways.
func (a *agent) compare(name string, fewest, most int, together, apart func()) {
	a.b.Helper()
	figures := func(what func()) (calls, tokens int) {
		a.calls, a.tokens = 0, 0
		what()
		return a.calls, a.tokens
	}
	calls, cost := figures(together)
	separate, more := figures(apart)
	verdict := "ok"
	if calls > fewest || separate != most {
		verdict = "MISSED"
	}
	a.b.Logf("%-5s in turns: %2d calls, %5d tokens; step by step: %2d calls, %5d tokens (target: %d calls for %d) %s", name, calls, cost, separate, more, fewest, most, verdict)
	a.b.ReportMetric(float64(calls), name+"-calls")
	a.b.ReportMetric(float64(cost), name+"-tokens")
	a.b.ReportMetric(float64(separate), name+"-separate-calls")
	a.b.ReportMetric(float64(more), name+"-separate-tokens")
}

// count counts a call.
func (a *agent) count(request proto.Message, read string) {
	a.calls++
	text, err := protojson.Marshal(request)
	if err != nil {
		a.b.Fatal(err)
	}
	a.tokens += tokens.Count(string(text)) + tokens.Count(read)
}

func (a *agent) interact(r *domtapv1.InteractRequest) {
	a.b.Helper()
	r.TabId, r.Format = a.tab, domtapv1.Format_FORMAT_DIFF
	got, err := a.d.Actions.Interact(a.b.Context(), r)
	if err != nil {
		a.b.Fatal(err)
	}
	var words []string
	for _, result := range got.GetResults() {
		if !result.GetOk() {
			a.b.Fatalf("%s: %s", result.GetSummary(), result.GetError())
		}
		words = append(words, result.GetSummary(), result.GetText())
	}
	a.count(r, strings.Join(append(words, got.GetDiffText()), "\n"))
}

func (a *agent) goTo(path string) {
	a.b.Helper()
	r := &domtapv1.NavigateRequest{TabId: a.tab, Url: a.url + path}
	got, err := a.d.Tabs.Navigate(a.b.Context(), r)
	if err != nil {
		a.b.Fatal(err)
	}
	a.count(r, got.GetTab().GetTitle()+" "+got.GetTab().GetUrl())
}

func (a *agent) read() {
	a.b.Helper()
	r := &domtapv1.GetCompactRequest{TabId: a.tab}
	got, err := a.d.Dom.GetCompact(a.b.Context(), r)
	if err != nil {
		a.b.Fatal(err)
	}
	a.page = got.GetText()
	a.count(r, a.page)
}

// ref finds an element in the last read answer.
func (a *agent) ref(name string) *domtapv1.Target {
	a.b.Helper()
	m := regexp.MustCompile(`(?m)^\[(\d+)\] ` + regexp.QuoteMeta(name) + ` \(`).FindStringSubmatch(a.page)
	if m == nil {
		a.b.Fatalf("there is no %q on the page:\n%s", name, a.page)
	}
	n, err := strconv.ParseUint(m[1], 10, 32)
	if err != nil {
		a.b.Fatal(err)
	}
	return &domtapv1.Target{Ref: proto.Uint32(uint32(n))}
}

// titled checks that the page has processed the action.
func (a *agent) titled(want string) {
	a.b.Helper()
	got, err := a.d.Tabs.GetTab(a.b.Context(), &domtapv1.GetTabRequest{TabId: a.tab})
	if err != nil || got.GetTab().GetTitle() != want {
		a.b.Fatalf("the page says %q, %v, want %q", got.GetTab().GetTitle(), err, want)
	}
}

func click(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

func fill(target *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: target, Text: text}}}
}

const message = "The tide is out until four."

func (a *agent) postAtOnce() {
	a.interact(&domtapv1.InteractRequest{Url: a.url + "/composer", Steps: []*domtapv1.Step{
		fill(&domtapv1.Target{Role: "textbox"}, message), click(&domtapv1.Target{Role: "button", Name: "Post"})}})
	a.titled("Posted")
}

func (a *agent) postStepByStep() {
	a.goTo("/composer")
	a.read()
	box, post := a.ref("What is new?"), a.ref("Post")
	a.interact(&domtapv1.InteractRequest{Steps: []*domtapv1.Step{fill(box, message)}})
	a.interact(&domtapv1.InteractRequest{Steps: []*domtapv1.Step{click(post)}})
	a.read()
	a.titled("Posted")
}

const filled = "Ada,ada@example.com,no,1815-12-10,yes"

func (a *agent) fillAtOnce() {
	a.interact(&domtapv1.InteractRequest{Url: a.url + "/form", Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}}})
	r := &domtapv1.FillFormRequest{TabId: a.tab, Submit: true, Fields: []*domtapv1.FormField{
		{Label: "Name", Value: "Ada"}, {Label: "Email", Value: "ada@example.com"}, {Label: "Country", Value: "Norway"},
		{Label: "Born", Value: "1815-12-10"}, {Label: "I agree"}}}
	got, err := a.d.Actions.FillForm(a.b.Context(), r)
	if err != nil {
		a.b.Fatal(err)
	}
	var words []string
	for _, result := range got.GetResults() {
		words = append(words, result.GetSummary())
	}
	a.count(r, strings.Join(words, "\n"))
	a.titled(filled)
}

func (a *agent) fillStepByStep() {
	a.goTo("/form")
	a.read()
	refs := map[string]*domtapv1.Target{}
	for _, name := range []string{"Name", "Email", "Country", "Born", "I agree", "Sign up"} {
		refs[name] = a.ref(name)
	}
	one := func(step *domtapv1.Step) { a.interact(&domtapv1.InteractRequest{Steps: []*domtapv1.Step{step}}) }
	for _, field := range [][2]string{{"Name", "Ada"}, {"Email", "ada@example.com"}, {"Born", "1815-12-10"}} {
		one(click(refs[field[0]]))
		one(fill(refs[field[0]], field[1]))
	}
	one(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: refs["Country"], Values: []string{"Norway"}}}})
	one(&domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: refs["I agree"]}}})
	one(click(refs["Sign up"]))
	a.read()
	a.titled(filled)
}
