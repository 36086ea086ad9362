package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

const turnsPage = `<!doctype html><title>Desk</title>
<button id=nothing>Nothing</button> <button id=load>Load</button> <button id=chain>Chain</button> <button id=stream>Stream</button>
<button id=hang>Long poll</button> <button id=ask>Ask</button> <button id=open>Open</button> <button id=push>Push</button>
<button id=make>Make</button> <a href="/done">Submit</a> <label>Email <input id=email></label> <div id=out></div>
<button id=spin>Spin</button> <button id=loop>Loop</button>
<script>
const on = (id, what) => document.getElementById(id).addEventListener("click", what);
const say = (text) => { const b = document.createElement("button"); b.textContent = text; document.getElementById("out").append(b); };
on("load", async () => { say(await (await fetch("/slow")).text()); });
on("chain", async () => { const t = await (await fetch("/slow")).text(); setTimeout(async () => say(t + await (await fetch("/slow?2")).text()), 0); });
on("stream", async () => { await fetch("/stream"); say("Streaming"); });
on("hang", () => { fetch("/never"); });
on("ask", () => { say("Asked"); confirm("Sure?"); });
on("open", () => window.open("/done"));
on("push", () => { history.pushState({}, "", "/pushed"); document.title = "Pushed"; });
on("make", () => say("Made"));
on("spin", () => { setInterval(() => { document.getElementById("out").append(document.createElement("i")); }, 4); });
on("loop", () => { for (;;); });
</script>`

// turnsDesk serves the page. A request to /slow is answered after 150 ms.
func turnsDesk(t *testing.T) (d *testenv.Daemon, url string) {
	url = serve(t, map[string]http.HandlerFunc{
		"/desk": testenv.HTML(turnsPage), "/pushed": testenv.HTML(turnsPage), "/done": testenv.HTML("<!doctype html><title>Thanks</title><h1>Done</h1><button>Again</button>"),
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(150 * time.Millisecond)
			fmt.Fprint(w, "Loaded")
		},
		"/stream": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 4096))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"/never": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	return testenv.Shared(t), url
}

func button(name string) *domtapv1.Step { return clickAt(&domtapv1.Target{Role: "button", Name: name}) }

// interact performs a turn on a fresh copy of the page, in the request's tab or, if the request names none, in a new one.
func interact(t *testing.T, d *testenv.Daemon, url string, r *domtapv1.InteractRequest) (*domtapv1.InteractResponse, error) {
	t.Helper()
	r.TabId = d.Show(r.GetTabId(), url+"/desk")
	return d.Actions.Interact(testenv.Within(t, testenv.Patience), r)
}

func summaries(r *domtapv1.InteractResponse) string {
	var all []string
	for _, one := range r.GetResults() {
		all = append(all, one.GetSummary())
	}
	return strings.Join(all, "; ")
}

func TestATurnSaysWhatItDidToThePage(t *testing.T) {
	d, url := turnsDesk(t)
	tab := ""
	for _, c := range []struct {
		steps   []*domtapv1.Step
		verdict domtapv1.Verdict
		says    string
		added   string // the last element that the diff adds
	}{
		{[]*domtapv1.Step{button("Nothing")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Nothing": ok`, ""}, // the button is focused now
		{[]*domtapv1.Step{button("Make")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Make": ok`, "Made"},
		{[]*domtapv1.Step{button("Load")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Load": ok`, "Loaded"},
		{[]*domtapv1.Step{button("Chain")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Chain": ok`, "LoadedLoaded"},
		{[]*domtapv1.Step{button("Stream")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Stream": ok`, "Streaming"},
		{[]*domtapv1.Step{button("Long poll")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Long poll": ok`, ""},
		{[]*domtapv1.Step{button("Spin")}, domtapv1.Verdict_VERDICT_CHANGED, `click "Spin": ok`, ""},
		{[]*domtapv1.Step{button("Push")}, domtapv1.Verdict_VERDICT_NAVIGATED, `click "Push": ok → Pushed (/pushed)`, ""},
		{[]*domtapv1.Step{typeInto(&domtapv1.Target{Label: "Email"}, "a@b.c"), clickAt(&domtapv1.Target{Text: "Submit"})},
			domtapv1.Verdict_VERDICT_NAVIGATED, `type "Email": ok; click "Submit": ok → Thanks (/done)`, "Again"},
		{[]*domtapv1.Step{clickAt(&domtapv1.Target{Text: "Submit"}), {Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}},
			domtapv1.Verdict_VERDICT_NAVIGATED, `click "Submit": ok → Thanks (/done); back: ok → Desk (/desk)`, "Loop"},
		{[]*domtapv1.Step{button("Open")}, domtapv1.Verdict_VERDICT_NEW_TAB, `click "Open": ok, and tab`, ""},
		{[]*domtapv1.Step{button("Ask"), button("Make")}, domtapv1.Verdict_VERDICT_DIALOG,
			`click "Ask": ok, and a dialog is open: confirm "Sure?"; click button "Make": not done, a dialog is open`, "Asked"},
	} {
		request := &domtapv1.InteractRequest{TabId: tab, Steps: c.steps}
		r, err := interact(t, d, url, request)
		tab = request.GetTabId()
		if err != nil || r.GetVerdict() != c.verdict || !strings.HasPrefix(summaries(r), c.says) {
			t.Errorf("%s: got %q, %v, %v", c.says, summaries(r), r.GetVerdict(), err)
			continue
		}
		added := ""
		if list := r.GetDiff().GetAdded(); len(list) > 0 {
			added = list[len(list)-1].GetText()
		}
		if added != c.added && c.verdict != domtapv1.Verdict_VERDICT_DIALOG {
			t.Errorf("%s: added %q, want %q", c.says, added, c.added)
		}
		if (r.GetNewTabId() != "") != (c.verdict == domtapv1.Verdict_VERDICT_NEW_TAB) {
			t.Errorf("%s: the new tab is %q", c.says, r.GetNewTabId())
		}
	}
}

func TestATurnReadsAndTakesPicturesInBetween(t *testing.T) {
	d, url := turnsDesk(t)
	read := &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}
	shot := &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{}}}
	marked := &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{Marks: true}}}
	r, err := interact(t, d, url, &domtapv1.InteractRequest{Steps: []*domtapv1.Step{read, button("Make"), read, shot, marked}, Format: domtapv1.Format_FORMAT_DIFF})
	if err != nil {
		t.Fatal(err)
	}
	results := r.GetResults()
	if strings.Contains(results[0].GetText(), "Made") || !strings.Contains(results[2].GetText(), "] Made (button)") {
		t.Errorf("read %q, then %q", results[0].GetText(), results[2].GetText())
	}
	png := []byte("\x89PNG")
	if !bytes.HasPrefix(results[3].GetImage(), png) || !bytes.HasPrefix(results[4].GetImage(), png) || bytes.Equal(results[3].GetImage(), results[4].GetImage()) {
		t.Error("the pictures are not two different PNGs")
	}
	if r.GetDiff() != nil || !strings.Contains(r.GetDiffText(), "<button>Made</button>") {
		t.Errorf("the diff is %v and %q", r.GetDiff(), r.GetDiffText())
	}
	r, err = interact(t, d, url, &domtapv1.InteractRequest{Steps: []*domtapv1.Step{button("Nowhere")}, ScreenshotOnError: true})
	if err != nil || r.GetResults()[0].GetReason() != "TARGET_NOT_FOUND" || !bytes.HasPrefix(r.GetResults()[0].GetImage(), png) {
		t.Errorf("a failure with a picture: %v, %v", summaries(r), err)
	}
}

func TestATurnThatRunsOutOfTimeSaysWhatWasDone(t *testing.T) {
	d, url := turnsDesk(t)
	tab := d.Open(url + "/desk")
	r, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{button("Make"), button("Loop"), button("Make")}})
	if err != nil {
		t.Fatal(err)
	}
	results := r.GetResults()
	if !results[0].GetOk() || !results[1].GetOk() || !strings.Contains(results[1].GetSummary(), "but then the page stopped answering") ||
		results[2].GetOk() || results[2].GetReason() != "PAGE_UNRESPONSIVE" {
		t.Errorf("results are %v", results)
	}
	if _, err := d.Tabs.Navigate(testenv.Within(t, testenv.Patience), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/done"}); err != nil {
		t.Errorf("the tab is of no use afterwards: %v", err)
	}
	tab = d.Open(url + "/desk")
	r, err = d.Actions.Interact(testenv.Within(t, time.Second), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{button("Loop"), button("Make")}})
	if status.Code(err) == codes.DeadlineExceeded {
		return // there was no time even for the first click
	}
	if results := r.GetResults(); err != nil || !results[0].GetOk() || !strings.Contains(results[0].GetSummary(), "the call timed out before the page settled") ||
		results[1].GetReason() != "DEADLINE_EXCEEDED" || !strings.Contains(results[1].GetError(), "send the remaining steps") {
		t.Errorf("the answer is %v, %v", r, err)
	}
}

func TestATurnThatLosesItsPageSaysWhatWasDone(t *testing.T) {
	clicked := make(chan struct{}, 1)
	url := serve(t, map[string]http.HandlerFunc{
		"/desk": testenv.HTML(`<button>Make</button><button onclick="fetch('/clicked')">Tell</button>`),
		"/clicked": func(http.ResponseWriter, *http.Request) {
			select {
			case clicked <- struct{}{}:
			default:
			}
		},
	})
	d := testenv.Shared(t)
	wait := &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{Target: &domtapv1.Target{Text: "Never shown"}}}}
	for _, c := range []struct {
		end  string
		code codes.Code
	}{{"Page.crash", codes.Unavailable}, {"Page.close", codes.Aborted}} {
		tab := d.Open(url + "/desk")
		page := d.Browser.Newest()
		ctx := testenv.Within(t, testenv.Patience)
		var answer *domtapv1.InteractResponse
		failed := make(chan error, 1)
		go func() {
			var err error
			answer, err = d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{button("Make"), button("Tell"), wait}})
			failed <- err
		}()
		select {
		case <-clicked: // signalled by the second step, after the first has finished
		case err := <-failed:
			t.Fatalf("%s: the turn ended before its second click: %v, %v", c.end, err, answer)
		}
		page.Post(c.end, nil)
		err := <-failed
		if err == nil && c.end == "Page.crash" && answer.GetTab().GetStatus() == domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE && answer.GetResults()[0].GetOk() {
			continue // the browser reports the crash only after it has written its dump
		}
		if status.Code(err) != c.code || !strings.Contains(err.Error(), `click "Make": ok`) {
			t.Errorf("%s: the error is %v, the answer %v", c.end, err, answer)
		}
	}
}

// For a click that changes one element of a page with 5,000 elements, the answer costs an agent at most 150 tokens.
func TestTheAnswerOfAClickIsSmall(t *testing.T) {
	var page strings.Builder
	page.WriteString(`<!doctype html><title>A page of five thousand elements</title>`)
	for i := range 5000 {
		fmt.Fprintf(&page, "<button>Item %d</button>\n", i)
	}
	page.WriteString(`<button id=like aria-pressed=false>Like</button> <input type=checkbox id=c aria-label=Watch>
		<script>like.onclick = () => { like.ariaPressed = "true"; like.textContent = "Liked" }</script>`)
	d := testenv.Apart(t)
	url := serve(t, map[string]http.HandlerFunc{"/large": testenv.HTML(page.String())})
	tab := ""
	for _, target := range []*domtapv1.Target{{Role: "button", Name: "Like"}, {Label: "Watch"}} {
		for _, format := range []domtapv1.Format{domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_DIFF} {
			tab = d.Show(tab, url+"/large")
			r, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Format: format, Steps: []*domtapv1.Step{clickAt(target)}})
			if err != nil || r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
				t.Fatalf("%v, %v", r, err)
			}
			spaced, err := protojson.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer // without the spaces that protojson writes only in some builds
			if err := json.Compact(&text, spaced); err != nil {
				t.Fatal(err)
			}
			n := tokens.Count(text.String())
			t.Logf("%v: %d tokens: %s", format, n, &text)
			if n > 150 {
				t.Errorf("%v: the answer costs %d tokens, want 150 at most: %s", format, n, &text)
			}
		}
	}
}

// A drag may end at a named element, and a later step may target an element that an earlier step created.
func TestStepsFindWhatEarlierStepsMade(t *testing.T) {
	d, url := turnsDesk(t)
	r, err := interact(t, d, url, &domtapv1.InteractRequest{Steps: []*domtapv1.Step{button("Make"), button("Made"), clickAt(&domtapv1.Target{Selector: "#out button"})}})
	if err != nil || summaries(r) != `click "Make": ok; click "Made": ok; click "Made": ok` {
		t.Errorf("%v, %v", summaries(r), err)
	}
	r, err = interact(t, d, url, &domtapv1.InteractRequest{StopOnError: proto.Bool(false), Url: url + "/done", Steps: []*domtapv1.Step{button("Make"), button("Again")}})
	if err != nil || r.GetResults()[0].GetOk() || !r.GetResults()[1].GetOk() || r.GetVerdict() != domtapv1.Verdict_VERDICT_NAVIGATED {
		t.Errorf("%v, %v", r, err)
	}
}
