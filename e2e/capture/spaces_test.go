package capture

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// wordy has text in every attribute and node from which elements take their text. Each "·" is replaced by white space of some length.
var wordy = `<title>·Wordy·page·</title><h1>·A·list·of·<b>ten·items</b>·</h1>
<ol id=list>` + tenItems + `</ol><script>document.getElementById("list").addEventListener("mousedown", () => {})</script>
<label>·A·label·<span>·of·a·field·</span>·<input></label>·<label for=far>·<i>·Far·</i>·away·</label><input id=far>
<span id=one>·First·<b>·part·</b></span>·<span id=two>·second·part·</span><button aria-labelledby="one two">x</button>
<button>·Press·<svg width=9 height=9><title>·a·drawing·</title></svg>·here·</button>·<a href=/1 title="·Its·title·"></a>
<a href=/2><img width=9 height=9 alt="·A·picture·of·it·"></a>·<button aria-label="·Said·by·label·"></button>
<div contenteditable role=textbox aria-label=Editor>·Some·<b>·edited·</b>·text·</div>
<nav aria-label=Pages>·Words·of·a·landmark·</nav><p>·A·paragraph·with·<em>·some·words·</em>·in·it·</p>
<table><caption>·A·caption·</caption><tr><th>·Name·<th>·Value·<tr><td>·one·<td>·two·</table>
<figure><img width=9 height=9 alt="·Pictured·"><figcaption>·Below·it·</figcaption></figure>
<textarea>·held·text·</textarea><select><option>·chosen·option·</option></select><input placeholder="·a·hint·">
<div style="display:contents">·Without·a·box·</div><div>` + "<!-- many nodes -->" + strangers + `·Text·behind·them·</div>`

var (
	tenItems = items(10)
	// strangers is a run of nodes without text.
	strangers = strings.Repeat("<i></i>·", 150)
)

func items(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "·<li>·Item·<span>·%d·</span>·</li>·", i)
	}
	return b.String()
}

// TestSourceWhiteSpaceIsNoText reads a page in every way. The source has single spaces between its words, and then a thousand white space
// characters at each place.
func TestSourceWhiteSpaceIsNoText(t *testing.T) {
	long := strings.Repeat(" \n\t  ", 200)
	url := testenv.Pages(t, map[string]http.HandlerFunc{
		"/": testenv.HTML(strings.ReplaceAll(wordy, "·", " ")), "/long": testenv.HTML(strings.ReplaceAll(wordy, "·", long)),
	})
	d := testenv.Apart(t)
	plain, spaced := d.Open(url), d.Open(url+"/long")
	for _, c := range []struct {
		name string
		read func(tab string) (string, error)
	}{
		{"GetDom", func(tab string) (string, error) {
			r, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
			var lines []string
			for _, e := range r.GetElements() {
				lines = append(lines, strings.Join([]string{e.GetTag(), e.GetRole(), e.GetText(), e.GetValue(), e.GetPlaceholder()}, "|"))
			}
			return strings.Join(lines, "\n"), err
		}},
		{"TREE", func(tab string) (string, error) {
			r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, Format: domtapv1.Format_FORMAT_TREE})
			_, body, _ := strings.Cut(r.GetText(), "\n")
			return body, err
		}},
		{"ReadPage", func(tab string) (string, error) {
			r, err := d.Pages.ReadPage(t.Context(), &domtapv1.ReadPageRequest{TabId: tab, Mode: domtapv1.ReadMode_READ_MODE_CONTENT})
			return r.GetText(), err
		}},
		{"Extract", func(tab string) (string, error) {
			r, err := d.Pages.Extract(t.Context(), &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"li", "label", "button", "[role=textbox]", "p", "select", "script"}})
			return r.GetResultJson(), err
		}},
	} {
		want, err := c.read(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.read(spaced)
		if err != nil || got != want || !strings.Contains(got, "Item 9") || c.name != "Extract" && !strings.Contains(got, "Text behind them") {
			t.Errorf("%s, %v: got\n%s\nwant\n%s", c.name, err, got, want)
		}
	}
	for i := range 10 {
		text := fmt.Sprintf("Item %d", i)
		if _, err := d.Dom.WaitFor(testenv.Within(t, testenv.Patience), &domtapv1.WaitForRequest{
			TabId: spaced, Until: &domtapv1.WaitCondition{Text: strings.ReplaceAll(text, " ", long[:900])},
		}); err != nil {
			t.Errorf("waiting for %q: %v", text, err)
		}
		hover := &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: &domtapv1.Target{Text: text}}}}
		if _, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: spaced, Steps: []*domtapv1.Step{hover}}); err != nil {
			t.Errorf("hovering over %q: %v", text, err)
		}
	}
	t.Run("cut", func(t *testing.T) { testCutText(t, d) })
}

// large has texts that exceed the limit, and containers whose names do not contain the text inside.
var large = `<title>Large</title><ol id=log tabindex=0>` + entries + `</ol><ul role=listbox tabindex=0 aria-label=Names><li>Ada<li>Grace</ul>
<select id=many multiple></select><p id=words></p><p id=blank></p><p id=nodes>Start</p><textarea id=area></textarea><div id=rich contenteditable role=textbox aria-label=Rich></div>
<script>
for (const c of "abcdefghijkl") many.add(new Option(c, c, false, true));
const blanks = " \n".repeat(2e5);
words.append("many words ".repeat(2e4));
blank.append(blanks, "end");
nodes.insertAdjacentHTML("beforeend", "<i></i>".repeat(12000) + "finish");
area.value = blanks + "end";
rich.append(blanks, "end");
</script>`

var entries = strings.Repeat("<li>An entry of the log of this machine</li>", 4) + "<li>The <b>fifth</b> entry</li>"

// testCutText checks texts that are too long. Each must be marked as cut, however it begins, and the text of inner blocks must be reported
// separately.
func testCutText(t *testing.T, d *testenv.Daemon) {
	tab := d.Open(testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(large)}))
	texts := func() []string {
		t.Helper()
		r, err := d.Dom.GetDom(testenv.Within(t, testenv.Patience), &domtapv1.GetDomRequest{TabId: tab, FullSnapshot: true})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range r.GetElements() {
			out = append(out, e.GetTag()+" "+e.GetText()+"|"+e.GetValue())
		}
		return out
	}
	begins := func(texts []string, with string) int {
		n := 0
		for _, text := range texts {
			if strings.HasPrefix(text, with) {
				n++
			}
		}
		return n
	}
	got := texts()
	for with, n := range map[string]int{
		"ol An entry": 1, "li An entry": 4, "li The fifth entry": 1, "ul Names": 1, "li Ada": 1, "li Grace": 1,
		"select |a, b, c, d, e, f, g, h, i, j, k, l": 1, "p many words": 1, "p …|": 1, "p Start…|": 1, "textarea |…": 1, "div Rich|…": 1,
	} {
		if begins(got, with) != n {
			t.Errorf("%d elements are %q, want %d, of %q", begins(got, with), with, n, got)
		}
	}
	for _, text := range got {
		if strings.HasPrefix(text, "p many") && !strings.HasSuffix(text, "…|") || strings.HasPrefix(text, "ol") && !strings.HasSuffix(text, "…|") {
			t.Errorf("%q is not marked as cut", text)
		}
	}
	// A text that was cut is not repeated completely after a change.
	testenv.Evaluate[any](t, d, `document.getElementById("log").replaceChildren(...[...document.getElementById("log").children].slice(3)), 0`)
	if got := texts(); begins(got, "li An entry") != 0 || begins(got, "ol An entry of the log of this machine The fifth entry|") != 1 {
		t.Errorf("the list that says all of its items is %q", got)
	}
	testenv.Evaluate[any](t, d, `document.getElementById("log").firstChild.textContent = "A long entry of a log. ".repeat(9), 0`)
	if got := texts(); begins(got, "li A long entry") != 1 || begins(got, "li The fifth entry") != 1 {
		t.Errorf("the items of the list that is cut are not told: %q", got)
	}
}
