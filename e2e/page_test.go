package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestObserverLeavesNoMark compares what a page's own script can observe in its world and its document, before and after the page is read,
// watched and clicked.
func TestObserverLeavesNoMark(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Mark</title><button id=b class=c>Hi</button><div id=h></div>`)})
	d := testenv.Apart(t)
	tab := d.Open("about:blank")
	if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
		t.Fatal(err)
	}
	const look = `JSON.stringify([Object.getOwnPropertyNames(window).sort(), document.documentElement.outerHTML,
		Object.getOwnPropertyNames(document), Object.getOwnPropertyNames(document.getElementById('b')),
		Element.prototype.attachShadow.toString()])`
	before := testenv.Evaluate[string](t, d, look)
	testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	d.All(tab)
	if after := testenv.Evaluate[string](t, d, look); after != before {
		at := 0
		for at < min(len(before), len(after)) && before[at] == after[at] {
			at++
		}
		t.Errorf("the page sees domtap at %d:\nbefore %.200s\n after %.200s", at, before[at:], after[at:])
	}
	if strings.Contains(before, "domtap") {
		t.Errorf("the page sees domtap: %s", before)
	}
}

// TestWorksUnderAnyPolicy reads and clicks a page whose Content-Security-Policy forbids every script.
func TestWorksUnderAnyPolicy(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'; sandbox")
		testenv.HTML(`<title>Strict</title><a href="/x">Link</a><details><summary>More</summary><button>Inside</button></details>`)(w, r)
	}})
	d := testenv.Apart(t)
	tab := d.Open(url)
	got := d.All(tab)
	if want := "link Link"; len(got.GetElements()) == 0 || testenv.Texts(got)[0] != want {
		t.Fatalf("got %q, want %q first", testenv.Texts(got), want)
	}
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	i := slices.IndexFunc(got.GetElements(), func(e *domtapv1.Element) bool { return e.GetTag() == "summary" })
	r, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, got.GetElements()[i].GetRef()))
	if err != nil {
		t.Fatal(err)
	}
	if r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED || r.GetDiff().GetAddedCount() != 1 {
		t.Errorf("got %v", r)
	}
	if err := f.Reaches(testenv.Within(t, testenv.Patience), testenv.GetDom(t, d, tab)); err != nil {
		t.Error(err)
	}
}

// TestPageCannotConfuseTheObserver clobbers every name that forms and documents allow, and patches the prototypes that the observer relies
// on.
func TestPageCannotConfuseTheObserver(t *testing.T) {
	names := []string{"localName", "getAttribute", "hasAttribute", "hasAttributes", "firstElementChild", "nextElementSibling", "parentNode",
		"shadowRoot", "children", "matches", "textContent", "nodeType", "getRootNode", "isConnected", "assignedSlot", "previousElementSibling", "lastElementChild", "previousSibling", "lastChild"}
	var form strings.Builder
	for _, n := range names {
		fmt.Fprintf(&form, `<input name=%s>`, n)
	}
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>Clobber</title><form>` + form.String() + `<button>Go</button></form>
		<img name=title><img name=documentElement><form name=body></form><button>After</button>
		<script>
			Element.prototype.getAttribute = () => { throw 1 };
			Element.prototype.getBoundingClientRect = () => { throw 1 };
			Array.prototype.push = () => { throw 1 };
			String.prototype.split = Map.prototype.get = () => { throw 1 };
			Object.prototype.toJSON = () => { throw 1 };
		</script>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	got := d.All(tab)
	if got.GetTitle() != "Clobber" {
		t.Errorf("the title is %q", got.GetTitle())
	}
	buttons := slices.DeleteFunc(testenv.Texts(got), func(s string) bool { return !strings.HasPrefix(s, "button") })
	if want := []string{"button Go", "button After"}; !slices.Equal(buttons, want) {
		t.Errorf("got %q, want %q", buttons, want)
	}
	if n := len(got.GetElements()); n < len(names)+2 {
		t.Errorf("%d elements, want at least %d", n, len(names)+2)
	}
	// To find the position of a later element, the observer must walk back over the form.
	testenv.Evaluate[any](t, d, `document.querySelector("form").after(Object.assign(document.createElement("button"), { textContent: "Between" })), 0`)
	buttons = slices.DeleteFunc(testenv.Texts(d.All(tab)), func(s string) bool { return !strings.HasPrefix(s, "button") })
	if want := []string{"button Go", "button Between", "button After"}; !slices.Equal(buttons, want) {
		t.Errorf("after an insertion: got %q, want %q", buttons, want)
	}
}

// TestVeiledPageIsDescribed reads pages that hide themselves as anti-flicker scripts do.
func TestVeiledPageIsDescribed(t *testing.T) {
	page := func(style string) http.HandlerFunc {
		return testenv.HTML(`<title>Veil</title><style id=veil>` + style + `</style><button>Seen <b>soon</b></button><button style="display:none">Never</button>`)
	}
	url := serve(t, map[string]http.HandlerFunc{
		"/visibility": page("body { visibility: hidden !important }"),
		"/opacity":    page("html { opacity: 0 !important }"),
	})
	d := testenv.Apart(t)
	for _, path := range []string{"/visibility", "/opacity"} {
		tab := d.Open(url + path)
		for _, veiled := range []bool{true, false} {
			if got, want := testenv.Texts(d.All(tab)), []string{"button Seen soon"}; !slices.Equal(got, want) {
				t.Errorf("%s, veiled %v: got %q, want %q", path, veiled, got, want)
			}
			testenv.Evaluate[any](t, d, `document.getElementById("veil").remove()`)
		}
	}
}

// TestFramesOfTheSameProcess reads nested frames in their place, and clicks in one.
func TestFramesOfTheSameProcess(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/":      testenv.HTML(`<title>Top</title><button>Before</button><iframe src="/inner" style="margin:40px;border:7px solid"></iframe><button>After</button>`),
		"/inner": testenv.HTML(`<a href="/x">Inner</a><iframe srcdoc="<button onclick='this.textContent=1'>Deep</button>" style="margin:5px"></iframe>`),
	})
	d := testenv.Apart(t)
	tab := d.Open(url)
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	read := func() *domtapv1.GetDomResponse {
		for {
			// On a busy machine the frame's process may answer too late for the read. The answer then reports that.
			if r := testenv.GetDom(t, d, tab); len(r.GetMetadata().GetLateFrames()) == 0 {
				return r
			}
		}
	}
	got := read()
	if want := []string{"button Before", "link Inner", "button Deep", "button After"}; !slices.Equal(testenv.Texts(got), want) {
		t.Fatalf("got %q, want %q", testenv.Texts(got), want)
	}
	deep := got.GetElements()[2]
	r, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, deep.GetRef()))
	if err != nil {
		t.Fatal(err)
	}
	if r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
		t.Errorf("got %v", r)
	}
	now := read()
	if testenv.Texts(now)[2] != "button 1" || now.GetElements()[2].GetRef() != deep.GetRef() {
		t.Errorf("after the click: %q", testenv.Texts(now))
	}
	if err := f.Reaches(testenv.Within(t, testenv.Patience), now); err != nil {
		t.Error(err)
	}
	testenv.Evaluate[any](t, d, `document.querySelector('iframe').remove()`)
	if want := []string{"button Before", "button After"}; !slices.Equal(testenv.Texts(read()), want) {
		t.Errorf("without the frame: %q", testenv.Texts(read()))
	}
}

// TestDuplicatesAreCounted removes one of three equal buttons and adds two.
func TestDuplicatesAreCounted(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(testenv.SomeButtons)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	diff := func() *domtapv1.Diff {
		r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, Incremental: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetDiff()
	}
	if first := diff(); first != nil {
		t.Fatalf("the first call has a diff: %v", first)
	}
	testenv.Evaluate[any](t, d, `document.getElementById("b").remove()`)
	if got := diff(); got.GetRemovedCount() != 1 || got.GetAddedCount() != 0 || got.GetRemoved()[0].GetRef() != 1 {
		t.Errorf("one of three removed: %v", got)
	}
	testenv.Evaluate[any](t, d, `for (let i = 0; i < 2; i++) document.getElementById("a").after(document.createElement("button")), 0`)
	if got := diff(); got.GetAddedCount() != 2 || got.GetRemovedCount() != 0 {
		t.Errorf("two added: %v", got)
	}
}

// TestStreamFollowsNavigation follows a tab over two documents and a change of only the URL.
func TestStreamFollowsNavigation(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/1": testenv.HTML(`<title>One</title><button>First</button>`),
		"/2": testenv.HTML(`<title>Two</title><button>Second</button><a href="#x">Jump</a>`),
	})
	d := testenv.Apart(t)
	tab := d.Open(url + "/1")
	stream, err := d.Dom.WatchDom(testenv.Within(t, testenv.Patience), &domtapv1.WatchDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	r := new(testenv.Replica)
	// until reads messages until one has the wanted kind.
	until := func(what string, is func(*domtapv1.WatchDomResponse) bool) {
		t.Helper()
		for {
			m, err := stream.Recv()
			if err != nil {
				t.Fatalf("waiting for %s: %v", what, err)
			}
			if err := r.Apply(m); err != nil {
				t.Fatal(err)
			}
			if is(m) {
				return
			}
		}
	}
	until("the snapshot", func(m *domtapv1.WatchDomResponse) bool { return m.GetSnapshot() != nil })
	if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url + "/2"}); err != nil {
		t.Fatal(err)
	}
	until("navigated", func(m *domtapv1.WatchDomResponse) bool { return strings.HasSuffix(m.GetNavigated().GetUrl(), "/2") })
	until("the new page", func(*domtapv1.WatchDomResponse) bool {
		return len(r.Elements) == 2 && r.Elements[0].GetText() == "Second"
	})
	if _, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, r.Elements[1].GetRef())); err != nil {
		t.Fatal(err)
	}
	until("the new URL", func(m *domtapv1.WatchDomResponse) bool {
		return m.GetNavigated().GetSameDocument() && strings.HasSuffix(m.GetNavigated().GetUrl(), "#x")
	})
	if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
		t.Fatal(err)
	}
	until("the end", func(m *domtapv1.WatchDomResponse) bool {
		return m.GetTabStatus().GetStatus() == domtapv1.TabStatus_TAB_STATUS_CLOSED
	})
}

// TestCrashedRendererIsReportedAndRecovered crashes a renderer while a stream is open.
func TestCrashedRendererIsReportedAndRecovered(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(testenv.SomeButtons)})
	d := testenv.Shared(t)
	tab := d.Open(url)
	before := d.All(tab)
	stream, err := d.Dom.WatchDom(testenv.Within(t, testenv.Patience), &domtapv1.WatchDomRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	d.Browser.Newest().Post("Page.crash", nil)
	for err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended with %v, want UNAVAILABLE", err)
	}
	if _, err := d.Tabs.Reload(testenv.Within(t, testenv.Patience), &domtapv1.ReloadRequest{TabId: tab}); err != nil {
		t.Fatalf("reloading after the crash: %v", err)
	}
	after := d.All(tab)
	if len(after.GetElements()) != 3 || after.GetEpoch() == before.GetEpoch() {
		t.Errorf("after the crash: %v", after)
	}
	if ref := after.GetElements()[0].GetRef(); ref < 3 {
		t.Errorf("ref %d was given again", ref)
	}
}

// TestPopupsBecomeTabs opens a window with a click.
func TestPopupsBecomeTabs(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/":    testenv.HTML(`<button onclick="window.open('/new')">Open</button>`),
		"/new": testenv.HTML(`<title>New</title><button>Inside</button>`),
	})
	d := testenv.Shared(t)
	tab := d.Open(url)
	r, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, d.FirstControl(tab)))
	if err != nil {
		t.Fatal(err)
	}
	if r.GetVerdict() != domtapv1.Verdict_VERDICT_NEW_TAB {
		t.Errorf("the verdict is %v", r.GetVerdict())
	}
	tabs, err := d.Tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{})
	if err != nil || len(tabs.GetTabs()) != 2 || tabs.GetTabs()[1].GetOpenerTabId() != tab {
		t.Fatalf("got %v, %v", tabs, err)
	}
}

// TestTypingAndFilling types into a field, replaces it, and submits.
func TestTypingAndFilling(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/":     testenv.HTML(`<form action="/done"><label>Name <input name=n value="Ad"></label><textarea aria-label=Note></textarea><input type=password aria-label=Secret><button>Send</button></form>`),
		"/done": testenv.HTML(`<title>Done</title><button>Thanks</button>`),
	})
	d := testenv.Apart(t)
	tab := d.Open(url)
	var refs []uint32
	for _, e := range d.All(tab).GetElements() {
		if e.GetRole() == "textbox" {
			refs = append(refs, e.GetRef())
		}
	}
	at := func(i int) *domtapv1.Target { return &domtapv1.Target{Ref: proto.Uint32(refs[i])} }
	r, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: at(0), Text: "a Lovelace"}}},
		{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at(1), Text: "Zeile 1\nπ ≈ 3 👍"}}},
		{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at(2), Text: "hunter2"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, res := range r.GetResults() {
		if !res.GetOk() {
			t.Errorf("step %d: %v", i, res)
		}
	}
	values := map[uint32]string{}
	for _, e := range d.All(tab).GetElements() {
		values[e.GetRef()] = e.GetValue()
	}
	if got, want := []string{values[refs[0]], values[refs[1]], values[refs[2]]}, []string{"Ada Lovelace", "Zeile 1 π ≈ 3 👍", "••••"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r, err = d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter", Target: at(0)}}},
	}})
	if err != nil || r.GetVerdict() != domtapv1.Verdict_VERDICT_NAVIGATED || r.GetTab().GetTitle() != "Done" {
		t.Errorf("submitting: %v, %v", r, err)
	}
}

// TestCoveredElementIsNotClicked covers a button with a layer.
func TestCoveredElementIsNotClicked(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<button onclick="document.title='clicked'">Under</button>
		<div id=veil style="position:fixed;inset:0;background:#000a" onclick="document.title='veil'"></div>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	_, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, d.FirstControl(tab)))
	if testenv.Reason(err) != "NOT_ACTIONABLE" || !strings.Contains(err.Error(), "veil") {
		t.Errorf("got %v", err)
	}
	if title := testenv.Evaluate[string](t, d, "document.title"); title != "" {
		t.Errorf("something was clicked: %q", title)
	}
}

// TestFramesOfOtherProcesses reads a frame of another site, which Chromium runs in a separate process, follows it, and clicks in it.
func TestFramesOfOtherProcesses(t *testing.T) {
	var other string
	url := serve(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			testenv.HTML(`<title>Top</title><button>Before</button><iframe src="`+other+`/inner" style="margin:60px;border:9px solid"></iframe><button>After</button>`)(w, r)
		},
		"/inner": testenv.HTML(`<a href="/x">Inner</a><button onclick="this.textContent='Clicked'">Press</button>`),
	})
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	d := testenv.Shared(t, "site-per-process")
	tab := d.Open(url)
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	read := func() *domtapv1.GetDomResponse {
		for {
			// On a busy machine the frame's process may answer too late for the read. The answer then reports that.
			if r := testenv.GetDom(t, d, tab); len(r.GetMetadata().GetLateFrames()) == 0 {
				return r
			}
		}
	}
	got := read()
	if want := []string{"button Before", "link Inner", "button Press", "button After"}; !slices.Equal(testenv.Texts(got), want) {
		t.Fatalf("got %q, want %q", testenv.Texts(got), want)
	}
	press := got.GetElements()[2]
	if press.GetRect().GetX() < 60 || press.GetRect().GetY() < 60 || press.GetFrameId() == "" {
		t.Errorf("the button in the frame: %v", press)
	}
	if _, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, press.GetRef())); err != nil {
		t.Fatal(err)
	}
	now := read()
	if testenv.Texts(now)[2] != "button Clicked" || now.GetElements()[2].GetRef() != press.GetRef() {
		t.Errorf("after the click: %q", testenv.Texts(now))
	}
	if err := f.Reaches(testenv.Within(t, testenv.Patience), now); err != nil {
		t.Error(err)
	}
	testenv.Evaluate[any](t, d, `document.querySelector('iframe').remove()`)
	if want := []string{"button Before", "button After"}; !slices.Equal(testenv.Texts(read()), want) {
		t.Errorf("without the frame: %q", testenv.Texts(read()))
	}
}
