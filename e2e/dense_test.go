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

// densePages holds pages whose texts and structures are difficult for the format.
var densePages = map[string]string{
	"/orders": `<title>Orders [1] Pay</title><nav aria-label=Shop><a href=/>Home</a> <a href=/orders>Orders and returns</a></nav>
		<main><h1>Open orders</h1><table><tr><th>Order<th>Customer<th></tr>` + orderRows(12) + `</table>
		<form aria-label="Sign in"><label>E-mail <input value='a "b" [3] (c)'></label><label>Password <input type=password value=x required></label>
		<label><input type=checkbox checked> Stay signed in</label><select aria-label=Country><option>Peru<option selected>Chile</select>
		<button disabled>Sign in</button><button aria-expanded=false>More</button></form>
		<p>Read <a href=/orders>Orders and returns</a>, <a href=https://other.example/x>the manual</a></p></main>`,
	"/words": `<title>Words</title><h1>! alert: [1] Saved</h1><h2># <a href=#a>Part (one)</a></h2><nav aria-label="a> [4] b">` +
		`<a href=/1>[5] Pay now (button)</a><a href=/2>Delete (button disabled)</a><a href=/3>=[6]</a><a href=/4>Up → down</a>` +
		`<a href=/5>→ shop.example</a><a href=/6>→shop.example</a><a href=/7>‹1003›</a><a href=/8>A | B</a><a href=/9>\[7] \</a></nav>` +
		`<button>Comments (23)</button><button>(covered) [1]</button><input aria-label="Note" value='x" disabled) [8] y (button'>` +
		`<div role=alert>Wrong [9] password</div><a href=/10>汉字 (汉) “quoted”</a><a href=/11>x ( (y) z</a><a href=/12></a>`,
	"/modal": `<title>Modal</title><a href=/>Home</a><button>Save</button><div onclick=1><a href=/x>Blue jeans</a></div>
		<iframe title="Chat [2]" srcdoc="<h2>Ask</h2><input aria-label=Message><a href=https://other.example/>Rules</a>"></iframe>
		<dialog id=d aria-label="Delete 3 files?"><button>Delete</button><button>Cancel</button></dialog><script>d.showModal()</script>`,
}

func orderRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<tr><td>%d</td><td>Customer | %d</td><td><a href=/o/%d>Edit</a> <button>Delete</button></td></tr>", 1000+i, i, i)
	}
	return b.String()
}

// TestDenseReadsBackAsGetDom reads pages as text, and compares refs, names, roles and states with the response of GetDom.
func TestDenseReadsBackAsGetDom(t *testing.T) {
	handlers := map[string]http.HandlerFunc{}
	for path, page := range densePages {
		handlers[path] = testenv.HTML(page)
	}
	url := serve(t, handlers)
	d := testenv.Apart(t)
	paths := []string{"/pages/elements.html", "/pages/stale.html"}
	for path := range densePages {
		paths = append(paths, path)
	}
	for _, path := range paths {
		tab := d.Open(url + path)
		for _, r := range []*domtapv1.GetCompactRequest{
			{}, {Hrefs: true}, {InteractiveOnly: proto.Bool(false)}, {ViewportOnly: true}, {MaxElements: proto.Int32(5)},
		} {
			testenv.CheckDense(t, d, tab, r)
		}
	}
}

// TestDenseShowsWhereElementsStand reads a page with a table, a form and groups.
func TestDenseShowsWhereElementsStand(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/orders": testenv.HTML(densePages["/orders"])})
	d := testenv.Apart(t)
	tab := d.Open(url + "/orders")
	got, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.GetText(), "\n")
	for _, want := range []string{"<navigation Shop>", "<main>", "# Open orders", "<form Sign in>"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, got.GetText())
		}
	}
	for _, want := range []string{"the manual →other.example", ` (textbox ="a \"b\" \[3] \(c)")`, "Stay signed in (checkbox checked)", "Sign in (button disabled)", "More (button collapsed)"} {
		if !strings.Contains(got.GetText(), want) {
			t.Errorf("no %q in\n%s", want, got.GetText())
		}
	}
}

// panes has a grid with a frozen column, which draws each row in two tables side by side, and two tables that have nothing in common.
const panes = `<!doctype html><title>Panes</title><style>td { height: 20px; padding: 0 } table { border-spacing: 0; width: 150px }</style>
	<div style="display: flex"><div><table><tr><td>1 Ada<tr><td>2 Grace</table></div>
	<div style="width: 200px; overflow: auto"><table style="width: 900px"><tr><td>1 London<td><button>Edit</button><tr><td>New York<td><button>Edit</button></table></div></div>
	<div style="display: flex; gap: 30px"><table><tr><td>Tea<tr><td>Milk</table><table><tr><td>Pens<td><button>Buy</button><tr><td>Ink<td><button>Buy</button></table></div>
	<div style="display: flex"><div><table><tr><th>Name</table><table><tr><td>Max<tr><td>Eva</table></div>
	<div><table><tr><th>City</table><table><tr><td>Bonn<td><button>Open</button><tr><td>Rome<td><button>Open</button></table></div></div>
	<div style="display: flex"><table style="width: 30px"><tr><td><input type=checkbox><tr><td><input type=checkbox></table><table><tr><td>Plum<tr><td>Pear</table></div>`

// TestRowsInPanesAreNamed reads and uses rows whose first cells are in another table.
func TestRowsInPanesAreNamed(t *testing.T) {
	d := testenv.Shared(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/panes": testenv.HTML(panes)}) + "/panes")
	r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n| 1 Ada | 1 London | [", "\n| 2 Grace | New York | [", "\n| Pens | [", "\n| Ink | [", "\n| Max | Bonn | [", "\n| Eva | Rome | [", "\n| Plum | [", "\n| Pear | ["} {
		if !strings.Contains(r.GetText(), want) {
			t.Errorf("%q is not in\n%s", want, r.GetText())
		}
	}
	found, err := d.Dom.Find(t.Context(), &domtapv1.FindRequest{TabId: tab, Query: "Edit"})
	if err != nil || !strings.Contains(found.GetText(), "Grace") {
		t.Errorf("%v, found %s", err, found.GetText())
	}
	target := &domtapv1.Target{Role: "button", Name: "Edit", Within: "Grace"}
	if _, err := turn(t, d, tab, clickAt(target)); err != nil {
		t.Errorf("within the words of the other pane: %v", err)
	}
	// The first pane shows other records in the same rows, and then a further row; the other pane is unchanged.
	for _, change := range []string{
		`const cells = document.querySelectorAll("table")[0].querySelectorAll("td"); cells[0].textContent = "3 Alan"; cells[1].firstChild.data = "4 Edsger"`,
		`const body = document.querySelector("tbody"); body.prepend(body.lastElementChild)`,
	} {
		if err := d.Browser.Newest().Call(t.Context(), "Runtime.evaluate", map[string]any{"expression": "{" + change + "}"}, nil); err != nil {
			t.Fatal(err)
		}
		if r, err = d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE}); err != nil {
			t.Fatal(err)
		}
		wants := []string{"\n| 3 Alan | 1 London | [", "\n| 4 Edsger | New York | ["}
		if strings.Contains(change, "prepend") {
			wants = []string{"\n| 4 Edsger | 1 London | [", "\n| 3 Alan | New York | ["}
		}
		for _, want := range wants {
			if !strings.Contains(r.GetText(), want) {
				t.Errorf("after %s, %q is not in\n%s", change, want, r.GetText())
			}
		}
	}
}

// week is a row of a calendar, whose events are below its cells.
const week = `<!doctype html><title>Week</title><style>[role=cell] { width: 100px } p { margin: 0; position: relative; height: 20px } p button { position: absolute }</style>
	<div role=table><div role=row><div style="display: flex"><div role=cell><button>1</button></div><div role=cell><button>2</button></div><div role=cell><button>3</button></div></div>
	<p><button style="left: 102px; width: 96px">Standup</button><p><button style="left: 2px; width: 196px">Offsite</button></div></div>`

// TestElementsBelowTheCellsOfARowAreInNoCell reads the events of a week, each with its days.
func TestElementsBelowTheCellsOfARowAreInNoCell(t *testing.T) {
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/week": testenv.HTML(week)}) + "/week")
	r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" | [8] Standup (button ~in-2)", " | [9] Offsite (button ~in-1-to-2)"} {
		if !strings.Contains(r.GetText(), want) {
			t.Errorf("%q is not in\n%s", want, r.GetText())
		}
	}
}

// TestElementsBehindAModalAreCounted expects their number in brief pages, a line for each in others, and all of them after the modal closed.
func TestElementsBehindAModalAreCounted(t *testing.T) {
	rows := strings.Repeat(`<h2>Part</h2><button>Edit</button>`, 6)
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>-</title><h1>List</h1>` + rows + `<dialog id=d aria-label=Sure><button>OK</button></dialog><script>d.showModal()</script>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	brief := &domtapv1.GetCompactRequest{Brief: true}
	want := "\n(covered) 6 elements; find searches them\n<dialog Sure>\n[14] OK (button focused)\n"
	if got := testenv.CheckDense(t, d, tab, brief); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE, Brief: true}); err != nil {
		t.Fatal(err)
	}
	testenv.Evaluate[any](t, d, `d.close()`)
	changes, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Incremental: true, Brief: true, Format: domtapv1.Format_FORMAT_DENSE_DIFF})
	if err != nil || strings.Count(changes.GetText(), "Edit") != 6 {
		t.Errorf("after closing: %v, %v", changes, err)
	}
	testenv.Evaluate[any](t, d, `d.showModal()`)
	if got := testenv.CheckDense(t, d, tab, &domtapv1.GetCompactRequest{}); strings.Count(got, "Edit") != 6 || !strings.Contains(got, "(covered) (button) ") && !strings.Contains(got, "(covered) [") {
		t.Errorf("with a line for each: %s", got)
	}
}

// TestLongNamesInRowsAreStatedOnce reads a table with the same checkbox and the same button in each row. One checkbox is checked.
func TestLongNamesInRowsAreStatedOnce(t *testing.T) {
	row := `<tr><td><input type=checkbox aria-label="Press Space to toggle the selection of this row"%s><td>%s<td><button>Edit</button>`
	rows := fmt.Sprintf(row, "", "Ada") + fmt.Sprintf(row, "", "Bob") + fmt.Sprintf(row, " checked", "Cyd")
	d := testenv.Apart(t)
	tab := d.Open(serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<title>-</title><table>` + rows + `</table>`)}))
	got := testenv.CheckDense(t, d, tab, &domtapv1.GetCompactRequest{})
	want := "| [3] Press Space to toggle the selection of this row (checkbox) | Ada | [6] Edit (button)\n| [9]=3 | Bob | [12] Edit (button)\n" +
		"| [15] Press Space to toggle the selection of this row (checkbox checked) | Cyd | [18] Edit (button)\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
