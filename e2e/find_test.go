package e2e

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// findPage has a table, regions, a form, headings, a frame and texts.
const findPage = `<title>Orders</title><nav aria-label=Shop><a href=/>Home</a> <a href=/returns/policy>Read more</a></nav>
	<main><h1>Open orders</h1><table><tr><th>Order<th>Customer<th></tr>
	<tr><td>1003</td><td>Grace Hopper</td><td><a href=/o/1>Edit</a></td></tr></table>
	<section aria-label="Ada Lovelace"><button>Delete</button></section>
	<section aria-label="Alan Turing"><button onclick="document.title='deleted'">Delete</button></section>
	<h2>Delivery</h2><form><label>Straße <input name=street placeholder="such as 5th Avenue" value=Höhenweg></label><button>Save</button></form>
	<h2><a href=/pricing>Pricing</a></h2><p>Parcels arrive within two days.</p>
	<iframe title=Chat srcdoc="<button>Call an operator</button>"></iframe></main>`

// TestFindFindsElementsAndTexts searches a page in Chromium, compares each match with GetDom, and acts on one.
func TestFindFindsElementsAndTexts(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/orders": testenv.HTML(findPage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/orders")
	find := func(query string) *domtapv1.FindResponse {
		got, err := d.Dom.Find(t.Context(), &domtapv1.FindRequest{TabId: tab, Query: query})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	known := map[uint32]*domtapv1.Element{}
	all, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all.GetElements() {
		known[e.GetRef()] = e
	}
	for query, want := range map[string]string{
		"delete turing": "Delete (button)", "strasse": "Straße (input =Höhenweg)", "5th avenue": "Straße (input =Höhenweg)",
		"save delivery": "Save (button)", "pricing": "Pricing (a →/pricing)", "call operator": "Call an operator (button)",
		"returns": "Read more (a →/returns/policy)", "two days": "Parcels arrive within two days.", "grace hopper": "Grace Hopper (td) ‹1003 | Grace Hopper | Edit›", "open orders": "Open orders (h1)",
	} {
		got := find(query)
		if len(got.GetMatches()) == 0 || !strings.Contains(got.GetMatches()[0].GetLine(), "] "+want) {
			t.Errorf("%s: no %q in\n%s", query, want, got.GetText())
		}
		for _, m := range got.GetMatches() {
			e := proto.Clone(m.GetElement()).(*domtapv1.Element)
			if e.Index = known[e.GetRef()].GetIndex(); !proto.Equal(e, known[e.GetRef()]) {
				t.Errorf("%s: found %v, GetDom has %v", query, e, known[e.GetRef()])
			}
		}
	}
	if got := find("dleete"); len(got.GetMatches()) > 0 || len(got.GetNearest()) == 0 || !strings.Contains(got.GetText(), "No match") {
		t.Errorf("a misspelled word: %v", got)
	}
	ref := find("delete turing").GetMatches()[0].GetElement().GetRef()
	target := &domtapv1.Target{Ref: proto.Uint32(ref)}
	done, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}}})
	if err != nil || done.GetTab().GetTitle() != "deleted" {
		t.Errorf("the click: %v, %v", done, err)
	}
}

// TestFindSeesWhatLabelsStandFor searches for the content of boxes whose labels do not mention it. The result must list the content.
func TestFindSeesWhatLabelsStandFor(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/sheets": testenv.HTML(`<div tabindex=0><div role=region aria-label="Tab panels"><table>
		<tr><td>Jazz<td><input type=checkbox></table></div></div>
		<div onclick="1" aria-label="A card"><p>Costs 12.99</p></div>
		<a href=/x aria-label="Read about the harbour"><div>Two new berths</div></a>`)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/sheets")
	for _, query := range []string{"Jazz", "12.99", "new berths"} {
		got, err := d.Dom.Find(t.Context(), &domtapv1.FindRequest{TabId: tab, Query: query})
		if err != nil || len(got.GetMatches()) == 0 {
			t.Errorf("%s: %v, %v", query, got, err)
		}
	}
}
