package acting

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// rowShapes lists pages with rows for Alice and Bob. reuse makes the first row show Carol in the same nodes.
var rowShapes = []struct{ name, page, reuse string }{
	{"table", `<table><tr><td>Alice<td><button>Delete</button><tr><td>Bob<td><button>Delete</button></table>`,
		`document.querySelector("td").textContent = "Carol"`},
	{"li", `<ul><li><span>Alice</span> <button>Delete</button><li><span>Bob</span> <button>Delete</button></ul>`,
		`document.querySelector("span").textContent = "Carol"`},
	{"card", `<div class=card><h3>Alice</h3><p>since 2019</p><button>Delete</button></div><div class=card><h3>Bob</h3><p>since 2020</p><button>Delete</button></div>`,
		`document.querySelector("h3").firstChild.data = "Carol"`},
	{"bare boxes", `<div><div>Alice <button>Delete</button></div><div>Bob <button>Delete</button></div></div>`,
		`document.querySelector("button").previousSibling.data = "Carol "`},
	{"the last card", `<div><div class="user-card"><b>Name</b> <i>Alice</i> <button>Delete</button></div></div>`,
		`document.querySelector("i").textContent = "Carol"`},
	{"image", `<ul><li><img alt=Alice> <button>Delete</button><li><img alt=Bob> <button>Delete</button></ul>`,
		`document.querySelector("img").alt = "Carol"`},
	{"input value", `<ul><li><input value=Alice> <button>Delete</button><li><input value=Bob> <button>Delete</button></ul>`,
		`document.querySelector("input").value = "Carol"`},
	{"data-id", `<ul><li data-id=1><button>Delete</button><li data-id=2><button>Delete</button></ul>`,
		`document.querySelector("li").dataset.id = 3`},
	{"a card without text", `<div><div class=card data-id=1><button>Delete</button></div><div class=card data-id=2><button>Delete</button></div></div>`,
		`document.querySelector(".card").dataset.id = 3`},
	{"a name around what has a key", `<div><div class=card><h3>Alice</h3><div class=tile data-id=1><button>Delete</button></div></div><div class=card><h3>Bob</h3><div class=tile data-id=2><button>Delete</button></div></div></div>`,
		`document.querySelector("h3").textContent = "Carol"`},
	{"select", `<ul><li><select><option>Alice<option>Carol</select> <button>Delete</button><li><select><option>Bob</select> <button>Delete</button></ul>`,
		`document.querySelector("select").selectedIndex = 1`},
	{"role=row", `<div role=grid><div role=row><span role=gridcell>Alice</span><span role=gridcell><button>Delete</button></span></div>` +
		`<div role=row><span role=gridcell>Bob</span><span role=gridcell><button>Delete</button></span></div></div>`,
		`document.querySelector("[role=gridcell]").textContent = "Carol"`},
	{"dl", `<dl><dt>Alice<dd><button>Delete</button><dt>Bob<dd><button>Delete</button></dl>`,
		`document.querySelector("dt").textContent = "Carol"`},
	{"form", `<form onsubmit="return false"><label>Name</label> <b>Alice</b> <button>Delete</button></form><form onsubmit="return false"><label>Name</label> <b>Bob</b> <button>Delete</button></form>`,
		`document.querySelector("b").textContent = "Carol"`},
	{"one form", `<form onsubmit="return false"><label>Name</label> <b>Alice</b> <button>Delete</button></form>`,
		`document.querySelector("b").textContent = "Carol"`},
	{"link", `<ul><li><a href=/alice>Alice</a> <button>Delete</button><li><a href=/bob>Bob</a> <button>Delete</button></ul>`,
		`(() => { const a = document.querySelector("a"); a.href = "/carol"; a.textContent = "Carol" })()`},
	{"numbers", `<ul><li>Order 7 <button>Delete</button><li>Order 8 <button>Delete</button></ul>`,
		`document.querySelector("li").firstChild.data = "Order 907 "`},
	{"codes", `<table><tr><td>INV-7<td>Open<td><button>Delete</button><tr><td>INV-8<td>Paid<td><button>Delete</button></table>`,
		`document.querySelector("td").textContent = "INV-907"`},
	{"shadow tree", `<div id=u></div><script>for (const n of ["Alice", "Bob"]) { const row = document.createElement("x-row"); row.attachShadow({mode: "open"}).innerHTML = "<b>" + n + "</b> <button>Delete</button>"; u.append(row) }</script>`,
		`document.querySelector("x-row").shadowRoot.querySelector("b").textContent = "Carol"`},
	{"frame", `<iframe srcdoc="<ul><li><b>Alice</b> <button onclick='parent.log.push(1)'>Delete</button><li><b>Bob</b> <button>Delete</button></ul>"></iframe>`,
		`document.querySelector("iframe").contentDocument.querySelector("b").textContent = "Carol"`},
	{"label", `<ul><li><label><input type=radio name=who> Alice</label> <button>Delete</button><li><label><input type=radio name=who> Bob</label> <button>Delete</button></ul>`,
		`document.querySelector("label").lastChild.data = " Carol"`},
	{"a clickable row", `<table><tr tabindex=0><td>Alice<td><button>Delete</button><tr tabindex=0><td>Bob<td><button>Delete</button></table>`,
		`document.querySelector("td").textContent = "Carol"`},
	{"moved on by one", `<ul><li><b>Alice</b> <button>Delete</button><li><b>Bob</b> <button>Delete</button><li><b>Carol</b> <button>Delete</button></ul>`,
		`(() => { const b = [...document.querySelectorAll("b")]; b[0].textContent = "Bob"; b[1].textContent = "Carol"; b[2].parentNode.remove() })()`},
}

// logged lets a page record the events of its buttons.
const logged = `<script>log = []; for (const type of ["pointerdown", "mousedown", "click", "keydown", "input", "change"])
	addEventListener(type, (e) => log.push(type), true)</script>`

// readings lists the ways to read a page.
var readings = map[string]func(s *stage) error{
	"dom": func(s *stage) error {
		_, err := s.d.Dom.GetDom(s.t.Context(), &domtapv1.GetDomRequest{TabId: s.tab})
		return err
	},
	"all of the dom": func(s *stage) error {
		_, err := s.d.Dom.GetDom(s.t.Context(), &domtapv1.GetDomRequest{TabId: s.tab, FullSnapshot: true})
		return err
	},
	"lines": func(s *stage) error {
		_, err := s.d.Dom.GetCompact(s.t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab})
		return err
	},
	"tree": func(s *stage) error {
		_, err := s.d.Dom.GetCompact(s.t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab, Format: domtapv1.Format_FORMAT_TREE})
		return err
	},
	"what changed": func(s *stage) error {
		_, err := s.d.Dom.GetCompact(s.t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab, Incremental: true})
		return err
	},
	"an action": func(s *stage) error {
		_, err := s.d.Actions.Interact(s.t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{key(nil, "Shift", 1)}})
		return err
	},
}

// TestRowWithAnotherRecordIsRefusedOnce reuses rows of every shape between the read and the click.
func TestRowWithAnotherRecordIsRefusedOnce(t *testing.T) {
	s := staged(t, `<p>`)
	for _, shape := range rowShapes {
		t.Run(shape.name, func(t *testing.T) {
			s.t = t
			s.show(shape.page + logged)
			s.refusedOnce("Delete", shape.reuse)
		})
	}
	for name, read := range readings {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.show(rowShapes[1].page + logged)
			button := s.noted("Delete")
			s.eval(`document.querySelector("span").textContent = "Dora"`)
			if err := read(s); err != nil {
				t.Fatal(err)
			}
			s.eval(rowShapes[1].reuse)
			s.refused(click(button), "STALE_REF", `showed "Dora"`, `shows "Carol"`)
		})
	}
}

// refusedOnce reads, lets the page reuse a row, and clicks in it. The page must receive nothing. A second identical click must succeed.
func (s *stage) refusedOnce(name, reuse string) {
	s.t.Helper()
	button := s.noted(name)
	s.eval(reuse)
	s.eval(`log.length = 0`)
	s.refused(click(button), "STALE_REF", "read the page again, or repeat the step")
	s.is(`log.join()`, "")
	said := s.do(click(button))
	if !strings.Contains(said, "ok") {
		s.t.Errorf("the second click says %q", said)
	}
	s.is(`log.includes("click") || log.includes(1)`, "true")
}

// TestARowMayChange lets rows change counters, times, marks and states. They still show the same record, so nothing is refused.
func TestARowMayChange(t *testing.T) {
	s := staged(t, `<p>`)
	for _, c := range []struct{ name, page, button, change string }{
		{"a todo is completed", `<ul><li class=todo><div class=view><input class=toggle type=checkbox><label>Buy milk</label><button>Remove</button></div><li class=todo><div class=view><input class=toggle type=checkbox><label>Walk</label><button>Remove</button></div></ul>`, "Remove",
			`(() => { document.querySelector("li").className = "todo completed"; document.querySelector("input").checked = true })()`},
		{"a todo is edited", `<ul><li class=todo><label>Buy milk</label><button>Remove</button><li class=todo><label>Walk</label><button>Remove</button></ul>`, "Remove",
			`(() => { const li = document.querySelector("li"); li.classList.add("editing"); li.insertAdjacentHTML("beforeend", "<input class=edit value='Buy milk'>") })()`},
		{"a mail is read", `<table><tr class=unread><td><b>Unread</b><td>Alice<td>Lunch?<td>12:30<td><button>Archive</button><tr class=unread><td><b>Unread</b><td>Bob<td>Report<td>12:31<td><button>Archive</button></table>`, "Archive",
			`(() => { document.querySelector("tr").className = ""; document.querySelector("b").remove() })()`},
		{"a row that is clicked itself", `<table><tr tabindex=0><td>Unread<td>Alice<td>Lunch?<td>12:30<tr tabindex=0><td>Bob<td>Report<td>12:31</table>`, "Unread Alice Lunch? 12:30",
			`document.querySelector("td").remove()`},
		{"a card without text gets a badge", `<div><div class=card data-id=1><button>Open</button></div><div class=card data-id=2><button>Open</button></div></div>`, "Open",
			`document.querySelector(".card").insertAdjacentHTML("beforeend", "<span class=badge>2 new</span>")`},
		{"a price ticks", `<table><tr><td>ACME<td class=p>12.50<td>+1 %<td><button>Buy</button><tr><td>Initech<td class=p>99.10<td>-2 %<td><button>Buy</button></table>`, "Buy",
			`(() => { document.querySelectorAll("td")[1].textContent = "13.75"; document.querySelectorAll("td")[2].textContent = "-3 %" })()`},
		{"a quantity", `<ul><li>Pen <input type=number value=1> <span>1 × 3.50</span> <button>Drop</button><li>Ink <input type=number value=1> <button>Drop</button></ul>`, "Drop",
			`(() => { document.querySelector("input").value = 4; document.querySelector("span").textContent = "4 × 3.50 = 14.00" })()`},
		{"a message comes", `<ul><li><b>Alice</b> <p>See you</p> <time>10:00</time> <button>Mute</button><li><b>Bob</b> <p>Thanks</p> <time>09:00</time> <button>Mute</button></ul>`, "Mute",
			`(() => { document.querySelector("p").textContent = "On my way!"; document.querySelector("time").textContent = "now"; document.querySelector("li").insertAdjacentHTML("beforeend", "<span class=badge>2 new</span>") })()`},
		{"a status", `<table><tr><td>Alice<td>Pending<td><button>Cancel</button><tr><td>Bob<td>Paid<td><button>Cancel</button></table>`, "Cancel",
			`document.querySelectorAll("td")[1].textContent = "Shipped"`},
		{"a status of its own", `<ul><li><b>Build 12</b> <i>compiling the sources</i> <button>Stop</button><li><b>Deploy</b> <i>copies files</i> <button>Stop</button></ul>`, "Stop",
			`document.querySelector("i").textContent = "linking the program"`},
		{"the order", `<ul><li><b>Alice</b> <button>Delete</button><li><b>Bob</b> <button>Delete</button></ul>`, "Delete",
			`document.querySelector("ul").append(document.querySelector("li"))`},
		{"times", `<ul><li>Alice <i>2 minutes ago</i> <button>Reply</button><li>Alice <i>3 minutes ago</i> <button>Reply</button></ul>`, "Reply",
			`document.querySelector("i").textContent = "just now"`},
		{"messages of a form", `<form onsubmit="return false"><label>Name <input value=x></label><label>Mail <input></label><button>Send</button></form>`, "Send",
			`document.querySelectorAll("label").forEach((l) => l.insertAdjacentHTML("beforeend", "<em class=error>This is required</em>"))`},
		{"another message of a form", `<form onsubmit="return false"><label>Name <input></label><p role=alert>This is required</p><button>Send</button></form>`, "Send",
			`document.querySelector("p").textContent = "Too short"`},
		{"details", `<ul><li><b>Alice</b> <button aria-expanded=false>More</button><li><b>Bob</b> <button aria-expanded=false>More</button></ul>`, "More",
			`(() => { const li = document.querySelector("li"); li.querySelector("button").setAttribute("aria-expanded", "true"); li.insertAdjacentHTML("beforeend", "<p>alice@example.com, Zurich <a href=/alice>profile</a></p>") })()`},
		{"another row", `<ul><li><b>Alice</b> <button>Delete</button><li><b>Bob</b> <i>Delete</i></ul>`, "Delete",
			`document.querySelectorAll("b")[1].textContent = "Carol"`},
		{"another section", `<main><section><h2>News</h2><p id=p>Rain</p></section><section><h2>Shop</h2><button>Order</button></section></main>`, "Order",
			`document.querySelector("#p").textContent = "Sunshine"`},
		{"a heading above", `<h1>Inbox</h1><p>Loading</p><button>Refresh</button>`, "Refresh",
			`document.querySelector("p").textContent = "Alice wrote"`},
		{"an item within the item", `<ul><li>Fruit <button>Fold</button><ul><li>Apple<li>Pear</ul><li>Tools <button>Fold</button><ul><li>Saw</ul></ul>`, "Fold",
			`document.querySelectorAll("li")[1].textContent = "Plum"`},
		{"an image that loads late", `<ul><li><img src="data:,"> Alice <button>Follow</button><li><img src="data:,"> Bob <button>Follow</button></ul>`, "Follow",
			`document.querySelector("img").setAttribute("alt", "Portrait")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.show(c.page + logged)
			button := s.noted(c.button)
			s.eval(c.change)
			s.eval(`log.length = 0`)
			s.do(click(button))
			s.is(`log.includes("click")`, "true")
		})
	}
}

// TestEveryActionMindsItsRow performs every other action by ref in a row that shows another record.
func TestEveryActionMindsItsRow(t *testing.T) {
	s := staged(t, `<p>`)
	const page = `<ul><li><b>Alice</b> <button>Press</button> <input name=field> <select name=choice><option>a<option>b</select> <input type=checkbox name=box> <input type=file name=file>
		<li><b>Bob</b> <button>Other</button></ul><p draggable=true tabindex=0>Source</p>` + logged
	const reuse = `document.querySelector("b").textContent = "Carol"`
	for name, step := range map[string]func() *domtapv1.Step{
		"double click": func() *domtapv1.Step {
			return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: s.at("Press")}}}
		},
		"type":   func() *domtapv1.Step { return typing(s.at("field"), "x") },
		"fill":   func() *domtapv1.Step { return fill(s.at("field"), "x") },
		"press":  func() *domtapv1.Step { return key(s.at("Press"), "Enter", 1) },
		"select": func() *domtapv1.Step { return selecting(s.at("choice"), "b") },
		"check":  func() *domtapv1.Step { return check(s.at("box")) },
		"drag": func() *domtapv1.Step {
			return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: s.at("Press"), DeltaX: 50}}}
		},
		"drag to": func() *domtapv1.Step {
			return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: s.at("Source"), To: s.at("Press")}}}
		},
		"mouse down": func() *domtapv1.Step { return mouseDown(s.at("Press")) },
		"mouse move": func() *domtapv1.Step { return mouseMove(s.at("Press"), 0, 0) },
		"upload": func() *domtapv1.Step {
			return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: s.at("file"), Files: []*domtapv1.UploadFile{{Name: "a.txt", Content: []byte("x")}}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.show(page)
			s.d.All(s.tab)
			one := step()
			s.eval(reuse)
			s.eval(`log.length = 0`)
			s.refused(one, "STALE_REF", `showed "Alice"`, `shows "Carol"`)
			s.is(`log.join()`, "")
			s.do(one)
		})
	}
	t.Run("form", func(t *testing.T) {
		s.t = t
		s.show(page)
		s.d.All(s.tab)
		request := &domtapv1.FillFormRequest{TabId: s.tab, Fields: []*domtapv1.FormField{{Ref: s.at("field").Ref, Value: "x"}}}
		s.eval(reuse)
		for _, want := range []string{"STALE_REF", ""} {
			r, err := s.d.Actions.FillForm(t.Context(), request)
			if err != nil || r.GetResults()[0].GetReason() != want {
				t.Errorf("got %v, %v, want reason %q", r.GetResults(), err, want)
			}
		}
		s.eval(`document.querySelector("b").textContent = "Dora"`)
		request.Fields[0] = &domtapv1.FormField{Selector: "[name=field]", Value: "y"}
		if r, err := s.d.Actions.FillForm(t.Context(), request); err != nil || !r.GetResults()[0].GetOk() {
			t.Errorf("a field that is not named by its ref: %v, %v", r, err)
		}
	})
}

// TestATurnMayChangeItsRow performs several actions on one row in one turn, which change the text of the row. A later action on another row
// that has changed is refused.
func TestATurnMayChangeItsRow(t *testing.T) {
	s := staged(t, `<p>`)
	turn := func(steps ...*domtapv1.Step) []*domtapv1.StepResult {
		t.Helper()
		r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetResults()
	}
	s.show(`<ul><li><input name=who value=Alice> <button onclick="this.previousElementSibling.value = 'Zoe'; this.textContent = 'Edited'">Edit</button> <button>Save</button>
		<li><input value=Bob> <button>Edit</button></ul>`)
	for _, r := range turn(fill(s.at("who"), "Carol"), click(s.at("Edit")), click(s.at("Save"))) {
		if !r.GetOk() {
			t.Errorf("in its own row: %v", r)
		}
	}
	s.show(`<div><div>0 <button>Add</button></div><div>0 <button>Add</button></div></div><script>document.querySelectorAll("button").forEach((b) => b.onclick = () => b.previousSibling.data = Number(b.previousSibling.data) + 1 + " ")</script>`)
	add := s.at("Add")
	for _, r := range turn(click(add), click(add), click(add)) {
		if !r.GetOk() {
			t.Errorf("a counter: %v", r)
		}
	}
	// A list that fills its nodes from the front when an entry is removed.
	s.show(`<ul id=u></ul><script>
		names = ["Alice", "Bob", "Carol", "Dora"]; gone = []
		draw = () => { while (u.children.length > names.length) u.lastChild.remove(); names.forEach((n, i) => {
			if (!u.children[i]) u.insertAdjacentHTML("beforeend", "<li><b></b> <button onclick='const [n] = names.splice([...u.children].indexOf(this.parentNode), 1); gone.push(n); draw()'>Delete</button>")
			u.children[i].firstChild.textContent = n }) }
		draw()</script>`)
	var refs []*domtapv1.Target
	for _, e := range s.d.All(s.tab).GetElements() {
		if e.GetText() == "Delete" {
			refs = append(refs, &domtapv1.Target{Ref: proto.Uint32(e.GetRef())})
		}
	}
	results := turn(click(refs[0]), click(refs[1]))
	if !results[0].GetOk() || results[1].GetReason() != "STALE_REF" {
		t.Errorf("in a list that moved on: %v", results)
	}
	s.is(`gone.join()`, "Alice")
}

// TestClientThatHasNotReadIsNotRefused acts by a ref that only another client has read.
func TestClientThatHasNotReadIsNotRefused(t *testing.T) {
	s := staged(t, rowShapes[1].page+logged)
	button := s.at("Delete")
	s.eval(rowShapes[1].reuse)
	for who, want := range map[string]string{"stranger": "", "": "STALE_REF"} {
		_, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, ClientId: who, Steps: []*domtapv1.Step{click(button)}})
		if testenv.Reason(err) != want || (err == nil) != (want == "") {
			t.Errorf("%q: got %v, want %q", who, err, want)
		}
	}
}

// TestChangedElementIsNotPressed clicks a button whose name changes every few milliseconds, and a button in a row whose record changes
// every few milliseconds. The page records the target of each press. The press must reach the element that the caller read, or the call
// must be refused.
func TestChangedElementIsNotPressed(t *testing.T) {
	s := staged(t, `<p>`)
	for _, page := range []struct{ html, of, name string }{
		{`<button id=it onmousedown="hits.push(this.textContent)">Alice</button>`, "button", ""},
		{`<ul><li><b id=it>Alice</b> <button onmousedown="hits.push(it.textContent)">Delete</button><li><b>Zoe</b> <i>Delete</i></ul>`, "b", "Delete"},
	} {
		for _, every := range []int{17, 41} {
			s.show(page.html + fmt.Sprintf(`<script>hits = []; n = 0
				tick = () => { it.firstChild.data = ["Alice", "Bob", "Carol"][n++ %% 3]; if (n %% 10) setTimeout(tick, %d) }</script>`, every))
			pressed, refused := 0, 0
			for range 8 {
				s.eval(`(n = 1, tick())`)
				var told string
				var at *domtapv1.Target
				for _, e := range s.d.All(s.tab).GetElements() {
					if e.GetTag() == page.of && told == "" {
						told = e.GetText()
					}
					if e.GetTag() == "button" {
						at = &domtapv1.Target{Ref: proto.Uint32(e.GetRef())}
					}
				}
				r, err := s.try(t.Context(), click(at))
				hits := s.eval(`hits.splice(0).join()`)
				switch {
				case err != nil && testenv.Reason(err) != "STALE_REF":
					t.Fatal(err)
				case err != nil && hits != "", err == nil && hits != told:
					t.Errorf("every %d ms: told of %q, the press went to %q, the answer is %v, %v", every, told, hits, r.GetSummary(), err)
				case err != nil:
					refused++
				default:
					pressed++
				}
			}
			t.Logf("<%s> every %d ms: %d pressed, %d refused", page.of, every, pressed, refused)
		}
	}
}

// TestANameThatChangesUnderThePointerIsSaid changes the names of buttons between the press and the click.
func TestANameThatChangesUnderThePointerIsSaid(t *testing.T) {
	s := staged(t, `<button onmousedown="this.textContent = 'Pause'">Play</button><button onclick="this.textContent = 'Following'">Follow</button>`)
	if said := s.do(click(s.at("Play"))); !strings.Contains(said, `it was called "Play" when it was pressed and "Pause" when it was clicked`) {
		t.Errorf("the summary is %q", said)
	}
	if said := s.do(click(s.at("Follow"))); said != `click "Follow": ok` {
		t.Errorf("the summary is %q", said)
	}
	s.show(`<button onmouseenter="this.textContent = 'Unfollow'" onclick="clicked = true">Following</button><script>clicked = false</script>`)
	button := s.at("Following")
	s.refused(click(button), "STALE_REF", `was called "Following" and is called "Unfollow"`)
	s.is("clicked", "false")
	s.do(click(button))
}
