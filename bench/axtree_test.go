package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// maxShare limits the cost of LINES with default options, relative to the cost of the browser's whole accessibility tree in the outline
// format of TREE.
const maxShare = 1.0 / 3

// worse maps the pages of $DOMTAP_PAGES that exceed maxShare to their own limits. They consist mostly of links, and LINES shows the address
// of a link while the tree does not. On a saved page that is the whole address, because its origin differs from the page's.
var worse = map[string]float64{"webmd-2.html": 0.55, "tmz-1.html": 0.45}

// TestLinesCostLittleOfTheTree compares the default cost of LINES with the accessibility tree, on an article that ships with the test and
// on the pages in $DOMTAP_PAGES.
func TestLinesCostLittleOfTheTree(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/article.html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html; charset=utf-8")
		fmt.Fprint(w, article(60))
	})
	names := []string{"article.html"}
	if dir := os.Getenv("DOMTAP_PAGES"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "*.html"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no pages in %s: %v", dir, err)
		}
		for _, file := range files {
			names = append(names, filepath.Base(file))
		}
		mux.Handle("/", http.FileServer(http.Dir(dir)))
	}
	url := testenv.Serve(t, mux)
	d := testenv.StartDaemon(t)
	var sum shares
	t.Logf("%-24s %s", "page", sharesHeader)
	for _, name := range names {
		tab := d.Open(url + "/" + name)
		s := compareCost(t, d, tab)
		t.Logf("%-24s %s", name, s)
		if s.share() > max(maxShare, worse[name]) {
			t.Errorf("%s: LINES costs %.3f of the tree, want at most %.3f", name, s.share(), max(maxShare, worse[name]))
		}
		sum.add(s)
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%-24s %s", "all", sum)
	if sum.share() > maxShare || sum.bareShare() > maxShare {
		t.Errorf("LINES costs %.3f of the trees, %.3f without text boxes, want at most %.3f", sum.share(), sum.bareShare(), maxShare)
	}
}

// article returns a page similar to an article: some navigation, and n paragraphs with a link in every third.
func article(n int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Article</title><nav>")
	for i := range 12 {
		fmt.Fprintf(&b, "<a href=/section/%d>Section %d</a> ", i, i)
	}
	b.WriteString("</nav><main><h1>An article</h1>")
	for i := range n {
		fmt.Fprintf(&b, "<p>Paragraph %d says something about a thing, and goes on to say something else about another, as paragraphs do.", i)
		if i%3 == 0 {
			fmt.Fprintf(&b, " <a href=/source/%d>Source %d</a>", i, i)
		}
		b.WriteString("</p>")
	}
	b.WriteString("</main><form><label>Comment <textarea></textarea></label><button>Send</button></form>")
	return b.String()
}

// shares holds the costs of a page in tokens: of LINES, of the whole accessibility tree, and of the tree without the lines for the layout's
// text boxes, which repeat the text above them.
type shares struct{ lines, tree, bare int }

const sharesHeader = "  LINES     tree  share  without text boxes"

// share returns the cost of LINES as a fraction of the tree's cost.
func (s shares) share() float64     { return float64(s.lines) / float64(max(1, s.tree)) }
func (s shares) bareShare() float64 { return float64(s.lines) / float64(max(1, s.bare)) }

func (s *shares) add(o shares) {
	s.lines, s.tree, s.bare = s.lines+o.lines, s.tree+o.tree, s.bare+o.bare
}

func (s shares) String() string {
	return fmt.Sprintf("%7d  %7d  %5.3f  %7d %5.3f", s.lines, s.tree, s.share(), s.bare, s.bareShare())
}

// compareCost measures the costs of a tab's page. It must be the page that was opened last.
func compareCost(t testing.TB, d *testenv.Daemon, tab string) shares {
	t.Helper()
	lift(t, d.Browser.Newest())
	r, err := d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab})
	if err != nil {
		t.Fatal(err)
	}
	o := outlineOf(t, d.Browser.Newest())
	return shares{lines: tokens.Count(r.GetText()), tree: tokens.Count(o.text(true)), bare: tokens.Count(o.text(false))}
}

// lift reveals a page that hides itself until a third-party script has loaded. The tree omits hidden content, while domtap lists what is
// visible after that.
func lift(t testing.TB, p *browser.Page) {
	t.Helper()
	const script = `for (const e of [document.documentElement, document.body]) {
		if (getComputedStyle(e).visibility !== "visible") e.style.setProperty("visibility", "visible", "important");
		if (getComputedStyle(e).opacity === "0") e.style.setProperty("opacity", "1", "important");
	}`
	if err := p.Call(t.Context(), runtime.CommandEvaluate, runtime.EvaluateParams{Expression: script}, nil); err != nil {
		t.Fatal(err)
	}
}

// axOutline is the accessibility tree of a page with all frames of its process.
type axOutline struct {
	trees map[cdp.FrameID]map[accessibility.NodeID]*accessibility.Node
	roots map[cdp.FrameID]*accessibility.Node
	// inner maps an element to the frame that it contains.
	inner map[cdp.BackendNodeID]cdp.FrameID
	main  cdp.FrameID
}

func outlineOf(t testing.TB, p *browser.Page) *axOutline {
	t.Helper()
	_, frames := capture(t, p)
	o := &axOutline{
		trees: map[cdp.FrameID]map[accessibility.NodeID]*accessibility.Node{}, roots: map[cdp.FrameID]*accessibility.Node{},
		inner: map[cdp.BackendNodeID]cdp.FrameID{}, main: cdp.FrameID(p.ID()),
	}
	for frame := range frames {
		var tree accessibility.GetFullAXTreeResult
		if err := p.Call(t.Context(), accessibility.CommandGetFullAXTree, accessibility.GetFullAXTreeParams{FrameID: frame}, &tree); err != nil {
			t.Logf("frame %s has no tree: %v", frame, err)
			continue
		}
		o.trees[frame] = map[accessibility.NodeID]*accessibility.Node{}
		for _, n := range tree.Nodes {
			o.trees[frame][n.NodeID] = n
			if n.ParentID == "" {
				o.roots[frame] = n
			}
		}
		var owner cdpdom.GetFrameOwnerResult
		if frame == o.main {
			continue
		}
		if err := p.Call(t.Context(), cdpdom.CommandGetFrameOwner, cdpdom.GetFrameOwnerParams{FrameID: frame}, &owner); err != nil {
			t.Fatal(err)
		}
		o.inner[owner.BackendNodeID] = frame
	}
	return o
}

// text prints the tree in the outline format of TREE, with one line for every node that is not ignored. boxes includes the layout's text
// boxes.
func (o *axOutline) text(boxes bool) string {
	var b strings.Builder
	ref := 0
	// An ignored node is replaced by its children, which move up one level.
	var walk func(frame cdp.FrameID, n *accessibility.Node, level int)
	walk = func(frame cdp.FrameID, n *accessibility.Node, level int) {
		if n == nil {
			return
		}
		if !n.Ignored {
			if axString(n.Role) == "InlineTextBox" && !boxes {
				return
			}
			b.WriteString(strings.Repeat("  ", level))
			axLine(&b, n, ref)
			ref++
			level++
		}
		for _, id := range n.ChildIDs {
			walk(frame, o.trees[frame][id], level)
		}
		if inner, ok := o.inner[n.BackendDOMNodeID]; ok && n.BackendDOMNodeID != 0 {
			walk(inner, o.roots[inner], level)
		}
	}
	walk(o.main, o.roots[o.main], 0)
	return b.String()
}

// axLine prints a node as TREE prints an element. Names and values are truncated as domtap does.
func axLine(b *strings.Builder, n *accessibility.Node, ref int) {
	b.WriteString("- " + axRole(axString(n.Role)))
	if name := clip(axString(n.Name)); name != "" {
		b.WriteString(` "` + strings.ReplaceAll(name, `"`, "'") + `"`)
	}
	for _, p := range n.Properties {
		var value any
		if p.Value == nil || json.Unmarshal(p.Value.Value, &value) != nil {
			continue
		}
		switch p.Name {
		case "checked", "disabled", "expanded", "selected", "pressed", "required", "readonly", "focused", "invalid":
			if value == true || value == "true" {
				fmt.Fprintf(b, " [%s]", p.Name)
			} else if value == false && p.Name == "expanded" {
				b.WriteString(" [collapsed]")
			}
		case "level":
			fmt.Fprintf(b, " [level=%v]", value)
		}
	}
	fmt.Fprintf(b, " [ref=e%d]", ref)
	if value := clip(axString(n.Value)); value != "" {
		b.WriteString(": " + value)
	}
	b.WriteByte('\n')
}
