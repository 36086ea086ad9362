package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// brief lists elements as `tag role "text"`, with the states that matter here.
func brief(elements []*domtapv1.Element) []string {
	var out []string
	for _, e := range elements {
		s := fmt.Sprintf("%s %s %q", e.GetTag(), e.GetRole(), e.GetText())
		if e.GetTag() == "label" {
			s += " " + e.GetType()
		}
		if e.GetChecked() == domtapv1.CheckedState_CHECKED_STATE_TRUE {
			s += " checked"
		}
		if e.GetDisabled() {
			s += " disabled"
		}
		out = append(out, s)
	}
	return out
}

// usable reads all actionable elements of a tab.
func usable(t *testing.T, d *testenv.Daemon, tab string) []*domtapv1.Element {
	t.Helper()
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetElements()
}

// only shows the page of elements with a single section. It uses tab or, if that is empty, a new tab.
func only(t *testing.T, d *testenv.Daemon, tab, url, section string) string {
	t.Helper()
	tab = d.Show(tab, url+"/pages/elements.html")
	testenv.Evaluate[any](t, d, fmt.Sprintf(`for (const s of document.querySelectorAll("section")) if (s.id !== %q) s.remove()`, section))
	return tab
}

// TestEverythingOfUseIsListed reads the sections of pages/elements.html.
func TestEverythingOfUseIsListed(t *testing.T) {
	url := serve(t, nil)
	d := testenv.Apart(t)
	tab := ""
	for section, want := range map[string][]string{
		"cursor": {
			`div generic "Card"`, `div generic "Text within and reset"`, `span generic "Nested rule"`, `div generic "Inline style"`,
			`div generic "Own picture"`, `a link "Wrapped link"`, `input checkbox "Wrapped box"`, `div generic "Large card small link"`,
			`a link "small link"`, `div generic "Two one two"`, `a link "one"`, `a link "two"`, `button button "In a button"`,
			`a link "In a link"`, `label label "No control" `,
		},
		"maps": {`button button "Between"`, `area link "Rectangle"`, `area link "Circle"`, `area link "Bracket"`, `area link "Rest"`},
		"svg":  {`a link "Drawn"`, `a link "Old link"`, `g button "Drawn button"`, `rect graphics-symbol "Focusable"`},
		"contents": {
			`button button "Text only"`, `a link "Child Second"`, `div button "Deep"`,
		},
		"labels": {
			`label checkbox "Gift wrap" checkbox checked`, `label radio "Red" radio`, `label button "Choose a file" file`,
			`input checkbox "I agree to the terms"`, `a link "terms"`, `input checkbox "Clipped"`, `label checkbox "In a slit" checkbox`,
			`input checkbox "Styled box"`, `label checkbox "Disabled" checkbox disabled`, `input textbox "Plain field"`,
		},
		"edit": {
			// Their texts are their values. The text above the second to last element is its caption.
			`div textbox ""`, `div textbox ""`, `div textbox ""`, `div textbox "Not editable"`, `i textbox ""`,
		},
		"hidden": {
			`summary button "More"`, `summary button "Less"`, `button button "Open details"`,
			`button button "Open dialog"`, `button button "Open popover"`, `button button "Hidden from readers"`, `a link "Fixed out of a fold"`,
			`a link "Skip to content"`, `a link "Skip to navigation"`, `button button "No mouse"`, `button button "Visible again"`,
			`button button "Content in time"`, `a link "Scrolled away"`, `a link "Scrolled to"`,
		},
	} {
		t.Run(section, func(t *testing.T) {
			tab = only(t, d, tab, url, section)
			if got := brief(usable(t, d, tab)); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// named returns the element with a text, or fails.
func named(t *testing.T, elements []*domtapv1.Element, text string) *domtapv1.Element {
	t.Helper()
	i := slices.IndexFunc(elements, func(e *domtapv1.Element) bool { return e.GetText() == text })
	if i < 0 {
		t.Fatalf("there is no %q among %q", text, brief(elements))
	}
	return elements[i]
}

// press clicks on an element.
func press(t *testing.T, d *testenv.Daemon, tab string, e *domtapv1.Element) *domtapv1.InteractResponse {
	t.Helper()
	r, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, e.GetRef()))
	if err != nil {
		t.Fatalf("clicking on %q: %v", e.GetText(), err)
	}
	if !r.GetResults()[0].GetOk() {
		t.Fatalf("clicking on %q: %v", e.GetText(), r.GetResults()[0])
	}
	return r
}

// TestHiddenControlsAreToggled clicks labels that stand in for controls, and controls that are hidden behind labels, including a label
// whose centre is covered by a link.
func TestHiddenControlsAreToggled(t *testing.T) {
	url := serve(t, nil)
	d := testenv.Apart(t)
	tab := only(t, d, "", url, "labels")
	is := func(text string) domtapv1.CheckedState { return named(t, usable(t, d, tab), text).GetChecked() }
	const yes, no = domtapv1.CheckedState_CHECKED_STATE_TRUE, domtapv1.CheckedState_CHECKED_STATE_FALSE
	for text, want := range map[string]domtapv1.CheckedState{
		"Gift wrap": no, "Red": yes, "I agree to the terms": yes, "Clipped": yes, "In a slit": yes, "Styled box": yes,
	} {
		e := named(t, usable(t, d, tab), text)
		if e.GetRect().GetWidth() < 10 {
			t.Errorf("%q has the box %v", text, e.GetRect())
		}
		if r := press(t, d, tab, e); r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
			t.Errorf("%q: the verdict is %v", text, r.GetVerdict())
		}
		if got := is(text); got != want {
			t.Errorf("%q is %v after the click, want %v", text, got, want)
		}
	}
	if hash := testenv.Evaluate[string](t, d, "location.hash"); hash != "" {
		t.Errorf("the link in the label was clicked: %s", hash)
	}
	_, err := d.Actions.Interact(t.Context(), testenv.ClickOn(tab, named(t, usable(t, d, tab), "Disabled").GetRef()))
	if testenv.Reason(err) != "NOT_ACTIONABLE" {
		t.Errorf("clicking on the label of a disabled control: %v", err)
	}
	text, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("[%d] Red (label type=radio checked required)\n", named(t, usable(t, d, tab), "Red").GetRef()); !strings.Contains(text.GetText(), want) {
		t.Errorf("got %s, want %s in it", text.GetText(), want)
	}
}

// TestAreasAreClickedInsideTheirShape clicks the areas of an image map.
func TestAreasAreClickedInsideTheirShape(t *testing.T) {
	url := serve(t, nil)
	d := testenv.Apart(t)
	tab := only(t, d, "", url, "maps")
	elements := usable(t, d, tab)
	image := testenv.Evaluate[[]float64](t, d, `(() => { const r = document.getElementById("map").getBoundingClientRect(); return [r.x, r.y] })()`)
	for text, want := range map[string]struct {
		box  [4]float64
		hash string
	}{
		"Rectangle": {[4]float64{10, 20, 40, 40}, "#rect"},
		"Circle":    {[4]float64{80, 30, 40, 40}, "#circle"},
		"Bracket":   {[4]float64{150, 10, 40, 80}, "#poly"},
	} {
		e := named(t, elements, text)
		r := e.GetRect()
		got := [4]float64{r.GetX() - image[0], r.GetY() - image[1], r.GetWidth(), r.GetHeight()}
		if got != want.box || e.GetHref() != url+"/pages/elements.html"+want.hash {
			t.Errorf("%s has the box %v and leads to %s, want %+v", text, got, e.GetHref(), want)
		}
		press(t, d, tab, e)
		if hash := testenv.Evaluate[string](t, d, "location.hash"); hash != want.hash {
			t.Errorf("a click on %s led to %q", text, hash)
		}
	}
	testenv.Evaluate[any](t, d, `document.getElementById("map").remove()`)
	if got := brief(usable(t, d, tab)); !slices.Equal(got, []string{`button button "Between"`}) {
		t.Errorf("without the image: %q", got)
	}
}

// TestContentsHaveTheBoxOfTheirParts reads and clicks elements that have no box.
func TestContentsHaveTheBoxOfTheirParts(t *testing.T) {
	url := serve(t, nil)
	d := testenv.Apart(t)
	tab := only(t, d, "", url, "contents")
	testenv.Evaluate[any](t, d, `for (const e of document.querySelectorAll("section > *")) e.onclick = (event) => { event.preventDefault(); document.title = e.textContent }, 0`)
	elements := usable(t, d, tab)
	for text, size := range map[string][2]float64{"Child Second": {100, 40}, "Deep": {60, 30}} {
		r := named(t, elements, text).GetRect()
		if r.GetWidth() != size[0] || r.GetHeight() != size[1] {
			t.Errorf("%q has the box %v, want %v", text, r, size)
		}
	}
	if r := named(t, elements, "Text only").GetRect(); r.GetWidth() < 20 || r.GetHeight() < 8 {
		t.Errorf("the text has the box %v", r)
	}
	for text, title := range map[string]string{"Text only": "Text only", "Child Second": "ChildSecond", "Deep": "Deep"} {
		press(t, d, tab, named(t, elements, text))
		if got := testenv.Evaluate[string](t, d, "document.title"); got != title {
			t.Errorf("after a click on %q the title is %q", text, got)
		}
	}
}

// TestElementsFollowChanges changes, one after the other, the properties for which elements are listed. It reads the page after each
// change, also by a stream.
func TestElementsFollowChanges(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<style id=s>.hand { cursor: pointer } .none { display: none }</style>
		<button>First</button><div id=d>Div</div><label id=l for=c>Label</label><input type=checkbox id=c><img id=i usemap="#m" width=50 height=50>
		<map name=m><area id=a href="#a" coords="0,0,20,20" alt=Area></map><div id=host></div>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	f := testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab})
	const first, div, area = `button button "First"`, `div generic "Div"`, `area link "Area"`
	const label, box = `label checkbox "Label" checkbox`, `input checkbox "Label"`
	for _, step := range []struct {
		do   string
		want []string
	}{
		{`0`, []string{first, box, area}},
		{`d.className = "hand"`, []string{first, div, box, area}},
		{`d.className = ""`, []string{first, box, area}},
		{`document.styleSheets[0].insertRule("#d { cursor: pointer }")`, []string{first, div, box, area}},
		{`document.styleSheets[0].deleteRule(0)`, []string{first, box, area}},
		{`document.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets[0].replaceSync("#d { cursor: pointer }")`, []string{first, div, box, area}},
		{`document.body.style.cursor = "pointer"`, []string{first, box, area}},
		{`document.body.style.cursor = ""; document.adoptedStyleSheets = []`, []string{first, box, area}},
		{`d.style.cursor = "pointer"`, []string{first, div, box, area}},
		{`d.innerHTML = "<a href=#x>Div</a>"`, []string{first, `a link "Div"`, box, area}}, // one element for the user
		{`d.style.display = "inline-block"`, []string{first, `a link "Div"`, box, area}},
		{`d.remove()`, []string{first, box, area}},
		{`c.className = "none"`, []string{first, label, area}},
		{`window.kept = c; c.checked = true`, []string{first, label + " checked", area}},
		{`c.disabled = true`, []string{first, label + " checked disabled", area}},
		{`l.htmlFor = ""`, []string{first, area}},
		{`l.htmlFor = "c"`, []string{first, label + " checked disabled", area}},
		{`c.remove()`, []string{first, area}},
		{`l.after(kept)`, []string{first, label + " checked disabled", area}},
		{`c.className = ""`, []string{first, box + " checked disabled", area}},
		{`a.coords = "90,90,99,99"`, []string{first, box + " checked disabled"}},
		{`a.shape = "default"`, []string{first, box + " checked disabled", area}},
		{`i.hidden = true`, []string{first, box + " checked disabled"}},
		{`document.designMode = "on"`, []string{`body generic "First Label"`, first, box + " checked disabled"}},
		{`document.designMode = "off"`, []string{first, box + " checked disabled"}},
		{`host.attachShadow({ mode: "open" }).innerHTML = "<style>:host, b { cursor: pointer } p { cursor: auto }</style><p>Text <b>Bold</b></p>"`,
			[]string{first, box + " checked disabled", `div generic "Text Bold"`, `b generic "Bold"`}},
	} {
		testenv.Evaluate[any](t, d, `{`+step.do+`}; 0`)
		got := brief(usable(t, d, tab))
		if !slices.Equal(got, step.want) {
			t.Errorf("after %s: got\n%s\nwant\n%s", step.do, strings.Join(got, "\n"), strings.Join(step.want, "\n"))
		}
		if err := f.Reaches(testenv.Within(t, testenv.Patience), testenv.GetDom(t, d, tab)); err != nil {
			t.Errorf("after %s: %v", step.do, err)
		}
	}
}

// coveredTexts lists the texts of covered elements.
func coveredTexts(elements []*domtapv1.Element) []string {
	out := []string{}
	for _, e := range elements {
		if e.GetCovered() {
			out = append(out, e.GetText())
		}
	}
	return out
}

// TestModalsCover opens modals of all kinds over a page with a frame and a shadow tree.
func TestModalsCover(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(`<style>#made { position: fixed; inset: 0; background: #000a; display: none } #list { position: fixed; right: 0; bottom: 0; z-index: 9; display: none }</style>
			<button>Page</button><iframe src="/frame" width=200 height=60></iframe><div id=host></div><div style="height:3000px"></div><a href="/">Below</a>
			<dialog id=d><button>In dialog</button></dialog>
			<div id=made role=dialog aria-modal=true><button>In made</button></div>
			<div id=list><button>Choice</button></div><div id=veil style="position:fixed;inset:0;display:none"></div>
			<script>host.attachShadow({mode: "open"}).innerHTML = "<button>Shadow</button>"</script>`),
		"/frame": testenv.HTML(`<button>Framed</button><iframe srcdoc="<button>Deep</button>"></iframe>`),
	})
	d := testenv.Apart(t)
	tab := d.Open(url)
	page := []string{"Page", "Framed", "Deep", "Shadow", "Below"}
	for _, step := range []struct {
		do   string
		want []string
	}{
		{`0`, []string{}},
		{`d.showModal()`, page},
		{`d.close(); d.show()`, []string{}},
		{`d.close(); veil.style.display = "block"`, []string{}},
		{`veil.style.display = "none"; made.style.display = "block"`, page},
		{`list.style.display = "block"`, page},
		{`d.showModal()`, append(slices.Clone(page), "In made", "Choice")},
		{`d.close(); made.style.display = "none"`, []string{}},
		{`host.shadowRoot.innerHTML += "<dialog><button>Inner</button></dialog>"; host.shadowRoot.querySelector("dialog").showModal()`, append(slices.Clone(page), "Choice")},
	} {
		before := usable(t, d, tab)
		testenv.Evaluate[any](t, d, `{`+step.do+`}; 0`)
		if got := coveredTexts(usable(t, d, tab)); !slices.Equal(got, step.want) {
			t.Errorf("after %s: %q are covered, want %q (of %q)", step.do, got, step.want, brief(before))
		}
	}
}

// TestCoveredElementsRankLast reads a page with an open modal and a limit, in both formats.
func TestCoveredElementsRankLast(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>M</title><button>Pay</button><button>Leave</button>
		<dialog id=d><a href="/terms">Terms</a></dialog><script>d.showModal()</script>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	get := func(f domtapv1.Format) string {
		r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: f})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetText()
	}
	if got, want := get(domtapv1.Format_FORMAT_LINES), "[0] Pay (button covered)\n[1] Leave (button covered)\n[2] Terms (a →/terms focused)\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := get(domtapv1.Format_FORMAT_TREE), `- button "Pay" [covered] [ref=e0]`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(1)})
	if err != nil || len(r.GetElements()) != 1 || r.GetElements()[0].GetText() != "Terms" {
		t.Errorf("of one element: %v, %v", r, err)
	}
	incremental := func() *domtapv1.Diff {
		r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, Incremental: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetDiff()
	}
	incremental()
	testenv.Evaluate[any](t, d, `d.close()`)
	if diff := incremental(); diff.GetRemovedCount() != 1 || diff.GetAddedCount() != 0 || diff.GetChangedCount() != 0 {
		t.Errorf("closing the modal: %v", diff)
	}
}

// TestSecretsAreInNoName reads fields that contain secrets and are part of another field's name.
func TestSecretsAreInNoName(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`
		<label>Mixed <input autocomplete=one-time-code value=123456> tail</label>
		<button aria-labelledby="b c d">Over</button><span id=b>Send</span> <input id=c type=password value=secret> <input id=d autocomplete=cc-csc value=987>`)}))
	text, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_TREE})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"123456", "secret", "987"} {
		if strings.Contains(text.GetText(), secret) {
			t.Errorf("%s is in\n%s", secret, text.GetText())
		}
	}
	if !strings.Contains(text.GetText(), `button "Send"`) {
		t.Errorf("got\n%s", text.GetText())
	}
}

// monthPage has a menu with links, and days of a calendar with buttons. A click on a day selects it.
const monthPage = `<!doctype html><title>Month</title><ul role=menu><li role=menuitem><a href=/new>New</a><li role=menuitem tabindex=-1><a href=/old>Old</a>
	<li role=menuitem aria-haspopup=menu><a href=/more>More</a></ul>
	<div role=grid id=days><div role=row><div role=gridcell tabindex=0><button>16</button></div><div role=gridcell tabindex=0 aria-selected=true><button>17</button></div>
	<div role=gridcell tabindex=0 aria-selected=true>18 <button>Book</button></div></div></div>
	<script>document.onclick = (e) => { for (const c of days.querySelectorAll("[role=gridcell]")) c.setAttribute("aria-selected", c.contains(e.target)) }</script>`

// TestAContainerAndItsOnlyControlAreOne reads menu items and days that only contain a control, and selects another day.
func TestAContainerAndItsOnlyControlAreOne(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/month": testenv.HTML(monthPage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/month")
	read := func() string {
		var out []string
		for _, e := range usable(t, d, tab) {
			s := e.GetRole() + " " + e.GetText()
			if e.GetSelected() {
				s += " selected"
			}
			out = append(out, s)
		}
		return strings.Join(out, ", ")
	}
	const menu = "link New, link Old, menuitem More, link More, "
	if got, want := read(), menu+"button 16, button 17 selected, gridcell 18 Book selected, button Book"; got != want {
		t.Errorf("read  %s\nwant %s", got, want)
	}
	done, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Steps: []*domtapv1.Step{button("16")}})
	if err != nil || !strings.Contains(done.GetDiffText(), "16 (button selected") {
		t.Errorf("%v, the day in the answer:\n%s", err, done.GetDiffText())
	}
	if got, want := read(), menu+"button 16 selected, button 17, gridcell 18 Book, button Book"; got != want {
		t.Errorf("read  %s\nwant %s", got, want)
	}
	testenv.Evaluate[any](t, d, `document.querySelector("button").before("Sold out ")`)
	if got, want := read(), menu+"gridcell Sold out 16 selected, button 16, button 17, gridcell 18 Book, button Book"; got != want {
		t.Errorf("read  %s\nwant %s", got, want)
	}
}

// passing has boxes that listen for clicks on their content, and cards and parts of cards that are used directly.
var passing = `<!doctype html><title>Passing</title><style>i { display: inline-block; width: 4px; height: 20px } .days { display: grid; grid-template-columns: repeat(7, 30px) }</style>
	<section id=around><div class=on><label>Guests <input></label><button>More</button></div><div class=on><h3>Suite</h3><button>Book</button></div></section>
	<section id=focus><div tabindex=0><div role=grid><div role=row tabindex=0 class=on><div role=gridcell class=on>Ada</div><i class=on></i><div role=gridcell class=on>London</div></div>
		<div role=row tabindex=0 class=on><div role=gridcell class=on>Bob</div><i class=on></i><div role=gridcell class=on>Paris</div></div></div></div></section>
	<section id=caption><div role=row><div role=columnheader class=on style="width: min-content"><span class=on>Name</span></div><div role=columnheader class=on><span class=on style="float: right">City</span></div></div></section>
	<section id=days><div class=on><b>October</b><div class=days>` + days + `</div></div></section>
	<section id=nested><table><tr><th role=columnheader class=on><div role=columnheader class=on>Name</div><tr><td>Ada</table></section>
	<section id=frame><div role=group id=g>All<table role=none tabindex=0 aria-labelledby=g><tr><td class=on>Ada<tr><td class=on>Bob</table></div></section>
	<section id=rows><table><tr class=on><td class=on>Ada<td class=on>Rome<tr class=on aria-selected=true><td class=on>Bob<td class=on>Oslo<tr class=on><td>Cyd<td class=on>Bern</table></section>
	<section id=label><label class=on for=size>Size</label><input id=size><label class=on id=c>Color</label><div role=slider tabindex=0 aria-labelledby=c style="width:90px;height:9px"><i class=on></i></div><label class=on>Other</label></section>
	<section id=range><div class=on><label for=r>Volume</label><input type=range id=r><output>5</output></div></section>
	<section id=handle>Price <span><b tabindex=0 style="display:inline-block;width:90px;height:9px"></b>30 <span class=on style="display:inline-block;width:9px;height:20px"><i></i><i style="width:0"></i><i style="width:0"></i></span></span><input readonly style="width:1px;height:1px;border:0;padding:0"></section>
	<section id=menu><div style="width:50px;height:20px" oncontextmenu="return false">Picture</div><canvas width=40 height=30 class=on></canvas></section>
	<section id=head><table><thead class=on><tr><th><input type=checkbox aria-label=All><th>Name<th><tbody><tr><td><td>Ada<td></table></section>
	<section id=clones><div class=on><div class=pane><table><tr><td>Tea<tr><td>Milk</table></div><div class=pane><table><tr><td>Tea<tr><td>Milk</table></div><div class=pane><table><tr><td>Tea<tr><td>Milk</table></div></div></section>
	<script>for (const s of document.querySelectorAll("section")) if (s.id !== location.search.slice(1)) s.remove()
	for (const e of document.querySelectorAll(".on")) if (!e.matches("#focus [role=row]")) e.addEventListener("click", () => {})</script>`

// days are the cells of a month.
var days = func() (all string) {
	for i := range 14 {
		all += fmt.Sprintf("<span>%d</span>", i+1)
	}
	return all
}()

// TestBoxesThatPassClicksOnAreNotListed checks that each element that people use is listed once, and that boxes and parts that only listen
// are not listed.
func TestBoxesThatPassClicksOnAreNotListed(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/passing": testenv.HTML(passing)})
	d := testenv.Apart(t)
	for section, want := range map[string][]string{
		"around":  {`input textbox "Guests"`, `button button "More"`, `div generic "Suite Book"`, `button button "Book"`},
		"focus":   {`div gridcell "Ada"`, `div gridcell "London"`, `div gridcell "Bob"`, `div gridcell "Paris"`},
		"caption": {`div columnheader "Name"`, `div columnheader "City"`, `span generic "City"`},
		"days":    {`span generic "1"`, `span generic "14"`},
		"nested":  {`th columnheader "Name"`},
		"frame":   {`td cell "Ada"`, `td cell "Bob"`},
		"label":   {`input textbox "Size"`, `div slider "Color"`, `label label "Other" `},
		"rows":    {`td cell "Ada"`, `td cell "Rome"`, `tr row "Bob Oslo"`, `td cell "Bob"`, `td cell "Oslo"`, `tr row "Cyd Bern"`, `td cell "Bern"`},
		"range":   {`input slider "Volume"`},
		"handle":  {`b generic ""`, `span generic ""`, `input textbox "Price"`},
		"menu":    {`div generic "Picture"`, `canvas generic ""`},
		"head":    {`input checkbox "All"`, `th columnheader "Name"`},
		"clones":  {},
	} {
		got := brief(usable(t, d, d.Open(url+"/passing?"+section)))
		if section == "days" && len(got) == 14 {
			got = []string{got[0], got[13]}
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %q\nwant %q", section, got, want)
		}
	}
}

// hosts has custom elements that look usable because of their cursor or listener, although people use the control in their shadow tree.
const hosts = `<!doctype html><title>Hosts</title><style>x-save, x-agree, x-size, x-wifi, x-card, x-home { cursor: pointer; display: inline-block }</style>
	<x-save>Save</x-save> <x-agree></x-agree> <x-wifi></x-wifi> <x-label for=size>Size</x-label> <x-size id=size></x-size> <x-card>A card <p>with words</p></x-card>
	<x-switch role=switch tabindex=0 aria-checked=false>Dark</x-switch> <x-item><button>Buy</button></x-item>
	<x-tabs><b role=tab slot=tabs tabindex=0>One</b><b role=tab slot=tabs tabindex=0>Two</b><p>First</p></x-tabs> <x-home></x-home>
	<script>const draw = (tag, html) => customElements.define(tag, class extends HTMLElement {
		constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = html; this.addEventListener("click", () => {}); if (this.id) this.onclick = () => document.title = this.id } })
	draw("x-save", "<button><span><slot></slot></span></button>")
	draw("x-agree", "<div role=checkbox tabindex=0 aria-checked=false aria-labelledby=t><input type=checkbox tabindex=-1 aria-hidden=true style='position:absolute; visibility:hidden'><label id=t>I agree</label></div>")
	draw("x-wifi", "<div role=switch tabindex=0 aria-label=Wi-Fi><svg aria-hidden=true width=20 height=20><circle r=9 /></svg></div>")
	draw("x-size", "<div role=combobox tabindex=0 aria-label=Size>Small</div><div role=dialog hidden><button>Close</button></div>")
	draw("x-switch", "<label for=i><input type=checkbox role=switch id=i style='position:absolute;opacity:0'><slot></slot><i style='display:inline-block;width:20px;height:9px;cursor:pointer'></i></label>")
	draw("x-item", "<div style='cursor:pointer;padding:20px'><slot></slot></div>")
	draw("x-tabs", "<div><slot name=tabs></slot><slot></slot></div>")
	document.querySelector("x-tabs").shadowRoot.querySelector("div").addEventListener("click", () => {})
	draw("x-home", "<svg role=button tabindex=0 aria-label=Home width=20 height=20><path d='M0 0h20v20H0z' /></svg>")
	draw("x-card", "<slot></slot><button>More</button>")
	document.querySelector("x-wifi").shadowRoot.querySelector("svg").addEventListener("click", () => {})</script>`

// TestAHostAndTheControlThatItDrawsAreOne lists the controls that hosts draw, each once, and reaches one by its label.
func TestAHostAndTheControlThatItDrawsAreOne(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/hosts": testenv.HTML(hosts)}) + "/hosts")
	want := []string{`button button "Save"`, `div checkbox "I agree"`, `div switch "Wi-Fi"`, `div combobox "Size"`, `x-card generic "A card with words More"`, `button button "More"`,
		`x-switch switch "Dark"`, `button button "Buy"`, `b tab "One"`, `b tab "Two"`, `svg button "Home"`}
	if got := brief(usable(t, d, tab)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	r, err := turn(t, d, tab, clickAt(&domtapv1.Target{Label: "size"}))
	if err != nil || r.GetTab().GetTitle() != "size" {
		t.Errorf("the click by label: %v, %v", r, err)
	}
}

// hoverPage has elements that listen only to pointer movement, and a table with groups of rows.
const hoverPage = `<!doctype html><title>Hover</title><div id=card><p>Card</p></div><p id=word>A word</p><div id=plain><p>Plain</p></div><div id=both><p>Both</p></div>
	<table><thead><tr><th>A<tbody id=rows aria-label=May><tr><td>1</table><div role=table><div role=rowgroup><div role=row><div role=cell>2</div></div></div></div>
	<script>card.addEventListener("mouseenter", () => {}); word.addEventListener("pointerover", () => {});
	both.addEventListener("mouseover", () => {}); both.addEventListener("click", () => {})</script>`

// TestFullSnapshotsHaveHoverListenersAndRowGroups reads the elements that full_snapshot adds to the interactive elements.
func TestFullSnapshotsHaveHoverListenersAndRowGroups(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/hover": testenv.HTML(hoverPage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/hover")
	read := func() (all, groups []string) {
		got, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true, IncludeAttributes: []string{"id"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got.GetElements() {
			if id := e.GetAttributes()["id"]; id != "" {
				all = append(all, fmt.Sprint(id, " ", e.GetRole(), " ", strings.TrimSpace(e.GetText()), " ", e.GetActionable()))
			}
			if e.GetRole() == "rowgroup" {
				groups = append(groups, fmt.Sprint(e.GetTag(), " ", e.GetActionable()))
			}
		}
		return all, groups
	}
	all, groups := read()
	if want := []string{"card generic  false", "word paragraph A word false", "both generic Both true", "rows rowgroup May false"}; !slices.Equal(all, want) {
		t.Errorf("read  %q\nwant %q", all, want)
	}
	if want := []string{"tbody false", "div false"}; !slices.Equal(groups, want) {
		t.Errorf("groups %q, want %q", groups, want)
	}
	if got := brief(usable(t, d, tab)); !slices.Equal(got, []string{`div generic "Both"`}) {
		t.Errorf("usable: %q", got)
	}
	testenv.Evaluate[any](t, d, `(() => { plain.addEventListener("mouseover", () => {}); plain.append(document.createElement("i")) })()`)
	if all, _ = read(); !slices.Contains(all, "plain generic  false") {
		t.Errorf("with another listener: %q", all)
	}
}

// TestAnImageThatChangesRefreshesNamesAndHints changes the source and the name of the image in a button.
func TestAnImageThatChangesRefreshesNamesAndHints(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/icon": testenv.HTML(`<!doctype html><title>Icon</title><style>img { width: 20px; height: 20px }</style>
		<button id=b><img id=i src=/icons/trash.png></button>`)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/icon")
	for _, c := range []struct{ script, text, hints string }{
		{"1", "", "trash"},
		{"i.src = '/icons/archive.png'", "", "archive"},
		{"i.alt = 'Restore'", "Restore", ""},
		{"i.alt = 'Delete'", "Delete", ""},
		{"i.removeAttribute('alt')", "", "archive"},
	} {
		testenv.Evaluate[any](t, d, c.script)
		all := usable(t, d, tab)
		if len(all) != 1 || all[0].GetText() != c.text || strings.Join(all[0].GetHints(), " ") != c.hints {
			t.Errorf("after %s: %v, want %q and hint %q", c.script, all, c.text, c.hints)
		}
	}
}

// editors has editors that draw their lines and receive keys in a field that draws nothing: a transparent one, a small one with a label, and
// one in a box that clips it. The last field belongs to no editor.
const editors = `<!doctype html><title>Editors</title><style>.ed { position: relative; width: 300px; height: 60px; font-family: monospace }
	.key { position: absolute; opacity: 0; width: 1px; height: 1em; padding: 0; border: 0 } .num { position: absolute; left: 0; width: 20px } .lines { position: absolute; left: 24px; width: 270px }</style>
	<div class=ed id=one><textarea class=key aria-label=Code></textarea><div class=num aria-hidden=true><div>1</div><div>2</div></div><div class=lines id=lines><div>let <b>a</b> = 1</div><div>a&nbsp;+ 2</div></div></div>
	<label for=source>Script</label><textarea id=source style="display:none">x</textarea><div class=ed><div style="overflow: hidden; width: 3px; height: 0; position: relative"><textarea style="position: absolute; bottom: -1em; width: 900px; height: 1em"></textarea></div>
		<div><div style="position: relative; height: 18px"><div class=num>1</div><pre class=lines>if (x)</pre></div><div style="position: relative; height: 18px"><div class=num>2</div><pre class=lines>  y()</pre></div></div></div>
	<p style="font-family: monospace">Some words of code</p><textarea aria-label=Plain rows=1>own</textarea>
	<script>for (const e of one.querySelectorAll("div")) e.addEventListener("mousedown", () => document.querySelector(".key").focus())</script>`

// TestEditorsAreListedWithTheirText reads editors as one field each, with their drawn lines as value, also after a change, and clicks one.
func TestEditorsAreListedWithTheirText(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(editors)}))
	read := func() (out []string) {
		for _, e := range usable(t, d, tab) {
			out = append(out, e.GetRole()+" "+e.GetText()+" = "+e.GetValue())
		}
		return out
	}
	if got, want := read(), []string{"textbox Code = let a = 1 a + 2", "textbox Script = if (x) y()", "textbox Plain = own"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	testenv.Evaluate[any](t, d, `lines.append(Object.assign(document.createElement("div"), { textContent: "b" })); 0`)
	if got := read()[0]; got != "textbox Code = let a = 1 a + 2 b" {
		t.Errorf("after a change: %s", got)
	}
	if _, err := turn(t, d, tab, clickAt(&domtapv1.Target{Label: "Code"})); err != nil {
		t.Error(err)
	}
}
