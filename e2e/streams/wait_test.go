package streams

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// waitBoard is a page whose buttons trigger what tests wait for. Nothing on it happens by itself.
const waitBoard = `<!doctype html><title>Board</title>
<button id=add>Add</button><button id=remove>Remove</button><button id=frame>Frame</button>
<button id=push>Push</button><button id=go>Go</button><button id=fetch>Fetch</button>
<button id=burst>Burst</button><button id=steps>Steps</button><button id=mark>Mark</button><button id=shade>Shade</button><button id=unveil>Unveil</button>
<div id=plain></div><div id=host></div><button id=veiled style="display:none">Veiled</button>
<iframe srcdoc="<p id=inner>Nothing yet</p>"></iframe>
<script>
const on = (id, what) => document.getElementById(id).addEventListener("click", what);
const later = (what) => setTimeout(what, 30);
on("add", () => later(() => { const b = document.createElement("button"); b.id = "fresh"; b.textContent = "Fresh"; document.body.append(b); }));
on("remove", () => later(() => document.getElementById("fresh").remove()));
on("frame", () => later(() => { frames[0].document.getElementById("inner").textContent = "Deep words"; }));
on("push", () => later(() => history.pushState({}, "", "/board/pushed")));
on("go", () => later(() => { location = "/elsewhere"; }));
on("fetch", () => later(async () => {
  await Promise.all([fetch("/slow?1"), fetch("/slow?2")]);
  await fetch("/slow?3");
  document.title = "Fetched";
}));
on("burst", () => { let n = 0; const t = setInterval(() => {
  document.getElementById("add").textContent = "Add " + ++n;
  if (n === 20) clearInterval(t);
}, 20); });
on("steps", () => { let n = 0; const t = setInterval(() => {
  const a = document.createElement("a"); a.href = "#" + ++n; a.textContent = "Step " + n; document.body.append(a, " ");
  if (n === 20) clearInterval(t);
}, 20); });
on("mark", () => later(() => { document.getElementById("plain").className = "marked"; }));
on("shade", () => later(() => { document.getElementById("host").attachShadow({mode: "open"}).innerHTML = "<button class=shaded>Shaded</button>"; }));
on("unveil", () => later(() => { document.getElementById("veiled").style.display = ""; }));
</script>`

// board opens the page and finds its buttons.
type board struct {
	*testenv.Daemon
	t       *testing.T
	tab     string
	buttons map[string]uint32
	// release lets the server answer a request to /slow.
	release chan struct{}
}

func openBoard(t *testing.T) *board {
	t.Helper()
	b := &board{t: t, release: make(chan struct{}, 16)}
	slow := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-b.release:
		case <-r.Context().Done():
		}
	}
	events := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	url := serve(t, map[string]http.HandlerFunc{
		"/board": testenv.HTML(waitBoard), "/slow": slow, "/events": events,
		"/elsewhere": testenv.HTML(`<!doctype html><title>Elsewhere</title><h1>You are elsewhere</h1>`),
		"/streaming": testenv.HTML(`<!doctype html><title>Streaming</title><script>new EventSource("/events")</script><button>X</button>`),
	})
	b.Daemon = testenv.Apart(t)
	b.tab = b.Open(url + "/board")
	b.find()
	return b
}

func (b *board) find() {
	b.buttons = map[string]uint32{}
	for _, e := range b.All(b.tab).GetElements() {
		b.buttons[e.GetText()] = e.GetRef()
	}
}

func (b *board) click(name string) {
	b.t.Helper()
	ref, there := b.buttons[name]
	if !there {
		b.t.Fatalf("there is no %q", name)
	}
	step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}
	if _, err := b.Actions.Interact(b.t.Context(), &domtapv1.InteractRequest{TabId: b.tab, Steps: []*domtapv1.Step{step}}); err != nil {
		b.t.Fatal(err)
	}
}

type outcome struct {
	answer *domtapv1.WaitForResponse
	err    error
}

// wait starts a call and returns immediately. Changes count from the current state of the page, although the call may reach the daemon
// later.
func (b *board) wait(c *domtapv1.WaitCondition) <-chan outcome {
	b.t.Helper()
	now := b.All(b.tab)
	done := make(chan outcome, 1)
	go func() {
		m, err := b.Dom.WaitFor(b.t.Context(), &domtapv1.WaitForRequest{
			TabId: b.tab, Until: c, Timeout: durationpb.New(30 * time.Second), SinceRevision: &now.Revision, Epoch: now.GetEpoch(),
		})
		done <- outcome{m, err}
	}()
	return done
}

func (b *board) met(done <-chan outcome) *domtapv1.WaitForResponse {
	b.t.Helper()
	o := <-done
	if o.err != nil {
		b.t.Fatal(o.err)
	}
	return o.answer
}

func selector(css string, state domtapv1.ElementState) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: css, State: state}}
}

const (
	isGone    = domtapv1.ElementState_ELEMENT_STATE_GONE
	isVisible = domtapv1.ElementState_ELEMENT_STATE_VISIBLE
	isEnabled = domtapv1.ElementState_ELEMENT_STATE_ENABLED
)

func TestWaitForElementsOfARealPage(t *testing.T) {
	b := openBoard(t)
	byName := b.wait(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "button", Name: "fresh"}})
	bySelector := b.wait(selector("#fresh", isEnabled))
	b.click("Add")
	here := b.met(byName)
	fresh := here.GetElement()
	if d := here.GetDiff(); fresh.GetText() != "Fresh" || d.GetAddedCount() != 1 || d.GetAdded()[0].GetRef() != fresh.GetRef() {
		t.Errorf("got %v", here)
	}
	if got := b.met(bySelector).GetElement().GetRef(); got != fresh.GetRef() {
		t.Errorf("by selector it is element %d, by name %d", got, fresh.GetRef())
	}
	gone := []<-chan outcome{
		b.wait(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Ref: proto.Uint32(fresh.GetRef()), State: isGone}}),
		b.wait(selector("#fresh", isGone)),
	}
	b.click("Remove")
	for _, done := range gone {
		if m := b.met(done); m.GetElement() != nil || m.GetRevision() <= here.GetRevision() {
			t.Errorf("got %v", m)
		}
	}
}

func TestWaitForTextInAFrame(t *testing.T) {
	b := openBoard(t)
	done := b.wait(&domtapv1.WaitCondition{Text: "deep WORDS"})
	b.click("Frame")
	if m := b.met(done); m.GetElement().GetText() != "Deep words" || m.GetElement().GetFrameId() == "" {
		t.Errorf("got %v", m)
	}
}

// The text of an alert is in an element whose role takes no name from its content.
func TestWaitForTheWordsOfAnAlert(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(
		`<button onclick="m.textContent = 'Not an address'">Check</button><p id=m role=alert></p>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	button, ok := testenv.Find(d.All(tab), "Check")
	if !ok {
		t.Fatal("there is no button")
	}
	if _, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, button.GetRef())); err != nil {
		t.Fatal(err)
	}
	m, err := d.Dom.WaitFor(testenv.Within(t, testenv.Patience), &domtapv1.WaitForRequest{TabId: tab, Until: &domtapv1.WaitCondition{Text: "not an address"}})
	if err != nil || m.GetElement().GetRole() != "alert" || m.GetElement().GetText() != "Not an address" {
		t.Errorf("got %v, %v", m, err)
	}
}

// The matches of a selector can change without any change of the stored DOM, in shadow trees, and through styles only.
func TestWaitForSelectorsOfARealPage(t *testing.T) {
	b := openBoard(t)
	for _, c := range []struct {
		button, css string
		state       domtapv1.ElementState
		text        string
	}{
		{"Mark", "div.marked", 0, ""},
		{"Shade", "button.shaded", isVisible, "Shaded"},
		{"Unveil", "#veiled", isVisible, "Veiled"},
		{"Frame", "p:not(:empty)", 0, "Deep words"},
	} {
		if c.button == "Frame" { // the frame contains it already
			b.met(b.wait(selector(c.css, c.state)))
			continue
		}
		done := b.wait(selector(c.css, c.state))
		b.click(c.button)
		if m := b.met(done); m.GetElement().GetText() != c.text {
			t.Errorf("%s: got %v", c.css, m)
		}
	}
	for _, css := range []string{"div[", "a >> b", "::nonsense("} {
		o := <-b.wait(selector(css, 0))
		if status.Code(o.err) != codes.InvalidArgument {
			t.Errorf("%q: %v, %v", css, o.answer, o.err)
		}
	}
}

func TestWaitForURLs(t *testing.T) {
	b := openBoard(t)
	pushed := b.wait(&domtapv1.WaitCondition{Url: "*/board/pushed"})
	b.click("Push")
	if m := b.met(pushed); m.GetTitle() != "Board" || m.GetResync() != nil {
		t.Errorf("got %v", m)
	}
	there := b.wait(&domtapv1.WaitCondition{Url: "elsewhere", Text: "you are elsewhere"})
	change := b.wait(&domtapv1.WaitCondition{Change: true})
	bySelector := b.wait(selector("h1", isVisible))
	b.click("Go")
	if m := b.met(there); m.GetElement().GetRole() != "heading" || m.GetResync().GetReason() != "navigated" {
		t.Errorf("got %v", m)
	}
	b.met(change)
	if m := b.met(bySelector); m.GetElement().GetText() != "You are elsewhere" {
		t.Errorf("got %v", m)
	}
}

// The test delays the requests. While one is in flight the wait cannot end, and the page sets its title after the last one.
func TestWaitForNetworkIdleAfterFetches(t *testing.T) {
	b := openBoard(t)
	ref := b.buttons["Fetch"]
	steps := []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}},
		{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{Until: &domtapv1.WaitCondition{NetworkIdle: durationpb.New(200 * time.Millisecond)}}}},
	}
	for range 3 {
		b.release <- struct{}{}
	}
	r, err := b.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: b.tab, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	if r.GetTab().GetTitle() != "Fetched" {
		t.Errorf("the turn ended before the last request: %v", r)
	}
}

// A wait counts requests from their start. Long-lasting requests do not count.
func TestNetworkIdleCountsFiniteRequests(t *testing.T) {
	b := openBoard(t)
	idle := b.wait(&domtapv1.WaitCondition{NetworkIdle: durationpb.New(time.Second), Text: "Fetch"})
	b.click("Fetch")
	fetched := b.wait(&domtapv1.WaitCondition{Change: true})
	for range 3 {
		b.release <- struct{}{}
	}
	b.met(fetched)
	if m := b.met(idle); m.GetTitle() != "Fetched" {
		t.Errorf("got %v", m)
	}
	if _, err := b.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: b.tab, Url: b.url("/streaming")}); err != nil {
		t.Fatal(err)
	}
	b.met(b.wait(&domtapv1.WaitCondition{NetworkIdle: durationpb.New(0)}))
}

// url returns the URL of another page on the same site.
func (b *board) url(path string) string {
	at := b.All(b.tab).GetUrl()
	for i := len("http://"); i < len(at); i++ {
		if at[i] == '/' {
			return at[:i] + path
		}
	}
	return at + path
}

func TestWaitForQuietAfterABurst(t *testing.T) {
	b := openBoard(t)
	changed := b.wait(&domtapv1.WaitCondition{Change: true})
	b.click("Burst")
	if m := b.met(changed); m.GetDiff().GetAddedCount()+m.GetDiff().GetChangedCount() == 0 {
		t.Errorf("got %v", m)
	}
	b.met(b.wait(&domtapv1.WaitCondition{Quiet: durationpb.New(2 * time.Second)}))
	b.find()
	if _, last := b.buttons["Add 20"]; !last {
		t.Errorf("it was quiet before the burst was over: %v", b.buttons)
	}
}

// Two hundred concurrent waits on one tab, for lasting changes and for matches of selectors.
func TestTwoHundredWaitOnOneTab(t *testing.T) {
	b := openBoard(t)
	const many = 200
	ctx := testenv.Within(t, time.Minute)
	answers := make([]*domtapv1.WaitForResponse, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			until := &domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Name: fmt.Sprintf("step %d", i%10+2), Role: "link"}}
			if i%2 == 1 {
				until = selector(fmt.Sprintf("a[href='#%d']", i%10+2), isVisible)
			}
			var err error
			if answers[i], err = b.Dom.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: b.tab, Until: until}); err != nil {
				t.Errorf("wait %d: %v", i, err)
			}
		})
	}
	b.click("Steps")
	all.Wait()
	for i, m := range answers {
		if !t.Failed() && i%2 == 0 && m.GetElement().GetText() != fmt.Sprintf("Step %d", i%10+2) {
			t.Errorf("wait %d ended with %v", i, m)
		}
	}
}

func TestHowWaitsEnd(t *testing.T) {
	b := openBoard(t)
	never := &domtapv1.WaitCondition{Text: "no such text"}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := b.Dom.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: b.tab, Until: never})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the client's deadline: %v", err)
	}
	_, err = b.Dom.WaitFor(t.Context(), &domtapv1.WaitForRequest{TabId: b.tab, Until: never, Timeout: durationpb.New(100 * time.Millisecond)})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the timeout: %v", err)
	}
	done := b.wait(never)
	crashed := b.Open("about:blank")
	crash := make(chan error, 1)
	go func() {
		_, err := b.Dom.WaitFor(t.Context(), &domtapv1.WaitForRequest{TabId: crashed, Until: never})
		crash <- err
	}()
	// The first response after the calls proves that the waits have started, because calls of a tab keep their order.
	b.met(b.wait(&domtapv1.WaitCondition{Text: "Fetch"}))
	if _, err := b.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: b.tab}); err != nil {
		t.Fatal(err)
	}
	if o := <-done; status.Code(o.err) != codes.Aborted && status.Code(o.err) != codes.NotFound {
		t.Errorf("a closed tab: %v", o.err)
	}
	b.Browser.Page(b.Session).Post("Page.crash", struct{}{})
	if err := <-crash; status.Code(err) != codes.Unavailable {
		t.Errorf("a crash: %v", err)
	}
}
