package streams

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// patience limits how long a change may take to arrive on an overloaded machine. The speed of streams is specified in docs/stream.md and
// measured by bench.
const patience = testenv.Patience

// unseenChange is a change without mutation records, or with records that do not show it.
type unseenChange struct {
	name string
	// bound is the corresponding row in the table of bounds in docs/stream.md.
	bound string
	page  string
	// files returns handlers for files beside the page. A release delays responses until a step permits them.
	files func(r *release) map[string]http.HandlerFunc
	// view is the request for the watched view. If nil, the default is watched.
	view  *domtapv1.WatchDomRequest
	steps []unseenStep
}

// unseenStep is one change: by a script of the page, by a user, or by the network.
type unseenStep struct {
	script string
	act    func(u *unseenPage)
	// want lists the elements that the stream must then show, as shownAs formats them.
	want []string
}

// release delays responses of the server.
type release struct{ let chan struct{} }

// hold answers a request once the release permits it.
func (r *release) hold(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		select {
		case <-r.let:
		case <-q.Context().Done():
			return
		}
		w.Header().Set("content-type", contentType)
		w.Header().Set("access-control-allow-origin", "*")
		_, _ = w.Write(body)
	}
}

func letGo(u *unseenPage) { close(u.release.let) }

// unseenPage is the page of a change, in a watched tab.
type unseenPage struct {
	*testing.T
	page    *browser.Page
	release *release
}

// call sends a CDP command.
func (u *unseenPage) call(method string, params any) {
	u.Helper()
	if err := u.page.Call(u.Context(), method, params, nil); err != nil {
		u.Fatal(err)
	}
}

// run runs a script of the page, which must not fail.
func (u *unseenPage) run(script string) {
	u.Helper()
	var out struct {
		Exception *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := u.page.Call(u.Context(), "Runtime.evaluate", map[string]any{"expression": "{" + script + "\n}; 0"}, &out); err != nil {
		u.Fatal(err)
	}
	if out.Exception != nil {
		u.Fatalf("%s: %s", script, out.Exception.Exception.Description)
	}
}

// point moves the pointer.
func point(x, y int) func(*unseenPage) {
	return func(u *unseenPage) {
		u.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": x, "y": y})
	}
}

// media emulates a media feature.
func media(feature, value string) func(*unseenPage) {
	return func(u *unseenPage) {
		u.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": feature, "value": value}}})
	}
}

// window emulates a window size.
func window(width, height int) func(*unseenPage) {
	return func(u *unseenPage) {
		u.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	}
}

// shownAs formats the properties of an element that matter here.
func shownAs(e *domtapv1.Element) string {
	s := e.GetTag() + " " + e.GetText()
	if e.GetValue() != "" {
		s += " =" + e.GetValue()
	}
	switch e.GetChecked() {
	case domtapv1.CheckedState_CHECKED_STATE_TRUE:
		s += " checked"
	case domtapv1.CheckedState_CHECKED_STATE_MIXED:
		s += " mixed"
	}
	if e.GetDisabled() {
		s += " disabled"
	}
	return s
}

// shows waits until the stream shows these elements. It makes no requests, because the stream itself must report the change.
func shows(ctx context.Context, f *testenv.Follower, want []string) error {
	for {
		elements, news, err := f.State()
		var got []string
		for _, e := range elements {
			got = append(got, shownAs(e))
		}
		switch {
		case slices.Equal(got, want):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("the stream shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// viewOf returns the GetDom request for the view of a stream.
func viewOf(r *domtapv1.WatchDomRequest) *domtapv1.GetDomRequest {
	return &domtapv1.GetDomRequest{
		TabId: r.GetTabId(), ViewportOnly: r.GetViewportOnly(), MaxElements: r.MaxElements, MaxTokens: r.MaxTokens,
		InteractiveOnly: r.InteractiveOnly, FullSnapshot: r.GetFullSnapshot(),
	}
}

// TestChangesWithoutMutationRecords makes, one by one, the changes that the page's mutation observer cannot detect. A stream must report
// each by itself, and its state must then equal the response of GetDom.
func TestChangesWithoutMutationRecords(t *testing.T) {
	d := testenv.Shared(t, "site-per-process")
	var opening sync.Mutex
	for _, c := range unseenChanges {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, d, &opening)
		})
	}
}

func (c unseenChange) run(t *testing.T, d *testenv.Daemon, opening *sync.Mutex) {
	r := &release{let: make(chan struct{})}
	files := map[string]http.HandlerFunc{}
	if c.files != nil {
		files = c.files(r)
	}
	var other string
	files["/"] = func(w http.ResponseWriter, q *http.Request) {
		testenv.HTML("<!doctype html><link rel=icon href='data:,'>"+strings.ReplaceAll(c.page, "OTHER", other))(w, q)
	}
	url := serve(t, files)
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	opening.Lock()
	tab := openAtOnce(t, d, url)
	u := &unseenPage{T: t, page: d.Browser.Newest(), release: r}
	opening.Unlock()
	request := &domtapv1.WatchDomRequest{}
	if c.view != nil {
		request = proto.CloneOf(c.view)
	}
	request.TabId = tab
	f := testenv.Follow(t, d, request)
	for i, s := range c.steps {
		if s.script != "" {
			u.run(s.script)
		}
		if s.act != nil {
			s.act(u)
		}
		if err := shows(testenv.Within(t, patience), f, s.want); err != nil {
			t.Fatalf("step %d, %s: %v", i, s.script, err)
		}
		if err := agree(t, d, f, viewOf(request)); err != nil {
			t.Fatalf("step %d, %s: %v", i, s.script, err)
		}
	}
}

// openAtOnce opens a page that may never load completely, and closes it at the end of the test.
func openAtOnce(t *testing.T, d *testenv.Daemon, url string) string {
	t.Helper()
	opened, err := d.Tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: url, WaitUntil: domtapv1.WaitUntil_WAIT_UNTIL_COMMIT})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	t.Cleanup(func() {
		if _, err := d.Tabs.CloseTab(context.WithoutCancel(t.Context()), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	})
	return tab
}

// The beginnings of the rows in the table of bounds in docs/stream.md.
const (
	atOnce      = "elements, attributes, text"
	byScript    = "`value`, `checked`"
	byStyle     = "style sheets that show or hide"
	byLayout    = "what moves without a change of the DOM"
	byScrolling = "a scroll or a resize"
	byRoots     = "open shadow roots"
	byClosed    = "closed shadow roots"
	byInternals = "roles, names and states of `elementInternals`"
)

// TestEveryBoundIsOfTheDocument checks that the rows named by the changes exist in the table.
func TestEveryBoundIsOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/stream.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, c := range unseenChanges {
		used[c.bound] = true
		if !strings.Contains(string(text), "\n| "+c.bound) {
			t.Errorf("%s: docs/stream.md has no row %q", c.name, c.bound)
		}
	}
	_, table, _ := strings.Cut(string(text), "## Bounds")
	for line := range strings.Lines(table) {
		row, found := strings.CutPrefix(line, "| ")
		if !found || strings.HasPrefix(row, "change ") || strings.Contains(row, "TestStreams") || strings.Contains(row, "| never") {
			continue
		}
		if !slices.ContainsFunc(unseenChanges, func(c unseenChange) bool { return strings.HasPrefix(row, c.bound) }) {
			t.Errorf("no change tests the row %q", row)
		}
	}
}

var inViewport = &domtapv1.WatchDomRequest{ViewportOnly: true}

var wholePage = &domtapv1.WatchDomRequest{FullSnapshot: true}

var unseenChanges = []unseenChange{
	{
		name: "an image that gets and loses its text", bound: atOnce, view: wholePage,
		page: `<img id=i alt="" style="width: 9px; height: 9px" hidden><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `i.alt = "Chart"; i.hidden = false`, want: []string{"img Chart", "button B"}},
			{script: `i.alt = "Map"`, want: []string{"img Map", "button B"}},
			{script: `i.alt = ""`, want: []string{"button B"}},
		},
	},
	{
		name: "value by script", bound: byScript,
		page: `<input id=i aria-label=Input value=a><textarea id=t aria-label=Area>b</textarea>`,
		steps: []unseenStep{
			{want: []string{"input Input =a", "textarea Area =b"}},
			{script: `i.value = "x"`, want: []string{"input Input =x", "textarea Area =b"}},
			{script: `t.value = "y"`, want: []string{"input Input =x", "textarea Area =y"}},
			{script: `i.setRangeText("z")`, want: []string{"input Input =xz", "textarea Area =y"}},
			{script: `i.value = ""; t.value = ""`, want: []string{"input Input", "textarea Area"}},
		},
	},
	{
		name: "checked by script", bound: byScript,
		page: `<input type=checkbox id=c aria-label=Box><input type=radio name=r id=a aria-label=A checked><input type=radio name=r id=b aria-label=B>`,
		steps: []unseenStep{
			{want: []string{"input Box", "input A checked", "input B"}},
			{script: `c.checked = true`, want: []string{"input Box checked", "input A checked", "input B"}},
			{script: `b.checked = true`, want: []string{"input Box checked", "input A", "input B checked"}},
			{script: `c.checked = b.checked = false`, want: []string{"input Box", "input A", "input B"}},
		},
	},
	{
		name: "indeterminate by script", bound: byScript,
		page: `<input type=checkbox id=c aria-label=Box>`,
		steps: []unseenStep{
			{want: []string{"input Box"}},
			{script: `c.indeterminate = true`, want: []string{"input Box mixed"}},
			{script: `c.indeterminate = false`, want: []string{"input Box"}},
		},
	},
	{
		name: "selectedIndex by script", bound: byScript,
		page: `<select id=s aria-label=List><option>One<option>Two<option>Three</select>`,
		steps: []unseenStep{
			{want: []string{"select List =One"}},
			{script: `s.selectedIndex = 2`, want: []string{"select List =Three"}},
			{script: `s.options[1].selected = true`, want: []string{"select List =Two"}},
			{script: `s.value = "One"`, want: []string{"select List =One"}},
		},
	},
	{
		name: "a form that is reset by script", bound: byScript,
		page: `<form id=f><input aria-label=Name value=a><input type=checkbox aria-label=Box></form>`,
		steps: []unseenStep{
			{want: []string{"input Name =a", "input Box"}},
			{script: `f[0].value = "b"; f[1].checked = true`, want: []string{"input Name =b", "input Box checked"}},
			{script: `f.reset()`, want: []string{"input Name =a", "input Box"}},
		},
	},
	{
		name: "scroll", bound: byScrolling, view: inViewport,
		page: `<button>Top</button><div style="height:5000px"></div><button>Bottom</button>`,
		steps: []unseenStep{
			{want: []string{"button Top"}},
			{script: `scrollTo(0, 9999)`, want: []string{"button Bottom"}},
			{script: `scrollTo(0, 0)`, want: []string{"button Top"}},
		},
	},
	{
		name: "scroll of a box", bound: byScrolling, view: inViewport,
		page: `<div id=box style="height:90vh;overflow:auto"><button>Top</button><div style="height:5000px"></div><button>Bottom</button></div>`,
		steps: []unseenStep{
			{want: []string{"button Top"}},
			{script: `box.scrollTop = 9999`, want: []string{"button Bottom"}},
			{script: `box.scrollTop = 0`, want: []string{"button Top"}},
		},
	},
	{
		name: "resize", bound: byScrolling, view: inViewport,
		page: `<button>Top</button><div style="height:300px"></div><button>Bottom</button>`,
		steps: []unseenStep{
			{want: []string{"button Top", "button Bottom"}},
			{act: window(800, 200), want: []string{"button Top"}},
			{act: window(800, 600), want: []string{"button Top", "button Bottom"}},
		},
	},
	{
		name: "hover", bound: byStyle,
		page: `<style>#menu { display: none } #bar:hover #menu { display: block }</style><div id=bar style="width:200px"><button>Menu</button><div id=menu><a href="/1">Entry</a></div></div>`,
		steps: []unseenStep{
			{want: []string{"button Menu"}},
			{act: point(20, 20), want: []string{"button Menu", "a Entry"}},
			{act: point(600, 500), want: []string{"button Menu"}},
		},
	},
	{
		name: "media query of the width", bound: byStyle,
		page: `<style>@media (max-width: 500px) { #wide { display: none } } @media (min-width: 501px) { #narrow { display: none } }</style><button id=wide>Wide</button><button id=narrow>Narrow</button>`,
		steps: []unseenStep{
			{want: []string{"button Wide"}},
			{act: window(400, 600), want: []string{"button Narrow"}},
			{act: window(900, 600), want: []string{"button Wide"}},
		},
	},
	{
		name: "media query of the colours", bound: byStyle,
		page: `<style>@media (prefers-color-scheme: dark) { #light { display: none } } @media (prefers-color-scheme: light) { #dark { display: none } }</style><button id=light>Light</button><button id=dark>Dark</button>`,
		steps: []unseenStep{
			{want: []string{"button Light"}},
			{act: media("prefers-color-scheme", "dark"), want: []string{"button Dark"}},
			{act: media("prefers-color-scheme", "light"), want: []string{"button Light"}},
		},
	},
	{
		name: "animation that ends hidden or shown", bound: byStyle,
		page: `<style>@keyframes go { to { visibility: hidden } } @keyframes come { from { visibility: hidden } }
			#a { animation: go .4s step-end forwards paused } #b { animation: come .4s step-end backwards paused } .run * { animation-play-state: running !important }</style>
			<div id=box><button id=a>Goes</button><button id=b>Comes</button></div>`,
		steps: []unseenStep{
			{want: []string{"button Goes"}},
			{script: `box.className = "run"`, want: []string{"button Comes"}},
		},
	},
	{
		name: "animation by script", bound: byStyle,
		page: `<button id=a>Goes</button><button>Stays</button>`,
		steps: []unseenStep{
			{want: []string{"button Goes", "button Stays"}},
			{script: `window.run = a.animate({ opacity: [1, 0] }, { duration: 300, fill: "forwards" })`, want: []string{"button Stays"}},
			{script: `run.cancel()`, want: []string{"button Goes", "button Stays"}},
		},
	},
	{
		name: "transition that ends hidden or shown", bound: byStyle,
		page: `<style>#a { transition: opacity .3s } .off #a { opacity: 0 }</style><div id=box><button id=a>Fades</button></div><button>Stays</button>`,
		steps: []unseenStep{
			{want: []string{"button Fades", "button Stays"}},
			{script: `box.className = "off"`, want: []string{"button Stays"}},
			{script: `box.className = ""`, want: []string{"button Fades", "button Stays"}},
		},
	},
	{
		name: "insertRule and deleteRule", bound: byStyle,
		page: `<style>b { color: red }</style><button id=a>A</button><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button A", "button B"}},
			{script: `document.styleSheets[0].insertRule("#a { display: none }")`, want: []string{"button B"}},
			{script: `document.styleSheets[0].deleteRule(0)`, want: []string{"button A", "button B"}},
		},
	},
	{
		name: "adopted style sheets", bound: byStyle,
		page: `<button id=a>A</button><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button A", "button B"}},
			{script: `window.sheet = new CSSStyleSheet(); document.adoptedStyleSheets = [sheet]; sheet.replaceSync("#a { display: none }")`, want: []string{"button B"}},
			{script: `sheet.replaceSync("b { color: red }")`, want: []string{"button A", "button B"}},
			{script: `sheet.replaceSync("#a { visibility: hidden }")`, want: []string{"button B"}},
			{script: `document.adoptedStyleSheets = []`, want: []string{"button A", "button B"}},
		},
	},
	{
		name: "adopted style sheets of a shadow root", bound: byStyle,
		page: `<div id=host></div><button>B</button><script>host.attachShadow({ mode: "open" }).innerHTML = "<button>Inner</button>"</script>`,
		steps: []unseenStep{
			{want: []string{"button Inner", "button B"}},
			{script: `window.sheet = new CSSStyleSheet(); sheet.replaceSync("button { display: none }"); host.shadowRoot.adoptedStyleSheets = [sheet]`, want: []string{"button B"}},
			{script: `host.shadowRoot.adoptedStyleSheets = []`, want: []string{"button Inner", "button B"}},
		},
	},
	{
		name: "edit of a rule", bound: byStyle,
		page: `<style>x { color: red } #a { color: red } x { color: red }</style><button id=a>A</button><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button A", "button B"}},
			{script: `document.styleSheets[0].cssRules[1].style.visibility = "hidden"`, want: []string{"button B"}},
			{script: `document.styleSheets[0].cssRules[1].style.visibility = ""`, want: []string{"button A", "button B"}},
		},
	},
	{
		name: "edit of a rule that makes something to act on", bound: byStyle,
		page: `<style>x { color: red } #d { color: red } x { color: red }</style><button id=a>A</button><div id=d>Card</div>`,
		steps: []unseenStep{
			{want: []string{"button A"}},
			{script: `document.styleSheets[0].cssRules[1].style.cursor = "pointer"`, want: []string{"button A", "div Card"}},
			{script: `document.styleSheets[0].cssRules[1].style.cursor = ""`, want: []string{"button A"}},
		},
	},
	{
		name: "style sheet that is switched off", bound: byStyle,
		page: `<style id=s>#a { display: none }</style><button id=a>A</button><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `s.sheet.disabled = true`, want: []string{"button A", "button B"}},
			{script: `s.sheet.disabled = false`, want: []string{"button B"}},
			{script: `s.sheet.media.mediaText = "print"`, want: []string{"button A", "button B"}},
		},
	},
	{
		name: "style sheet that arrives late", bound: byStyle,
		page: `<button id=a>A</button><button>B</button><script>onload = () => 0; setTimeout(() => { const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "late.css"; document.body.append(l) })</script>`,
		files: func(r *release) map[string]http.HandlerFunc {
			return map[string]http.HandlerFunc{"/late.css": r.hold("text/css", []byte("#a { display: none }"))}
		},
		steps: []unseenStep{
			{want: []string{"button A", "button B"}},
			{act: letGo, want: []string{"button B"}},
		},
	},
	{
		name: "class on an ancestor", bound: byStyle,
		page: `<style>.menu { display: none } .open .menu { display: block }</style><main id=m><div><div class=menu><button>Entry</button></div></div></main><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `m.className = "open"`, want: []string{"button Entry", "button B"}},
			{script: `m.className = ""`, want: []string{"button B"}},
		},
	},
	{
		name: "selectors of states", bound: byStyle,
		page: `<style>.p { display: none } #c:checked ~ #checked, #i:invalid ~ #invalid, #i:focus ~ #focused, #target:target, body:has(#c:indeterminate) #mixed { display: block }</style>
			<input type=checkbox id=c aria-label=Box><input id=i aria-label=Input>
			<button class=p id=checked>Checked</button><button class=p id=invalid>Invalid</button><button class=p id=focused>Focused</button><button class=p id=target>Target</button><button class=p id=mixed>Mixed</button>`,
		steps: []unseenStep{
			{want: []string{"input Box", "input Input"}},
			{script: `c.checked = true`, want: []string{"input Box checked", "input Input", "button Checked"}},
			{script: `c.checked = false; i.setCustomValidity("no")`, want: []string{"input Box", "input Input", "button Invalid"}},
			{script: `i.setCustomValidity(""); i.focus()`, want: []string{"input Box", "input Input", "button Focused"}},
			{script: `i.blur(); location.hash = "target"`, want: []string{"input Box", "input Input", "button Target"}},
			{script: `location.hash = ""; c.indeterminate = true`, want: []string{"input Box mixed", "input Input", "button Mixed"}},
		},
	},
	{
		name: "an image that arrives late", bound: byLayout, view: inViewport,
		page: `<button>Top</button><br><img src="late.svg"><br><button>Bottom</button>`,
		files: func(r *release) map[string]http.HandlerFunc {
			return map[string]http.HandlerFunc{"/late.svg": r.hold("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="50" height="4000"/>`))}
		},
		steps: []unseenStep{
			{want: []string{"button Top", "button Bottom"}},
			{act: letGo, want: []string{"button Top"}},
		},
	},
	{
		name: "a font that arrives late", bound: byLayout, view: inViewport,
		page: `<style>@font-face { font-family: Late; src: url(late.ttf); ascent-override: 9999%; font-display: swap } p { font: 40px Late, sans-serif }</style><button>Top</button><p>Text</p><button>Bottom</button>`,
		files: func(r *release) map[string]http.HandlerFunc {
			return map[string]http.HandlerFunc{"/late.ttf": r.hold("font/ttf", tinyFont())}
		},
		steps: []unseenStep{
			{want: []string{"button Top", "button Bottom"}},
			{act: letGo, want: []string{"button Top"}},
		},
	},
	{
		name: "details", bound: atOnce,
		page: `<details id=d><summary>More</summary><button>Inner</button></details>`,
		steps: []unseenStep{
			{want: []string{"summary More"}},
			{script: `d.open = true`, want: []string{"summary More", "button Inner"}},
			{act: point(20, 15), script: `d.firstChild.click()`, want: []string{"summary More"}},
		},
	},
	{
		name: "popover", bound: atOnce,
		page: `<button popovertarget=p>Open</button><div id=p popover><button>Inner</button></div>`,
		steps: []unseenStep{
			{want: []string{"button Open"}},
			{script: `p.showPopover()`, want: []string{"button Open", "button Inner"}},
			{script: `p.hidePopover()`, want: []string{"button Open"}},
		},
	},
	{
		name: "modal dialog", bound: atOnce,
		page: `<button>Page</button><dialog id=d><button>Inner</button></dialog>`,
		steps: []unseenStep{
			{want: []string{"button Page"}},
			{script: `d.showModal()`, want: []string{"button Page", "button Inner"}},
			{script: `d.close()`, want: []string{"button Page"}},
		},
	},
	{
		name: "open shadow root that comes late", bound: byRoots,
		page: `<div id=host></div><section id=old><button>Light</button></section><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button Light", "button B"}},
			{script: `host.attachShadow({ mode: "open" }).innerHTML = "<button>Inner</button>"`, want: []string{"button Inner", "button Light", "button B"}},
			{script: `host.shadowRoot.innerHTML += "<a href='/1'>More</a>"`, want: []string{"button Inner", "a More", "button Light", "button B"}},
			{script: `old.attachShadow({ mode: "open" }).innerHTML = "<a href='/2'>Instead</a>"`, want: []string{"button Inner", "a More", "a Instead", "button B"}},
		},
	},
	{
		name: "closed shadow root that comes late", bound: byClosed,
		page: `<div id=host></div><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `window.root = host.attachShadow({ mode: "closed" }); root.innerHTML = "<button>Inner</button>"`, want: []string{"button Inner", "button B"}},
			{script: `root.innerHTML += "<a href='/1'>More</a>"`, want: []string{"button Inner", "a More", "button B"}},
		},
	},
	{
		name: "closed shadow root of an element that had a size before", bound: byClosed,
		page: `<div id=host style="width:100px;height:50px"></div><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `host.attachShadow({ mode: "closed" }).innerHTML = "<button>Inner</button>"`, want: []string{"button Inner", "button B"}},
		},
	},
	{
		name: "closed shadow root of a custom element that is defined late", bound: byClosed,
		page: `<my-box></my-box><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button B"}},
			{script: `customElements.define("my-box", class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: "closed" }).innerHTML = "<button>Inner</button>" } })`,
				want: []string{"button Inner", "button B"}},
		},
	},
	{
		name: "what stands in a slot", bound: atOnce,
		page: `<div id=host><button id=a slot=a>A</button><button id=b>B</button></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<a href='/1'>First</a><slot name=a></slot>"</script>`,
		steps: []unseenStep{
			{want: []string{"a First", "button A"}},
			{script: `b.slot = "a"`, want: []string{"a First", "button A", "button B"}},
			{script: `a.slot = "none"`, want: []string{"a First", "button B"}},
			{script: `host.shadowRoot.querySelector("slot").name = "none"`, want: []string{"a First", "button A"}},
		},
	},
	{
		name: "slots that are assigned by script", bound: atOnce,
		page: `<div id=host><button id=a>A</button><button id=b>B</button></div>
			<script>host.attachShadow({ mode: "open", slotAssignment: "manual" }).innerHTML = "<slot></slot>"; host.shadowRoot.firstChild.assign(a)</script>`,
		steps: []unseenStep{
			{want: []string{"button A"}},
			{script: `host.shadowRoot.firstChild.assign(b)`, want: []string{"button B"}},
			{script: `host.shadowRoot.firstChild.assign(b, a)`, want: []string{"button B", "button A"}},
		},
	},
	{
		name: "states of elementInternals", bound: byStyle,
		page: `<my-box id=x></my-box><button>B</button><script>customElements.define("my-box", class extends HTMLElement {
			constructor() { super(); this.internals = this.attachInternals(); this.attachShadow({ mode: "open" }).innerHTML = "<style>:host(:state(off)) { display: none }</style><button>Inner</button>" } })</script>`,
		steps: []unseenStep{
			{want: []string{"button Inner", "button B"}},
			{script: `x.internals.states.add("off")`, want: []string{"button B"}},
			{script: `x.internals.states.delete("off")`, want: []string{"button Inner", "button B"}},
		},
	},
	{
		name: "role of elementInternals", bound: byInternals,
		page: `<my-tab id=x>First</my-tab><button>B</button><script>customElements.define("my-tab", class extends HTMLElement {
			constructor() { super(); this.internals = this.attachInternals(); this.internals.role = "tab" } })</script>`,
		steps: []unseenStep{
			{want: []string{"my-tab First", "button B"}},
			{script: `x.internals.ariaLabel = "Named"`, want: []string{"my-tab Named", "button B"}},
			{script: `x.internals.role = "note"`, want: []string{"button B"}},
		},
	},
	{
		name: "a frame that is hidden and resized", bound: byStyle,
		page: `<style>.off iframe { display: none }</style><div id=box><iframe id=f width=400 height=100 srcdoc="<style>@media (max-width: 200px) { #wide { display: none } }</style><button id=wide>Wide</button><button>Framed</button>"></iframe></div><button>B</button>`,
		steps: []unseenStep{
			{want: []string{"button Wide", "button Framed", "button B"}},
			{script: `box.className = "off"`, want: []string{"button B"}},
			{script: `box.className = ""`, want: []string{"button Wide", "button Framed", "button B"}},
			{script: `f.width = 150`, want: []string{"button Framed", "button B"}},
		},
	},
	{
		name: "a frame of another process that is hidden and resized", bound: byStyle,
		page: `<style>.off iframe { display: none }</style><div id=box><iframe id=f width=400 height=100 src="OTHER/framed"></iframe></div><button>B</button>`,
		files: func(*release) map[string]http.HandlerFunc {
			return map[string]http.HandlerFunc{"/framed": testenv.HTML(`<style>@media (max-width: 200px) { #wide { display: none } }</style><button id=wide>Wide</button><button>Framed</button>`)}
		},
		steps: []unseenStep{
			{want: []string{"button Wide", "button Framed", "button B"}},
			{script: `box.className = "off"`, want: []string{"button B"}},
			{script: `box.className = ""`, want: []string{"button Wide", "button Framed", "button B"}},
			{script: `f.width = 150`, want: []string{"button Framed", "button B"}},
		},
	},
	{
		name: "a frame that scrolls", bound: byScrolling, view: inViewport,
		page: `<iframe id=f width=400 height=560 srcdoc="<button>Top</button><div style='height:5000px'></div><button>Bottom</button>"></iframe>`,
		steps: []unseenStep{
			{want: []string{"button Top"}},
			{script: `f.contentWindow.scrollTo(0, 9999)`, want: []string{"button Bottom"}},
			{script: `f.contentWindow.scrollTo(0, 0)`, want: []string{"button Top"}},
		},
	},
}
