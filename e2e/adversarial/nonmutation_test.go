package adversarial

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

//go:embed nonmutation.html
var trapPage string

// TestAPageFindsNoObserver reads a page in every way. The page sets a trap on every method and getter of the DOM, listens for events, and
// compares its observable state before and after. It must find nothing, and the reads must change nothing in the page.
func TestAPageFindsNoObserver(t *testing.T) {
	d := testenv.Shared(t)
	plain := trapPage[:strings.Index(trapPage, "<script>")] + trapPage[strings.Index(trapPage, "</script>")+len("</script>"):]
	trapped, free := d.Open(testenv.Serve(t, testenv.HTML(trapPage))), d.Open(testenv.Serve(t, testenv.HTML(plain)))
	evaluate(t, d, trapped, "window.begin()")
	read := func(tab string) string {
		t.Helper()
		ctx := testenv.Within(t, testenv.Patience)
		lines, err := d.Dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: tab, FullSnapshot: true})
		if err != nil {
			t.Fatal(err)
		}
		dom, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, IncludeAttributes: []string{"id"}})
		if err != nil || len(dom.GetElements()) < 4 {
			t.Fatalf("got %v, %v", dom, err)
		}
		text, err := d.Pages.ReadPage(ctx, &domtapv1.ReadPageRequest{TabId: tab, Mode: domtapv1.ReadMode_READ_MODE_CONTENT})
		if err != nil {
			t.Fatal(err)
		}
		data, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"h1", "button"}})
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(lines.GetText(), "\n")
		return body + text.GetText() + data.GetResultJson()
	}
	got, want := read(trapped), read(free)
	if got != want {
		t.Errorf("the page has changed what is read of it:\n%s\nwant\n%s", got, want)
	}
	var seen struct {
		Sprung, Heard, Globals, Suspicious, Attributes, Patched []string
		MarkupChanged                                           bool
		Sheets, Entries, Marks, Scroll, Selection               int
		Focus                                                   string
		Webdriver                                               bool
	}
	text := evaluate(t, d, trapped, "window.end()")
	if err := json.Unmarshal([]byte(text), &seen); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	// Evaluate runs the test's script in the page's main world, so its result passes through the page's JSON object.
	seen.Sprung = slices.DeleteFunc(seen.Sprung, func(what string) bool {
		return strings.HasPrefix(what, "stringify ") && strings.Contains(what, "<anonymous>")
	})
	if len(seen.Sprung)+len(seen.Heard)+len(seen.Globals)+len(seen.Suspicious)+len(seen.Attributes)+len(seen.Patched) > 0 || seen.MarkupChanged ||
		seen.Sheets+seen.Entries+seen.Marks+seen.Scroll+seen.Selection != 0 || seen.Focus != "BODY" {
		t.Errorf("the page has noticed %+v: %s", seen, text)
	}
	if !seen.Webdriver {
		t.Error("navigator.webdriver is not true: docs/security.md says that it is")
	}
	// The text of a message is created when it is logged, with or without listeners, and the text of a function calls its toString.
	if got := evaluate(t, d, trapped, "window.consoleTricks()"); got != "" && got != "toString" {
		t.Errorf("the page sees that somebody looks into what it logs: %s", got)
	}
}

func evaluate(t *testing.T, d *testenv.Daemon, tab, expression string) string {
	t.Helper()
	r, err := d.Pages.Evaluate(testenv.Within(t, testenv.Patience), &domtapv1.EvaluateRequest{TabId: tab, Expression: expression})
	if err != nil || r.GetException() != "" {
		t.Fatalf("%s: %v %s", expression, err, r.GetException())
	}
	var text string
	_ = json.Unmarshal([]byte(r.GetResultJson()), &text) // a missing result has no text
	return text
}
