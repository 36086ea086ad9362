package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// structurePages holds pages with the boxes that form a page's structure, with and without text of their own.
var structurePages = map[string]string{
	"/table": `<table><caption>Orders</caption><tr><th>Order<th>Customer<th></tr>
		<tr><td>1003<td><div>Grace <b>Hopper</b></div><td><button>Edit</button> <button>Delete</button></tr></table>`,
	"/lists": `<ul><li>Milk<li><a href=/a>Apples</a><li><p>Pears</p><button>Remove</button></ul>
		<div role=list aria-label=Tags><div role=listitem><span>red</span></div></div>`,
	"/forms": `<form id=f><fieldset><legend>Address</legend><input aria-label=Street></fieldset>
		<div role=radiogroup aria-label=Size><input type=radio aria-label=Small></div><div role=toolbar><button>Bold</button></div></form>
		<figure><img src="" alt=Chart width=20 height=20><figcaption>Sales</figcaption></figure>
		<article aria-label=Card><button>Open</button></article>`,
	"/drawn": `<svg width=200 height=100><rect width=50 height=50 /><circle cx=80 cy=20 r=10 /><text y=90>Axis</text></svg>
		<svg width=24 height=24><path d="M0 0h24v24" /></svg><svg width=200 height=90><title>Map</title><rect width=9 height=9 /></svg>
		<canvas width=30 height=30></canvas><div id=empty style="width:20px;height:20px;background:red"></div><div style="height:0"></div>
		<a href=/a><ul><li><span>Covered</span></ul></a>`,
}

// outline returns the elements, each as role and text, indented by depth. A star marks actionable elements.
func outline(elements []*domtapv1.Element) []string {
	var out []string
	for _, e := range elements {
		line := strings.TrimSuffix(strings.Repeat(" ", int(e.GetDepth()))+e.GetRole()+" "+e.GetText(), " ")
		if e.GetActionable() {
			line += "*"
		}
		out = append(out, line)
	}
	return out
}

func whole(t *testing.T, d *testenv.Daemon, tab string) []string {
	t.Helper()
	r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
	if err != nil {
		t.Fatal(err)
	}
	return outline(r.GetElements())
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWholeSnapshotsHaveTheStructure reads tables, lists, forms and drawings. Text of the content must occur once, and not in the boxes
// around it.
func TestWholeSnapshotsHaveTheStructure(t *testing.T) {
	handlers := map[string]http.HandlerFunc{}
	for path, page := range structurePages {
		handlers[path] = testenv.HTML("<!doctype html><title>Structure</title>" + page)
	}
	url := serve(t, handlers)
	d := testenv.Apart(t)
	tab := ""
	for path, want := range map[string][]string{
		"/table": {
			"table Orders", " caption Orders", " row", "  columnheader Order", "  columnheader Customer", "  columnheader",
			" row", "  cell 1003", "  cell", "   generic Grace Hopper", "  cell", "   button Edit*", "   button Delete*",
		},
		"/lists": {
			"list", " listitem Milk", " listitem", "  link Apples*", " listitem", "  paragraph Pears", "  button Remove*",
			"list Tags", " listitem", "  generic red",
		},
		"/forms": {
			"generic", " group Address", "  legend Address", "  textbox Street*", " radiogroup Size", "  radio Small*",
			" toolbar", "  button Bold*", "figure Sales", " img Chart", " generic Sales", "article Card", " button Open*",
		},
		"/drawn": {
			"img", " graphics-symbol", " graphics-symbol", " generic Axis", "img", "img Map", "generic", "generic", "link Covered*",
		},
	} {
		t.Run(path, func(t *testing.T) {
			tab = d.Show(tab, url+path)
			expect(t, "full_snapshot", whole(t, d, tab), want)
			r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{
				TabId: tab, InteractiveOnly: proto.Bool(false), MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0),
			})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "interactive_only false", outline(r.GetElements()), want)
		})
	}
}

// TestStructureFollowsChanges fills and empties boxes whose listing depends on their content.
func TestStructureFollowsChanges(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/drawn": testenv.HTML("<!doctype html>" + structurePages["/drawn"])})
	d := testenv.Apart(t)
	tab := d.Open(url + "/drawn")
	whole(t, d, tab)
	for _, step := range []struct {
		script string
		want   []string
	}{
		{`for (const e of document.querySelectorAll("svg,canvas,a")) e.remove()`, []string{"generic"}},
		{`empty.append(document.createElement("button"))`, []string{"button*"}},
		{`empty.firstChild.remove()`, []string{"generic"}},
		{`empty.innerHTML = "<table><tr><td>1<td><i>2</i></table>"`, []string{"table", " row", "  cell 1", "  cell", "   generic 2"}},
		{`document.querySelector("i").replaceWith("two")`, []string{"table", " row", "  cell 1", "  cell two"}},
		{`document.querySelector("td").textContent = ""`, []string{"table", " row", "  cell", "  cell two"}},
		{`document.querySelector("table").role = "none"`, []string{"row", " cell", " cell two"}},
	} {
		testenv.Evaluate[any](t, d, step.script)
		expect(t, step.script, whole(t, d, tab), step.want)
	}
}

// TestDenseHasTheRowsOfRealTables reads a table whose cells contain elements with the text.
func TestDenseHasTheRowsOfRealTables(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/table": testenv.HTML("<!doctype html>" + structurePages["/table"])})
	d := testenv.Apart(t)
	tab := d.Open(url + "/table")
	r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<table Orders>\n", "| Order | Customer |\n", "| 1003 | Grace Hopper | [", "] Edit (button) [", "] Delete (button)\n"} {
		if !strings.Contains(r.GetText(), want) {
			t.Errorf("no %q in\n%s", want, r.GetText())
		}
	}
}

// TestWhichOneIsMeant reads elements with the same name in a list, and targets one of them ambiguously.
func TestWhichOneIsMeant(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/list": testenv.HTML("<!doctype html><ul><li>Milk <button>Remove</button>" +
		"<li><div><b>Bread</b></div><button>Remove</button></ul>")})
	d := testenv.Apart(t)
	tab := d.Open(url + "/list")
	r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"] Remove (button) ‹Milk› [", "] Remove (button) ‹Bread›\n"} {
		if !strings.Contains(r.GetText(), want) {
			t.Errorf("no %q in\n%s", want, r.GetText())
		}
	}
	checkContexts(t, d, url+"/list", tab)
	_, err = d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{button("Remove")}})
	message := status.Convert(err).Message()
	for _, want := range []string{`button "Remove" in "Milk"`, `button "Remove" in "Bread"`} {
		if !strings.Contains(message, want) {
			t.Errorf("no %q in %q", want, message)
		}
	}
}

// checkContexts checks the contexts of a page in LINES in the given tab and in a new one, and in a stream and a GetDom of another new tab.
func checkContexts(t *testing.T, d *testenv.Daemon, url, known string) {
	t.Helper()
	want := []string{"Milk", "Bread"}
	for _, id := range []string{known, d.Open(url)} {
		lines, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: id})
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if line := "] Remove (button) ‹" + words + "›\n"; !strings.Contains(lines.GetText(), line) {
				t.Errorf("no %q in\n%s", line, lines.GetText())
			}
		}
	}
	fresh := d.Open(url)
	stream, err := d.Dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: fresh})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	dom, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: fresh})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]*domtapv1.Element{first.GetSnapshot().GetElements(), dom.GetElements()} {
		var got []string
		for _, e := range list {
			got = append(got, e.GetContext())
		}
		if !slices.Equal(got, want) {
			t.Errorf("got the contexts %q, want %q", got, want)
		}
	}
}
