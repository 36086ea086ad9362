package acting

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// onHoverPage has a table whose rows have buttons, and a menu of two levels. Only CSS shows the buttons and the menu. The page records what
// is clicked, and what the pointer was over before the click.
const onHoverPage = `<title>On hover</title><style>td span { opacity: 0; transition: opacity .1s } tr:hover span { opacity: 1 }
	li ul { visibility: hidden } li { width: 8em } li:hover > ul { visibility: visible; transition: visibility 0s .1s }
	.lost { display: none } .near:hover .lost { display: block } .lost.off { display: none !important }</style>
	<table><tr><td><a href="#ada">Ada</a><td><span><button>Edit</button><button>Delete</button></span>
	<tr><td><a href="#bob">Bob</a><td><span><button>Edit</button><button>Delete</button></span></table>
	<ul><li><a href="#file">File</a><ul><li><a href="#export">Export</a><ul><li><a href="#pdf" onclick="event.preventDefault()">As PDF</a></ul></ul></ul>
	<p class=near>Words <b class="lost off"><button>Lost</button></b></p><button>Far away</button>
	<script>var log = []; addEventListener("click", (e) => log.push((e.isTrusted ? "" : "untrusted ") + e.target.textContent + " " +
		(e.target.closest("tr")?.querySelector("a").textContent ?? "")), true)</script>`

// hints maps the texts of the listed elements to their hints about content that shows on hover.
func (s *stage) hints() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, e := range s.d.All(s.tab).GetElements() {
		for _, hint := range e.GetHints() {
			if strings.HasPrefix(hint, "on-hover") {
				out[e.GetText()] = hint
			}
		}
	}
	return out
}

// TestWhatShowsOnHoverIsAHint reads the hints of elements before and while the pointer is over one of them.
func TestWhatShowsOnHoverIsAHint(t *testing.T) {
	s := staged(t, onHoverPage)
	want := map[string]string{"Ada": "on-hover-edit-delete", "Bob": "on-hover-edit-delete", "File": "on-hover-export"}
	if got := s.hints(); !maps.Equal(got, want) {
		t.Errorf("the hints are %v, want %v", got, want)
	}
	for _, e := range s.d.All(s.tab).GetElements() {
		if slices.Contains([]string{"Edit", "Delete", "Export", "As PDF", "Lost"}, e.GetText()) {
			t.Errorf("%s is listed, which nobody sees", e.GetText())
		}
	}
	s.do(hover(s.at("File")))
	s.is(`Promise.all(document.getAnimations().map((a) => a.finished)).then(() => "shown")`, "shown")
	want = map[string]string{"Ada": "on-hover-edit-delete", "Bob": "on-hover-edit-delete", "Export": "on-hover-as-pdf"}
	if got := s.hints(); !maps.Equal(got, want) {
		t.Errorf("with the menu open, the hints are %v, want %v", got, want)
	}
}

// ok performs one step, whose result must be ok, and returns its summary.
func (s *stage) ok(step *domtapv1.Step) string {
	s.t.Helper()
	r, err := s.try(s.t.Context(), step)
	if err != nil || !r.GetOk() {
		s.t.Fatalf("%v: %v, %v", step, r, err)
	}
	return r.GetSummary()
}

// TestActionsHoverWhatShowsTheirElement targets invisible elements, by role and name and by refs from an earlier read.
func TestActionsHoverWhatShowsTheirElement(t *testing.T) {
	s := staged(t, onHoverPage)
	if said := s.ok(click(&domtapv1.Target{Role: "button", Name: "Delete", Within: "Bob"})); !strings.HasPrefix(said, `click "Delete": ok`) || !strings.Contains(said, `over link "Bob"`) {
		t.Errorf("the answer is %q", said)
	}
	deleting := s.at("Delete")
	s.is("log.join()", "Delete Bob")
	s.ok(hover(s.at("Far away")))
	s.ok(click(deleting))
	s.is("log.join()", "Delete Bob,Delete Bob")
	s.ok(hover(s.at("Far away")))
	if said := s.ok(click(&domtapv1.Target{Role: "link", Name: "As PDF"})); !strings.Contains(said, `over link "File", then link "Export"`) {
		t.Errorf("the answer is %q", said)
	}
	s.is("log.join()", "Delete Bob,Delete Bob,As PDF ")
	s.ok(hover(s.at("Far away")))
	s.ok(click(&domtapv1.Target{Selector: "tr:first-of-type button:first-of-type"}))
	s.is("log.at(-1)", "Edit Ada")
}

// TestActionsDoNotHoverInVain targets elements that show on hover of one of several elements, and elements that never show.
func TestActionsDoNotHoverInVain(t *testing.T) {
	s := staged(t, onHoverPage)
	s.refused(click(&domtapv1.Target{Role: "button", Name: "Edit"}), "AMBIGUOUS_TARGET", `link "Ada"`, `link "Bob"`)
	s.refused(click(&domtapv1.Target{Role: "button", Name: "Lost"}), "TARGET_NOT_FOUND")
	s.refused(click(&domtapv1.Target{Selector: ".lost button"}), "NOT_ACTIONABLE")
	s.is("log.length", "0")
}

// TestPagesSeeAMouse checks that pages see the media features of a mouse, which many pages require for content that shows on hover.
func TestPagesSeeAMouse(t *testing.T) {
	s := staged(t, `<title>Mouse</title><style>b { display: none } @media (hover: hover) and (pointer: fine) { p:hover b { display: inline } }</style>
		<p style="width: 9em">Words <b><button onclick="this.textContent = 'Chosen'">Item</button></b></p>`)
	s.is(`matchMedia("(hover: hover) and (any-pointer: fine)").matches`, "true")
	if said := s.ok(click(&domtapv1.Target{Text: "Item"})); s.eval(`document.querySelector("button").textContent`) != "Chosen" {
		t.Errorf("the answer is %q", said)
	}
}

// TestATableWithActionsOnHoverDoesNotDouble compares the cost of reading a table with and without row buttons that show on hover.
func TestATableWithActionsOnHoverDoesNotDouble(t *testing.T) {
	rows := ""
	for i := range 200 {
		rows += fmt.Sprintf("<tr><td><a href=/o/%d>Order %d</a><td>Customer %d<td>%d.00<td><span><button>Edit</button><button>Delete</button></span>", i, 1000+i, i, i)
	}
	s := staged(t, "<title>None</title>")
	cost := func(style string) int {
		s.show("<title>Orders</title><style>td span { display: none } " + style + "</style><table>" + rows + "</table>")
		got, err := s.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{
			TabId: s.tab, Format: domtapv1.Format_FORMAT_DENSE, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
		if err != nil {
			t.Fatal(err)
		}
		if hints := strings.Count(got.GetText(), "~on-hover-edit-delete"); hints != 200 && style != "" {
			t.Errorf("%d rows say what shows on hover", hints)
		}
		return tokens.Count(got.GetText())
	}
	with, without := cost("tr:hover span { display: inline }"), cost("")
	t.Logf("the table costs %d tokens, and %d without what shows on hover", with, without)
	if with >= 2*without {
		t.Errorf("the table costs %d tokens, and %d without what shows on hover", with, without)
	}
}
