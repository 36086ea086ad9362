package live

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/folders"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/testenv"
)

// tracedPage has a title and texts that contain markup, makes requests, and logs errors.
const tracedPage = `<!doctype html><html lang=en><title>Till &lt;/script>&lt;img src=x onerror=document.title='broken'></title>
	<h1>Till</h1><label>Amount <input></label>
	<button onclick="this.after(Object.assign(document.createElement('button'), {textContent: '</scr' + 'ipt><b>Refund</b>'})); console.error('the till is <b>stuck</b>');
		fetch('/receipt?number=7').catch(() => 0)">Pay now</button>`

// TestATraceIsReadByDomtap records a flow, exports it, and opens the file from disk with domtap, as serve --allow-file-dir permits.
func TestATraceIsReadByDomtap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := folders.New([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	allow := rules.AllowURLIn(files)
	st := &stage{t: t, d: testenv.StartWith(t, tabpool.Config{AllowURL: allow}, server.Config{AllowEval: true}, browser.Config{AllowFile: allow})}
	made := export(t, recordFlow(st))
	if keep := os.Getenv("DOMTAP_TRACE"); keep != "" { // for manual inspection
		if err := os.WriteFile(keep, made, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "trace of a till.html")
	if err := os.WriteFile(path, made, 0o600); err != nil {
		t.Fatal(err)
	}
	st.live = st.d.Open((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())

	for _, part := range []struct {
		name string
		test func(*testing.T, *stage)
	}{
		{"steps and diffs are read", readsSteps}, {"the time is moved by keys", scrubsTheTrace}, {"a request is found", findsARequestOfTheTrace}, {"nothing is asked for", asksForNothing},
		{"no barriers", traceHasNoBarriers}, {"keys do all of it", keysDoAllOfTheTrace}, {"a dark phone shows it", fitsADarkPhone},
	} {
		t.Run(part.name, func(t *testing.T) {
			st.t = t
			part.test(t, st)
		})
	}
}

// recordFlow records a tab in which a client clicks and fills, and returns the recording.
func recordFlow(st *stage) (file string) {
	st.shop = st.d.Open(testenv.Serve(st.t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "no paper", http.StatusServiceUnavailable)
			return
		}
		testenv.HTML(tracedPage)(w, r)
	})))
	ctx := testenv.Within(st.t, limit)
	begun, err := st.d.Recordings.Record(ctx, &domtapv1.RecordRequest{TabId: st.shop})
	if err != nil {
		st.t.Fatal(err)
	}
	st.pictured(ctx)
	// Agents read before they act.
	if _, err := st.d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: st.shop, ClientId: agent, Format: domtapv1.Format_FORMAT_DENSE}); err != nil {
		st.t.Fatal(err)
	}
	if _, err := st.act("Pay now"); err != nil {
		st.t.Fatal(err)
	}
	_, err = st.d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: st.shop, ClientId: agent, Steps: []*domtapv1.Step{fill("Amount", "12 <i>")}})
	if err != nil {
		st.t.Fatal(err)
	}
	if _, err := st.act("Not there"); err == nil {
		st.t.Fatal("a button that is not there was clicked")
	}
	// The failed request is in the log once it is in the timeline.
	for found := false; !found; {
		answer, err := st.d.Timelines.GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: st.shop, Kinds: []domtapv1.TimelineKind{domtapv1.TimelineKind_TIMELINE_KIND_REQUEST}})
		if err != nil {
			st.t.Fatal(err)
		}
		for _, e := range answer.GetEntries() {
			found = found || strings.Contains(e.GetRequest().GetUrl(), "/receipt")
		}
	}
	if _, err := st.d.Recordings.StopRecording(ctx, &domtapv1.StopRecordingRequest{TabId: st.shop}); err != nil {
		st.t.Fatal(err)
	}
	return begun.GetRecordings()[0].GetFile()
}

// export returns the trace of a recording.
func export(t *testing.T, recorded string) []byte {
	t.Helper()
	player, err := replay.Open(t.Context(), recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	made, left, err := player.Export("test", 8<<20)
	if err != nil || len(left) > 1 { // states between the steps may be omitted
		t.Fatalf("%v, and not in the file: %q", err, left)
	}
	again, _, err := player.Export("test", 8<<20)
	if err != nil || string(again) != string(made) {
		t.Errorf("exported again, the file is another one: %v", err)
	}
	return made
}

// says returns the text of an element of the trace.
func (st *stage) says(id string) string {
	st.t.Helper()
	return in[string](st, st.live, `document.getElementById("`+id+`").textContent`)
}

func readsSteps(t *testing.T, st *stage) {
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: `click button "Pay now"`}}}})
	for id, want := range map[string][]string{
		"facts": {agent, "click", `button "Pay now"`, "changed", "ms"}, "diff": {"+ [", "</script><b>Refund</b> (button)"}, "page": {"Pay now", "Amount"},
		"caption": {"used the pointer at"}, "clients": {agent, "4"},
	} {
		for _, text := range want {
			if got := st.says(id); !strings.Contains(got, text) {
				t.Errorf("%s of the click does not have %q:\n%s", id, text, got)
			}
		}
	}
	if page := st.says("page"); strings.Contains(page, "Refund") {
		t.Errorf("before the click, the page has what it added:\n%s", page)
	}
	st.do(click("button", "Show after it"))
	if page := st.says("page"); !strings.Contains(page, "</script><b>Refund</b>") {
		t.Errorf("after the click, the page is\n%s", page)
	}
	const off = `(() => {
		const center = e => { const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2] }
		const image = document.getElementById('picture'), box = image.getBoundingClientRect(), m = document.querySelector('#marks .point').getBoundingClientRect()
		return [image.naturalWidth, (m.left + m.width / 2 - box.left) / box.width, (m.top + m.height / 2 - box.top) / box.height]
	})()`
	button := in[[]float64](st, st.shop, `(r => [r.left / innerWidth, r.top / innerHeight, r.right / innerWidth, r.bottom / innerHeight])(document.querySelector('button').getBoundingClientRect())`)
	if p := in[[]float64](st, st.live, off); p[0] == 0 || p[1] < button[0] || p[1] > button[2] || p[2] < button[1] || p[2] > button[3] {
		t.Errorf("the click is shown at %v, and the button is at %v", p, button)
	}
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: &domtapv1.Target{Role: "combobox", Name: "Show"}, Values: []string{"act"}}}}, click("button", "Next step"))
	if got := st.says("facts"); !strings.Contains(got, "fill") {
		t.Errorf("the next step is %s", got)
	}
}

func scrubsTheTrace(t *testing.T, st *stage) {
	st.do(click("slider", "Time"), press("Home"))
	if page, now := st.says("page"), st.says("now"); strings.Contains(page, "Refund") || !strings.HasPrefix(now, "0:00.00 of ") {
		t.Errorf("at the start it is %s, and the page\n%s", now, page)
	}
	st.do(press("End"))
	if page := st.says("page"); !strings.Contains(page, "Refund") || !strings.Contains(page, "12 <i>") {
		t.Errorf("at the end, the page is\n%s", page)
	}
	before := st.says("now")
	st.do(press("ArrowLeft"))
	if now := st.says("now"); now == before {
		t.Errorf("an arrow key does not move the time from %s", before)
	}
}

func findsARequestOfTheTrace(t *testing.T, st *stage) {
	st.do(fill("Filter", "receipt 503"))
	if rows, found := st.says("log"), st.says("found"); !strings.Contains(rows, "/receipt?number=7") || !strings.HasPrefix(found, "1 of ") {
		t.Errorf("the filter finds %s: %s", found, rows)
	}
	st.do(fill("Filter", "stuck"))
	if rows := st.says("log"); !strings.Contains(rows, "the till is <b>stuck</b>") {
		t.Errorf("the filter finds %s", rows)
	}
	st.do(fill("Filter", ""))
}

// asksForNothing checks that the browser made no requests and that the console contains no policy violation.
func asksForNothing(t *testing.T, st *stage) {
	if n := in[int](st, st.live, `performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length`); n != 0 {
		t.Errorf("the file made %d requests", n)
	}
	log, err := st.d.Pages.ReadLog(testenv.Within(t, limit), &domtapv1.ReadLogRequest{TabId: st.live})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.GetEntries() {
		if e.GetKind() != domtapv1.LogKind_LOG_KIND_NETWORK || e.GetResourceType() != "document" && !strings.HasPrefix(e.GetUrl(), "data:") {
			t.Errorf("the log has %v", e)
		}
	}
	if title := in[string](st, st.live, `document.title + document.querySelectorAll('img').length + document.scripts.length`); !strings.HasPrefix(title, "Trace of ") || !strings.HasSuffix(title, "12") {
		t.Errorf("the title, the images and the scripts are %s", title)
	}
}

func traceHasNoBarriers(t *testing.T, st *stage) {
	audit, err := st.d.Pages.Audit(testenv.Within(t, limit), &domtapv1.AuditRequest{TabId: st.live})
	if err != nil {
		t.Fatal(err)
	}
	if audit.GetErrors() > 0 {
		t.Error(audit.GetText())
	}
	controls, err := st.d.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: st.live})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range controls.GetElements() {
		if e.GetCovered() || e.GetText() == "" {
			t.Errorf("a control is covered or has no name: %v", e)
		}
	}
}

// keysDoAllOfTheTrace uses no pointer. The Tab key must reach each control in the order of the page, and keys must select a step, its diff,
// a time and a request.
func keysDoAllOfTheTrace(t *testing.T, st *stage) {
	walked, last := st.walk(), -1
	for _, want := range []string{"scrub", "previous", "which", agent, "before", "after", "diff", "page", "kind", "filter", "Go to 0:"} {
		at := slices.IndexFunc(walked, func(w focus) bool { return strings.Contains(w.What, want) })
		if at <= last {
			t.Errorf("the Tab key leads to %q as number %d, and to what stands before it as number %d: %v", want, at, last, walked)
		}
		last = max(last, at)
	}
	for _, w := range walked {
		if !w.Visible {
			t.Errorf("the focus on %q cannot be seen", w.What)
		}
	}
	// to presses Tab until a control is focused.
	to := func(id string) {
		t.Helper()
		in[bool](st, st.live, `(b => { b.tabIndex = -1; b.focus(); b.removeAttribute('tabindex'); return true })(document.body)`)
		for range 30 {
			st.do(press("Tab"))
			if in[bool](st, st.live, `document.activeElement.matches("`+id+`")`) {
				return
			}
		}
		t.Fatalf("the Tab key does not lead to %s", id)
	}
	to("#which")
	for range 2 { // everything, and the clients' actions
		st.do(press("ArrowUp"))
	}
	st.do(press("ArrowDown"))
	to("#steps button")
	st.do(press("Home"))
	if got := st.says("facts"); !strings.Contains(got, "Pay now") {
		t.Errorf("the first step is %s", got)
	}
	if got := st.says("diff"); !strings.Contains(got, "Refund") {
		t.Errorf("its diff is %s", got)
	}
	to("#after")
	st.do(press("Enter"))
	if page := st.says("page"); !strings.Contains(page, "Refund") {
		t.Errorf("after the click, the page is\n%s", page)
	}
	to("#scrub")
	st.do(press("Home"))
	if now := st.says("now"); !strings.HasPrefix(now, "0:00.00 of ") {
		t.Errorf("at the start it is %s", now)
	}
	to("#filter")
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Text: "receipt"}}})
	if found := st.says("found"); !strings.HasPrefix(found, "1 of ") {
		t.Errorf("the filter finds %s", found)
	}
	to("#log button")
	st.do(press("Enter"))
	if now := st.says("now"); strings.HasPrefix(now, "0:00.00 of ") {
		t.Errorf("the request leads to %s", now)
	}
	to("#filter")
	st.do(press("Control+a"), press("Delete"))
}

// fitsADarkPhone opens the file in a session with dark mode and a width of 390 px.
func fitsADarkPhone(t *testing.T, st *stage) {
	made, err := st.d.Sessions.CreateSession(testenv.Within(t, limit), &domtapv1.CreateSessionRequest{
		Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{ColorScheme: domtapv1.ColorScheme_COLOR_SCHEME_DARK, Viewport: &domtapv1.Viewport{Width: 390, Height: 844}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := st.d.Tabs.OpenTab(testenv.Within(t, limit), &domtapv1.OpenTabRequest{Url: in[string](st, st.live, "location.href"), SessionId: made.GetSession().GetId()})
	if err != nil {
		t.Fatal(err)
	}
	st.live = opened.GetTab().GetId()
	st.do(click("slider", "Time"), press("End"))
	if wide := in[int](st, st.live, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("at 390 px, the page is %d px wide", wide)
	}
	if ground := in[string](st, st.live, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(14, 18, 23)" {
		t.Errorf("in the dark, the background is %s", ground)
	}
	traceHasNoBarriers(t, st)
}
