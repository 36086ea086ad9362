package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// peoplePage returns a page with ten rows with an Edit button each, and the same fields in two forms. Each click and input writes the ID of
// its element into the title.
func peoplePage() string {
	var b strings.Builder
	b.WriteString(`<!doctype html><title>-</title><button id=top>Edit</button><table><caption>People</caption>`)
	for i, name := range strings.Fields("Grace Ada Alan Barbara Donald Edsger Frances John Margaret Niklaus") {
		fmt.Fprintf(&b, `<tr id=row%d><td>%d<td>%s<td><button id=edit%d class=edit>Edit</button>`, i, 1000+i, name, i)
	}
	b.WriteString(`</table><form><fieldset><legend>Delivery</legend><label>Street <input id=delivery></label></fieldset>
		<fieldset><legend>Invoice</legend><label>Street <input id=invoice></label></fieldset></form>
		<script>for (const type of ["click", "input"]) addEventListener(type, (e) => { document.title = e.target.id }, true)</script>`)
	return b.String()
}

func TestTargetWithin(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/people": testenv.HTML(peoplePage())})
	d := testenv.Apart(t)
	edit := func(within string) *domtapv1.Target {
		return &domtapv1.Target{Role: "button", Name: "Edit", Within: within}
	}
	for name, c := range map[string]struct {
		step *domtapv1.Step
		want string
	}{
		"a text of the row":   {clickAt(edit("barbara")), "edit3"},
		"the context":         {clickAt(edit("1004 Donald")), "edit4"},
		"text":                {clickAt(&domtapv1.Target{Text: "Edit", Within: "Frances"}), "edit6"},
		"a selector":          {clickAt(&domtapv1.Target{Selector: ".edit", Within: "Margaret"}), "edit8"},
		"a label":             {typeInto(&domtapv1.Target{Label: "Street", Within: "Invoice"}, "x"), "invoice"},
		"a label in a role":   {typeInto(&domtapv1.Target{Label: "Street", Within: "Delivery"}, "x"), "delivery"},
		"a number in the row": {clickAt(edit("1007")), "edit7"},
		"the third of all":    {clickAt(&domtapv1.Target{Role: "button", Name: "Edit", Nth: 3}), "edit1"},
		"the last by text":    {clickAt(&domtapv1.Target{Text: "Edit", Nth: -1}), "edit9"},
		"the second label":    {typeInto(&domtapv1.Target{Label: "Street", Nth: 2}, "x"), "invoice"},
		"the first in a row":  {clickAt(&domtapv1.Target{Role: "button", Name: "Edit", Nth: 1, Within: "Alan"}), "edit2"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := d.Open(url + "/people")
			if _, err := turn(t, d, tab, c.step); err != nil {
				t.Fatal(err)
			}
			if got := testenv.Evaluate[string](t, d, "document.title"); got != c.want {
				t.Errorf("reached %s, want %s", got, c.want)
			}
		})
	}
}

// TestRowsNamedByOneCell reads clickable rows that are named by one of their cells. The other cells must be read, too, and must identify
// the row.
func TestRowsNamedByOneCell(t *testing.T) {
	rows := cards(`<div role=row tabindex=0 onclick="1" aria-labelledby=%[1]s><div role=gridcell><input type=checkbox aria-label=Take onclick="document.title = '%[1]s'"></div>
		<div role=rowheader id=%[1]s>%[1]s</div><div role=gridcell>%[1]s GB</div></div>`, "games", "photos")
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<!doctype html><title>-</title><div role=grid aria-label=Files>` + rows + `</div>
		<ul><li tabindex=0 onclick="1" aria-label="First offer"><b>Boots</b><span>29 €</span></li></ul>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	dense := testenv.CheckDense(t, d, tab, &domtapv1.GetCompactRequest{})
	for _, want := range []string{" Take (checkbox) | games | games GB\n", " Take (checkbox) | photos | photos GB\n"} {
		if !strings.Contains(dense, want) {
			t.Errorf("the page is\n%s\nwithout %q", dense, want)
		}
	}
	if _, err := turn(t, d, tab, clickAt(&domtapv1.Target{Role: "checkbox", Within: "photos GB"})); err != nil {
		t.Error(err)
	}
	if got := testenv.Evaluate[string](t, d, "document.title"); got != "photos" {
		t.Errorf("clicked the box of %s", got)
	}
	if all := testenv.Texts(d.All(tab)); !slices.Contains(all, "generic 29 €") {
		t.Errorf("the offer's price is not among %q", all)
	}
}

func TestTargetWithinARef(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/people": testenv.HTML(peoplePage())})
	d := testenv.Apart(t)
	tab := d.Open(url + "/people")
	dom, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true, IncludeAttributes: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	refs := map[string]uint32{}
	for _, e := range dom.GetElements() {
		refs[e.GetAttributes()["id"]] = e.GetRef()
	}
	for i, notation := range []string{"%d", "[%d]", "e%d", "@%d", "[ref=e%d]"} {
		within := fmt.Sprintf(notation, refs[fmt.Sprint("row", i)])
		target := &domtapv1.Target{Text: "Edit", Within: within}
		if _, err := turn(t, d, tab, clickAt(target)); err != nil {
			t.Errorf("within %s: %v", within, err)
		}
		if got, want := testenv.Evaluate[string](t, d, "document.title"), fmt.Sprint("edit", i); got != want {
			t.Errorf("within %s: reached %s, want %s", within, got, want)
		}
	}
	ref := refs["edit3"]
	if _, err := turn(t, d, tab, clickAt(&domtapv1.Target{Ref: &ref, Within: "Barbara"})); err != nil {
		t.Error(err)
	}
	_, err = turn(t, d, tab, clickAt(&domtapv1.Target{Ref: &ref, Within: "Ada"}))
	if testenv.Reason(err) != "TARGET_NOT_FOUND" {
		t.Errorf("a ref of another row: %v", err)
	}
}

func TestTargetWithinSaysWhatElseThereIs(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/people": testenv.HTML(peoplePage())})
	d := testenv.Apart(t)
	tab := d.Open(url + "/people")
	for _, c := range []struct {
		target *domtapv1.Target
		reason string
		want   []string
	}{
		{&domtapv1.Target{Role: "button", Name: "Edit", Within: "Nobody"}, "TARGET_NOT_FOUND",
			[]string{`button "Edit" within "Nobody"`, `button "Edit" in "1000 Grace"`}},
		{&domtapv1.Target{Role: "button", Name: "Edit", Within: "People"}, "AMBIGUOUS_TARGET",
			[]string{"10 elements", `button "Edit" within "People"`, `button "Edit" in "1000 Grace"`, `in "1009 Niklaus"`}},
		{&domtapv1.Target{Label: "Street", Within: "Nobody"}, "TARGET_NOT_FOUND", []string{`textbox "Street" in "Delivery"`, `in "Invoice"`}},
		{&domtapv1.Target{Label: "Street", Within: "form"}, "AMBIGUOUS_TARGET", []string{`textbox "Street" in "Delivery"`, `in "Invoice"`}},
	} {
		_, err := turn(t, d, tab, clickAt(c.target))
		for _, words := range c.want {
			if message := status.Convert(err).Message(); !strings.Contains(message, words) || testenv.Reason(err) != c.reason {
				t.Errorf("%v: no %q in %s %q", c.target, words, testenv.Reason(err), message)
			}
		}
	}
	for _, target := range []*domtapv1.Target{
		{Within: "Ada"}, {Role: "button", Within: " "}, {X: proto.Float64(1), Y: proto.Float64(1), Within: "Ada"}, {Text: "Edit", Within: strings.Repeat("x", 1001)},
	} {
		if _, err := turn(t, d, tab, clickAt(target)); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", target, err)
		}
	}
}

func TestFormsAndWaitsWithin(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/people": testenv.HTML(peoplePage())})
	d := testenv.Apart(t)
	tab := d.Open(url + "/people")
	filled, err := d.Actions.FillForm(t.Context(), &domtapv1.FillFormRequest{TabId: tab, Fields: []*domtapv1.FormField{
		{Label: "Street", Value: "First", Within: "Delivery"}, {Label: "Street", Value: "Second", Within: "Invoice"}, {Label: "Street", Value: "x", Within: "Nobody"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := filled.GetResults(); !r[0].GetOk() || !r[1].GetOk() || r[2].GetOk() || !strings.Contains(r[2].GetError(), `within "Nobody"`) {
		t.Errorf("got %v", r)
	}
	if got := testenv.Evaluate[string](t, d, "delivery.value + ' ' + invoice.value"); got != "First Second" {
		t.Errorf("the fields hold %q", got)
	}
	wait := func(within string, gone bool) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{
			Target: &domtapv1.Target{Role: "button", Name: "Edit", Within: within}, Gone: gone, Timeout: durationpb.New(30 * time.Second)}}}
	}
	if answer, err := turn(t, d, tab, wait("Alan", false), wait("Nobody", true)); err != nil || !answer.GetResults()[1].GetOk() {
		t.Errorf("%v, %v", answer, err)
	}
	condition := func(within string, limit time.Duration) *domtapv1.WaitForRequest {
		return &domtapv1.WaitForRequest{TabId: tab, Timeout: durationpb.New(limit), Until: &domtapv1.WaitCondition{
			Element: &domtapv1.ElementCondition{Selector: ".edit", Within: within}}}
	}
	held, err := d.Dom.WaitFor(t.Context(), condition("Edsger", testenv.Patience))
	if err != nil || held.GetElement().GetText() != "Edit" {
		t.Errorf("%v, %v", held, err)
	}
	if _, err := d.Dom.WaitFor(t.Context(), condition("Nobody", 2*time.Second)); !strings.Contains(status.Convert(err).Message(), `within "Nobody"`) {
		t.Error(err)
	}
}
