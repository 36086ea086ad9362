package e2e

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// targetsPage has elements of every kind that a target can name. Each click and each input writes the ID of its element into the title,
// also from frames and shadow trees.
const targetsPage = `<!doctype html><title>-</title>
<button id=pay>Pay now</button> <button id=later>Pay later</button> <a id=help href="#help">Help</a>
<h2 id=heading>Your order</h2> <p id=text>Thanks for coming</p>
<label for=email>E-mail address *</label> <input id=email placeholder="you@example.org">
<label>Fax number <input id=fax></label> <label><input id=byfax type=radio>Answer by fax</label>
<label>Gift <input id=gift type=checkbox></label>
<div role=checkbox aria-label=Flight aria-checked=false tabindex=0><input role=switch type=checkbox aria-label=Flight id=flight></div>
<ul role=listbox aria-label=Keywords tabindex=0><li><input aria-label=Keywords id=keywords></li></ul>
<input id=search aria-label="Search the shop" placeholder="Search">
<span id=named>Quantity</span> <input id=quantity aria-labelledby=named>
<label for=coupon>Coupon</label> <input id=coupon aria-label="A code that makes it cheaper">
<div id=card data-testid=card class=box>A card</div> <button id=cy data-cy=go>Go</button>
<button class=duplicate id=duplicate1>Delete</button> <button class=duplicate id=duplicate2>Delete</button>
<button class=veiled id=veiled1 style="display:none">Veiled</button> <button class=veiled id=veiled2>Veiled</button>
<label>Skills <span id=skills contenteditable aria-label="Add one">go</span></label> <p></p><div><input type=range id=range></div>
<input id=secret style="display:none" placeholder=Secret>
<div id=open></div> <div id=closed style="width:100px;height:40px"></div>
<iframe srcdoc="<button id=inner data-testid=deep>Inside</button><label>Deep field <input id=deepfield></label><script>
for (const type of ['click', 'input']) addEventListener(type, (e) => { top.document.title = e.target.id }, true)</script>"></iframe>
<script>
const tell = (e) => { document.title = e.composedPath()[0].id };
for (const type of ["click", "input"]) addEventListener(type, tell, true);
document.getElementById("open").attachShadow({mode: "open"}).innerHTML = "<button id=shaded data-test=shade>Shaded</button><label>Inner label <input id=shadedfield></label>";
const closed = document.getElementById("closed").attachShadow({mode: "closed"});
closed.innerHTML = "<button id=sealed data-test-id=sealed>Sealed</button>";
closed.addEventListener("click", (e) => { document.title = e.target.id });
</script>`

// turn performs steps in a tab.
func turn(t testing.TB, d *testenv.Daemon, tab string, steps ...*domtapv1.Step) (*domtapv1.InteractResponse, error) {
	t.Helper()
	return d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: tab, Steps: steps})
}

func clickAt(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

func typeInto(target *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: target, Text: text}}}
}

func TestTargetsReachTheElementThatIsMeant(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/targets": testenv.HTML(targetsPage)})
	d := testenv.Apart(t)
	tab := ""
	for _, c := range []struct {
		target *domtapv1.Target
		types  bool
		want   string // the ID of the element
	}{
		{target: &domtapv1.Target{Role: "button", Name: "Pay now"}, want: "pay"},
		{target: &domtapv1.Target{Role: "BUTTON", Name: " pay  NOW "}, want: "pay"},
		{target: &domtapv1.Target{Name: "now"}, want: "pay"},
		{target: &domtapv1.Target{Role: "button", Text: "Y now"}, want: "pay"},
		{target: &domtapv1.Target{Role: "link"}, want: "help"},
		{target: &domtapv1.Target{Role: "heading"}, want: "heading"},
		{target: &domtapv1.Target{Text: "Thanks for"}, want: "text"},
		{target: &domtapv1.Target{Text: "Help"}, want: "help"},
		{target: &domtapv1.Target{Label: "e-mail"}, types: true, want: "email"},
		{target: &domtapv1.Target{Label: "fax"}, types: true, want: "fax"},
		{target: &domtapv1.Target{Label: "Gift"}, want: "gift"},
		{target: &domtapv1.Target{Label: "Flight"}, want: "flight"},
		{target: &domtapv1.Target{Label: "Keywords"}, types: true, want: "keywords"},
		{target: &domtapv1.Target{Label: "Search the shop"}, types: true, want: "search"},
		{target: &domtapv1.Target{Label: "Quantity"}, types: true, want: "quantity"},
		{target: &domtapv1.Target{Label: "Coupon"}, types: true, want: "coupon"},
		{target: &domtapv1.Target{Label: "skills"}, types: true, want: "skills"},
		{target: &domtapv1.Target{Label: "Slider"}, want: "range"},
		{target: &domtapv1.Target{Label: "Deep field"}, types: true, want: "deepfield"},
		{target: &domtapv1.Target{Label: "Inner label"}, types: true, want: "shadedfield"},
		{target: &domtapv1.Target{Placeholder: "you@example.org"}, types: true, want: "email"},
		{target: &domtapv1.Target{TestId: "card"}, want: "card"},
		{target: &domtapv1.Target{TestId: "go"}, want: "cy"},
		{target: &domtapv1.Target{TestId: "deep"}, want: "inner"},
		{target: &domtapv1.Target{TestId: "shade"}, want: "shaded"},
		{target: &domtapv1.Target{TestId: "sealed"}, want: "sealed"},
		{target: &domtapv1.Target{Role: "button", Name: "Sealed"}, want: "sealed"},
		{target: &domtapv1.Target{Selector: "div.box"}, want: "card"},
		{target: &domtapv1.Target{Selector: "#inner"}, want: "inner"},
		{target: &domtapv1.Target{Selector: "button.veiled"}, want: "veiled2"},
	} {
		tab = d.Show(tab, url+"/targets")
		step := clickAt(c.target)
		if c.types {
			step = typeInto(c.target, "x")
		}
		r, err := turn(t, d, tab, step)
		if err != nil || !r.GetResults()[0].GetOk() {
			t.Errorf("%v: %v, %v", c.target, r, err)
			continue
		}
		if got := r.GetTab().GetTitle(); got != c.want {
			t.Errorf("%v reached %q, want %q", c.target, got, c.want)
		}
	}
}

func TestTargetsThatMeanNothingOrSeveralReachNothing(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/targets": testenv.HTML(targetsPage)})
	d := testenv.Apart(t)
	tab := d.Open(url + "/targets")
	for _, c := range []struct {
		target    *domtapv1.Target
		code      codes.Code
		why, says string
	}{
		{&domtapv1.Target{Role: "button", Name: "Delete"}, codes.FailedPrecondition, "AMBIGUOUS_TARGET", `2 elements match button "Delete"`},
		{&domtapv1.Target{Selector: "button.duplicate"}, codes.FailedPrecondition, "AMBIGUOUS_TARGET", "2 elements"},
		{&domtapv1.Target{Text: "pay"}, codes.FailedPrecondition, "AMBIGUOUS_TARGET", "Pay later"},
		{&domtapv1.Target{Role: "button", Name: "Pya now"}, codes.FailedPrecondition, "TARGET_NOT_FOUND", `the nearest: `},
		{&domtapv1.Target{Label: "Nowhere to be seen"}, codes.FailedPrecondition, "TARGET_NOT_FOUND", "Nowhere"},
		{&domtapv1.Target{Selector: "#nothing"}, codes.FailedPrecondition, "TARGET_NOT_FOUND", "#nothing"},
		{&domtapv1.Target{Selector: "]]"}, codes.InvalidArgument, "INVALID", "CSS selector"},
		{&domtapv1.Target{Placeholder: "Secret"}, codes.FailedPrecondition, "NOT_ACTIONABLE", "input type=text id=secret"},
	} {
		_, err := turn(t, d, tab, clickAt(c.target))
		if status.Code(err) != c.code || testenv.Reason(err) != c.why || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v (%s), want %v, %s and %q", c.target, err, testenv.Reason(err), c.code, c.why, c.says)
		}
	}
	r, err := d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab, StopOnError: proto.Bool(false),
		Steps: []*domtapv1.Step{clickAt(&domtapv1.Target{Role: "button", Name: "Delete"}), clickAt(&domtapv1.Target{Label: "Gift"})}})
	if err != nil || len(r.GetResults()[0].GetCandidates()) != 2 || r.GetResults()[0].GetCandidates()[0].GetLine() != "Delete (button)" {
		t.Fatalf("%v, %v", r, err)
	}
	if got := r.GetTab().GetTitle(); got != "gift" {
		t.Errorf("the clicks reached %q last, want only gift", got)
	}
}

// TestTextMeansTheInnermostElement has texts in containers, and only the containers have listeners. Each click and drag must reach the part
// with the text, or the container at its text, and never its centre.
func TestTextMeansTheInnermostElement(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(`<!doctype html><title>-</title><style>div, ul { width: 300px } span { padding: 4px }</style>
<div onclick="tell(event)"><span>Reply</span><span>Forward</span><span style="display:none">Spam</span></div>
<div onclick="tell(event)"><p>Ada <i>Lovelace</i></p><p>Grace <i>Hopper</i></p><p style="display:contents"><b>Alan Turing</b></p></div>
<div role=button tabindex=0 onclick="tell(event)" id=whole>Buy <b>now</b></div>
<table><tr onclick="tell(event)" id=row><td>1003</td><td>Paid</td></tr></table>
<div onclick="tell(event)" aria-label="Close all" id=named>x</div>
<div id=open></div>
<ul><li>Emil</li><li>Gerda</li><li>Hans</li></ul>
<div onclick="tell(event)"><span>` + strings.Repeat("long ", 300) + `</span><span>The end</span></div>
<script>
function tell(e) { const el = e.composedPath()[0]; document.title = el.id || el.textContent }
const inner = document.getElementById("open").attachShadow({mode: "closed"})
inner.innerHTML = "<div><span>Shaded</span><span>Sunny</span></div>"; inner.firstChild.onclick = (e) => { document.title = e.target.textContent }
const ul = document.querySelector("ul"); let from = null
ul.addEventListener("click", () => {}); ul.onpointerdown = (e) => { from = e.target.textContent }; onpointerup = (e) => { if (from) document.title = from + " to " + document.elementFromPoint(e.clientX, e.clientY).textContent; from = null }
</script>`)})
	d := testenv.Apart(t)
	tab := d.Open(url)
	text := func(words string) *domtapv1.Target { return &domtapv1.Target{Text: words} }
	for _, c := range []struct {
		step *domtapv1.Step
		want string
	}{
		{clickAt(text("Reply")), "Reply"}, {clickAt(text("forward")), "Forward"},
		{clickAt(text("Lovelace")), "Lovelace"}, {clickAt(text("Grace Hopper")), "Grace Hopper"}, {clickAt(text("Turing")), "Alan Turing"},
		{clickAt(text("Buy")), "whole"}, {clickAt(text("Paid")), "Paid"}, {clickAt(text("Close all")), "named"},
		{clickAt(text("Shaded")), "Shaded"}, {clickAt(text("Sunny")), "Sunny"},
		{&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: text("Gerda"), To: text("Emil")}}}, "Gerda to Emil"},
	} {
		r, err := turn(t, d, tab, c.step)
		if err != nil || !r.GetResults()[0].GetOk() {
			t.Errorf("%v: %v, %v", c.step, r, err)
			continue
		}
		if got := r.GetTab().GetTitle(); got != c.want {
			t.Errorf("%v reached %q, want %q", c.step, got, c.want)
		}
	}
	if r, err := turn(t, d, tab, clickAt(text("Spam"))); err == nil {
		t.Errorf("a text that is hidden: %v", r)
	}
}
