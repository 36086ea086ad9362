package acting

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// innerPage is the page in a frame. It has a button far below and a field, and reports all events to the outer page.
const innerPage = `<body style="margin:0"><input placeholder=Field><input type=checkbox aria-label=Box><select name=Pick><option>A<option>B</select><div style="height:600px"></div><button>Inner</button>
	<button draggable=true id=d>Drag</button><button id=e ondragover="event.preventDefault()" ondrop="tell('dropped')">Drop</button><div style="height:600px"></div><script>
	tell = (what) => top.postMessage(what, "*")
	document.querySelector("button").addEventListener("click", (e) => tell("click" + (e.isTrusted ? "" : "!")))
	document.querySelector("input").addEventListener("input", (e) => tell("input:" + e.target.value))
	document.querySelector("[type=checkbox]").addEventListener("change", (e) => tell("box:" + e.target.checked))
	document.querySelector("select").addEventListener("change", (e) => tell("pick:" + e.target.value))
</script>`

const outerScript = `<script>heard = []; addEventListener("message", (e) => heard.push(e.data)); stray = 0; for (const type of ["mousedown", "keydown", "click"]) addEventListener(type, () => stray++, true)</script>`

// framed serves pages on two sites, for a test that runs in parallel with others, in a session of the test alone.
func framed(t *testing.T, pages map[string]string) (*testenv.Daemon, string) {
	t.Helper()
	return testenv.Apart(t, "site-per-process"), twoSites(t, pages)
}

// twoSites serves pages on two sites. "OTHER" in a page is replaced by the URL of the other site.
func twoSites(t *testing.T, pages map[string]string) string {
	t.Helper()
	handlers := map[string]http.HandlerFunc{}
	var other string
	for path, page := range pages {
		handlers[path] = func(w http.ResponseWriter, r *http.Request) { html(strings.ReplaceAll(page, "OTHER", other))(w, r) }
	}
	url := testenv.Pages(t, handlers)
	other = strings.Replace(url, "127.0.0.1", "localhost", 1)
	return url
}

// TestActsInFrames acts in scrolled, transformed and nested frames, of the same process and of another one.
func TestActsInFrames(t *testing.T) {
	const box = `width:300px;height:150px;border:7px solid;padding:5px`
	d, url := framed(t, map[string]string{
		"/inner":  innerPage,
		"/middle": `<body style="margin:0"><div style="height:400px"></div><iframe src="OTHER/inner" style="width:280px;height:140px;border:3px solid"></iframe><div style="height:400px"></div>`,
		"/same":   outerScript + `<div style="height:1500px"></div><iframe src="/inner" style="` + box + `"></iframe><div style="height:1500px"></div>`,
		"/cross":  outerScript + `<div style="height:1500px"></div><iframe src="OTHER/inner" style="` + box + `"></iframe><div style="height:1500px"></div>`,
		"/turned": outerScript + `<div style="height:900px"></div><div style="transform:rotate(20deg) scale(.8);width:400px"><iframe src="OTHER/inner" style="` + box + `;scale:1.2"></iframe></div><div style="height:900px"></div>`,
		"/boxed":  outerScript + `<div style="height:700px"></div><div style="overflow:auto;width:200px;height:100px"><div style="width:900px;height:500px"></div><iframe src="OTHER/inner" style="` + box + `;margin-left:300px"></iframe></div><div style="height:900px"></div>`,
		"/nested": outerScript + `<div style="height:900px"></div><iframe src="/middle" style="` + box + `"></iframe><div style="height:900px"></div>`,
	})
	for _, path := range []string{"/same", "/cross", "/turned", "/boxed", "/nested"} {
		s := &stage{t: t, d: d, tab: d.Open(url + path)}
		for _, c := range []struct {
			step *domtapv1.Step
			want string
		}{
			{click(s.at("Inner")), "click"}, {fill(s.at("Field"), "filled"), "input:filled"}, {check(s.at("Box")), "box:true"},
			{selecting(s.at("Pick"), "B"), "pick:B"}, {key(s.at("Field"), "Backspace", 0), "input:fille"},
		} {
			if _, err := s.try(t.Context(), c.step); err != nil {
				t.Errorf("%s: %v: %v", path, c.step, err)
				continue
			}
			if got := s.eval("new Promise((done) => setTimeout(() => done(heard.splice(0).join()), 0))"); got != c.want {
				t.Errorf("%s: %v: the frame heard %q, want %q", path, c.step, got, c.want)
			}
		}
		if got := s.eval("stray"); got != "0" {
			t.Errorf("%s: the page around the frame heard %s events", path, got)
		}
		if path == "/same" || path == "/cross" {
			s.do(drag(s.at("Drag"), s.at("Drop"), 0, 0))
			if got := s.eval("new Promise((done) => setTimeout(() => done(heard.splice(0).join()), 0))"); got != "dropped" {
				t.Errorf("%s: the drag was %q", path, got)
			}
		}
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: s.tab}); err != nil {
			t.Error(err)
		}
	}
}

// TestOverlaysOverFramesAreFound covers a frame with an element of the outer page.
func TestOverlaysOverFramesAreFound(t *testing.T) {
	d, url := framed(t, map[string]string{
		"/inner": innerPage,
		"/": outerScript + `<iframe src="OTHER/inner" style="width:300px;height:150px"></iframe><div role=dialog aria-label=Offer style="position:fixed;inset:0;background:#fff8">
			<button onclick="this.parentNode.remove()">Close offer</button></div>`,
	})
	s := &stage{t: t, d: d, tab: d.Open(url)}
	s.refused(click(s.at("Inner")), "NOT_ACTIONABLE", `covered by dialog "Offer"`)
	s.is("stray + heard.length", "0")
	s.do(click(s.at("Close offer")))
	s.do(click(s.at("Inner")))
	if got := s.eval("new Promise((done) => setTimeout(() => done(heard.splice(0).join()), 0))"); got != "click" {
		t.Errorf("the frame heard %q", got)
	}
}

// TestFramesThatComeUnderThePointerAreShut moves a frame of another site under the pointer before the press.
func TestFramesThatComeUnderThePointerAreShut(t *testing.T) {
	d := testenv.Apart(t, "site-per-process")
	for _, src := range []string{"/trap", "OTHER/trap"} {
		url := twoSites(t, map[string]string{
			"/trap": `<body style="margin:0"><button style="width:300px;height:150px">Trap</button><script>for (const type of ["pointerdown", "mousedown", "click"]) addEventListener(type, () => top.postMessage(type, "*"))</script>`,
			"/": outerScript + fmt.Sprintf(`<button style="position:absolute;left:0;top:0;width:300px;height:150px">Keep</button><iframe src="%s" style="position:absolute;left:0;top:0;width:300px;height:150px;border:0;visibility:hidden"></iframe>
				<script>document.querySelector("button").addEventListener("mousemove", () => { setTimeout(() => document.querySelector("iframe").style.visibility = "", 0) })</script>`, src),
		})
		s := &stage{t: t, d: d, tab: d.Open(url)}
		_, err := s.try(t.Context(), click(s.at("Keep")))
		if err != nil && (testenv.Reason(err) != "NOT_ACTIONABLE" || !strings.Contains(err.Error(), "covered")) {
			t.Errorf("%s: got %v", src, err)
		}
		if got := s.eval("new Promise((done) => setTimeout(() => done(heard.join()), 0))"); got != "" {
			t.Errorf("%s: the frame heard %s", src, got)
		}
	}
}

// TestTheOutcomeOfAFrameOfAnotherSite acts in a frame of another process. The outcome must report the visible effects there.
func TestTheOutcomeOfAFrameOfAnotherSite(t *testing.T) {
	d, url := framed(t, map[string]string{
		"/shop": `<title>Shop</title><h1>Shop</h1><iframe src="OTHER/pay" style="width:400px;height:300px"></iframe>`,
		"/pay": `<form onsubmit="event.preventDefault(); setTimeout(() => { said.textContent = 'Card refused' }, 20)"><label>Card <input id=c required></label><button>Pay</button></form>
			<p id=said role=alert></p><button onclick="d.showModal()">Help</button><dialog id=d aria-label="How to pay"><button onclick="d.close()">Close</button></dialog>`,
	})
	s := &stage{t: t, d: d, tab: d.Open(url + "/shop")}
	for _, c := range []struct {
		step *domtapv1.Step
		kind domtapv1.OutcomeKind
		want string
	}{
		{click(s.at("Pay")), domtapv1.OutcomeKind_OUTCOME_KIND_INVALID, "Card"},
		{fill(s.at("Card"), "1234"), 0, ""},
		{click(s.at("Pay")), domtapv1.OutcomeKind_OUTCOME_KIND_ALERT, "Card refused"},
		{click(s.at("Help")), domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG, "How to pay"},
	} {
		done, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{c.step}})
		if err != nil {
			t.Fatalf("%v: %v", c.step, err)
		}
		said := slices.ContainsFunc(done.GetOutcome(), func(o *domtapv1.Outcome) bool {
			return o.GetKind() == c.kind && strings.Contains(o.GetText(), c.want) && !o.GetGone()
		})
		if !said && c.want != "" {
			t.Errorf("%v: no %v %q in %v", c.step, c.kind, c.want, done.GetOutcome())
		}
	}
}
