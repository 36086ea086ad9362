package capture

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// barriers contains each accessibility barrier once, next to a correct example.
const barriers = `<!doctype html><html><head><meta name=viewport content="width=device-width, user-scalable=no"><style>body{background:#fff;color:#000}
	.t{display:inline-block;width:12px;height:12px;padding:0;border:0;overflow:hidden;font-size:1px}#cover{position:absolute;left:0;top:900px;width:300px;height:60px;background:#eee}
	#under{position:absolute;left:20px;top:910px}</style></head><body>
	<img src="/x.png" id=bare width=30 height=30><img src="/x.png" alt="A dog" width=30 height=30><img src="/x.png" alt="" width=30 height=30>
	<h1>Shop</h1><h3>Skipped</h3><h4>Deeper</h4><h2></h2>
	<button id=nameless></button><button>Named</button>
	<label for=twice>Once</label><input id=twice><p id=twice>Twice</p>
	<input id=lost aria-labelledby=nowhere title=Lost>
	<input placeholder="Only this" id=only>
	<p id=pale style="color:#aaa">Pale words</p><p style="color:#aaa">More pale words</p><p style="color:#595959">Dark words</p>
	<p style="background-image:linear-gradient(#fff,#000);color:#888">On a picture</p>
	<div onclick="1" id=mouse style="cursor:pointer">Only by mouse</div>
	<p>Go <a href="#x" tabindex=3>first</a>.</p>
	<button class=t aria-label=a>a</button><button class=t aria-label=b>b</button>
	<div aria-hidden=true><button id=hidden>Hidden</button></div>
	<iframe srcdoc="<p>Hello</p><img src=/x.png id=inner width=20 height=20>"></iframe><iframe title=Fine srcdoc="<p>Hello"></iframe>
	</body></html>`

func auditOf(t *testing.T, d *testenv.Daemon, r *domtapv1.AuditRequest) *domtapv1.AuditResponse {
	t.Helper()
	got, err := d.Pages.Audit(testenv.Within(t, time.Minute), r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAuditFindsBarriers(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	tab := d.Open(pageOf(t, barriers))
	got := auditOf(t, d, &domtapv1.AuditRequest{TabId: tab})
	counts := map[string]int{}
	for _, f := range got.GetFindings() {
		counts[f.GetRule()]++
		if f.GetCriterion() == "" || f.GetMessage() == "" || f.GetElement() == "" && !strings.HasPrefix(f.GetRule(), "page-") {
			t.Errorf("got %v", f)
		}
	}
	for rule, want := range map[string]int{
		"image-alt": 2, "heading-order": 1, "heading-empty": 1, "control-name": 1, "duplicate-id": 1, "broken-reference": 1, "placeholder-label": 1, "contrast": 1,
		"keyboard": 1, "tab-order": 1, "target-size": 2, "hidden-focus": 1, "frame-title": 1, "page-title": 1, "page-lang": 1, "page-zoom": 1,
	} {
		if counts[rule] != want {
			t.Errorf("%s: %d, want %d", rule, counts[rule], want)
		}
		delete(counts, rule)
	}
	if len(counts) > 0 {
		t.Errorf("and found %v", counts)
	}
	if t.Failed() {
		t.Log(got.GetText())
	}
	if got.GetContrastUnknown() != 1 || got.GetTokens() != int32(tokens.Count(got.GetText())) || got.GetTokens() > 2000 {
		t.Errorf("%d unknown, %d tokens", got.GetContrastUnknown(), got.GetTokens())
	}
	if !slices.IsSortedFunc(got.GetFindings(), func(a, b *domtapv1.AuditFinding) int { return int(a.GetLevel()) - int(b.GetLevel()) }) {
		t.Error("errors do not come first")
	}
	few := auditOf(t, d, &domtapv1.AuditRequest{TabId: tab, MaxTokens: proto.Int32(200), ErrorsOnly: true, MaxFindings: proto.Int32(3)})
	if few.GetTokens() > 200 || len(few.GetFindings()) != 3 || few.GetErrors() != got.GetErrors() {
		t.Errorf("%d tokens, %d findings, %d errors", few.GetTokens(), len(few.GetFindings()), few.GetErrors())
	}
	// The ref of a finding can be used in actions.
	i := slices.IndexFunc(got.GetFindings(), func(f *domtapv1.AuditFinding) bool { return f.GetRule() == "control-name" })
	if _, err := d.Actions.Interact(testenv.Within(t, time.Minute), testenv.ClickOn(tab, got.GetFindings()[i].GetRef())); err != nil {
		t.Error(err)
	}
}

func TestAuditOfAGoodPageFindsNothing(t *testing.T) {
	t.Parallel()
	d := testenv.StartDaemon(t)
	tab := d.Open(pageOf(t, `<!doctype html><html lang=en><title>Good</title><body style="background:#fff;color:#222"><main><h1>Good</h1><h2>Form</h2>
		<form><label>Name <input></label><label><input type=checkbox> Agree</label><button>Send</button></form><p>Some words with <a href="/x">a link</a> in them.</p></main>`))
	got := auditOf(t, d, &domtapv1.AuditRequest{TabId: tab})
	if len(got.GetFindings()) > 0 {
		t.Errorf("found %s", got.GetText())
	}
	v := got.GetVitals()
	if v.TtfbMs == nil || v.InpMs != nil || v.FidMs != nil {
		t.Errorf("the vitals of a page that nobody used are %v", v)
	}
	if !strings.Contains(got.GetText(), "# 0 errors, 0 warnings") || !strings.Contains(got.GetText(), "INP absent") {
		t.Errorf("got %s", got.GetText())
	}
}
