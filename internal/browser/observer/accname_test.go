package observer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// wantRight is the minimum share of cases whose name and role must agree with the specifications.
const wantRight = 0.99

// accCase is one case of testdata/accname: a small document, and the expected role and name of its element with the id "$". Each file
// contains the cases for one step of the computation, one per line:
//
//	DOCUMENT => ROLE "NAME"
//
// The lines below a case state which program differs from the specification, and why:
//
//	domtap: ROLE "NAME": REASON
//	chromium: ROLE "NAME": REASON
//
// All documents are in one page. "$" in a document is replaced by a prefix of its case, so that ids are unique.
type accCase struct {
	file, group, html string
	id                string
	want              string
	domtap, chromium  string // the results that differ from want
}

// TestNamesFollowTheSpecifications compares names and roles with the specifications: Accessible Name and Description Computation 1.2,
// HTML-AAM 1.0, Core-AAM 1.2 and WAI-ARIA 1.2. It also compares Chromium's names and roles with them, so that each difference between
// domtap and Chromium is recorded with its reason.
func TestNamesFollowTheSpecifications(t *testing.T) {
	cases := readCases(t)
	tab := newTab(t)
	var page strings.Builder
	for _, c := range cases {
		page.WriteString("<div>" + strings.ReplaceAll(c.html, "$", c.id) + "</div>\n")
	}
	got := tab.describeCases(t, page.String(), cases)
	browsers := tab.browserCases(t, cases)
	var right, same int
	for i, c := range cases {
		t.Run(c.file+"/"+c.group, func(t *testing.T) {
			want := c.want
			if c.domtap != "" {
				want = c.domtap
			}
			if got[i] != want {
				t.Errorf("%s\ngot  %s\nwant %s", c.html, got[i], want)
			}
			want = c.want
			if c.chromium != "" {
				want = c.chromium
			}
			if browsers[i] != want {
				t.Errorf("%s\nChromium says %s\nwant          %s\n", c.html, browsers[i], want)
			}
		})
		if got[i] == c.want {
			right++
		}
		if got[i] == browsers[i] {
			same++
		}
	}
	t.Logf("%d cases: %d as specified (%.1f%%), %d as Chromium has them (%.1f%%)",
		len(cases), right, percentOf(right, cases), same, percentOf(same, cases))
	if float64(right) < wantRight*float64(len(cases)) {
		t.Errorf("%d of %d cases are as specified, want %.0f%%", right, len(cases), 100*wantRight)
	}
}

func percentOf(part int, cases []accCase) float64 { return 100 * float64(part) / float64(len(cases)) }

func readCases(t *testing.T) []accCase {
	t.Helper()
	files, err := filepath.Glob("testdata/accname/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are the files %v, %v", files, err)
	}
	var cases []accCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		group := ""
		for i, line := range strings.Split(string(data), "\n") {
			html, want, isCase := strings.Cut(line, " => ")
			note, isNote := strings.CutPrefix(line, "  ")
			switch {
			case isNote && len(cases) > 0:
				err = cases[len(cases)-1].differ(note)
			case strings.HasPrefix(line, "## "):
				group = line[3:]
			case isCase:
				name := strings.TrimSuffix(filepath.Base(file), ".txt")
				cases = append(cases, accCase{file: name, group: group, html: html, id: fmt.Sprintf("c%d-", len(cases)), want: want})
			case line != "" && !strings.HasPrefix(line, "# "):
				err = fmt.Errorf("neither a case, a note nor a heading: %q", line)
			}
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
		}
	}
	return cases
}

// differ parses a line that states which program differs from the specification: PROGRAM: ROLE "NAME": REASON.
func (c *accCase) differ(note string) error {
	who, rest, _ := strings.Cut(note, ": ")
	says, reason, found := strings.Cut(rest, `": `)
	if !found || reason == "" {
		return fmt.Errorf("a difference without a reason: %q", note)
	}
	switch who {
	case "domtap":
		c.domtap = says + `"`
	case "chromium":
		c.chromium = says + `"`
	default:
		return fmt.Errorf("neither domtap nor chromium: %q", note)
	}
	return nil
}

// describeCases shows a page, and returns the roles and names that the scripts compute.
func (t *tab) describeCases(tt *testing.T, html string, cases []accCase) []string {
	tt.Helper()
	answers := strings.Split(strings.TrimSuffix(t.ask(tt, "described", html, ""), "\n"), "\n")
	byID := map[string]string{}
	for _, answer := range answers {
		id, says, _ := strings.Cut(answer, " ")
		byID[id] = says
	}
	out := make([]string, len(cases))
	for i, c := range cases {
		says, found := byID[c.id]
		if !found {
			tt.Errorf("%s: the page has no element with the id of the case", c.html)
		}
		out[i] = says
	}
	return out
}

// browserCases returns the roles and names that Chromium computes for the page that is shown.
func (t *tab) browserCases(tt *testing.T, cases []accCase) []string {
	tt.Helper()
	all, pierce := int64(-1), true
	document, err := chromedp.Call(t.ctx, dom.GetDocument, dom.GetDocumentParams{Depth: &all, Pierce: &pierce})
	if err != nil {
		tt.Fatal(err)
	}
	nodes := map[string]*cdp.Node{}
	collectIDs(document.Root, nodes)
	out := make([]string, len(cases))
	for i, c := range cases {
		node := nodes[c.id]
		if node == nil {
			continue // describeCases reports the missing element
		}
		alone := false
		tree, err := chromedp.Call(t.ctx, accessibility.GetPartialAXTree,
			accessibility.GetPartialAXTreeParams{BackendNodeID: node.BackendNodeID, FetchRelatives: &alone})
		if err != nil || len(tree.Nodes) == 0 {
			tt.Fatalf("%s: %v", c.html, err)
		}
		out[i] = fmt.Sprintf("%s %s", browserRole(tree.Nodes[0]), quoted(axText(tree.Nodes[0].Name)))
	}
	return out
}

func collectIDs(node *cdp.Node, into map[string]*cdp.Node) {
	for i := 0; i+1 < len(node.Attributes); i += 2 {
		if node.Attributes[i] == "id" {
			into[node.Attributes[i+1]] = node
		}
	}
	for _, list := range [][]*cdp.Node{node.Children, node.ShadowRoots} {
		for _, child := range list {
			collectIDs(child, into)
		}
	}
}

func axText(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // some values are not strings, and these are not names
	}
	return strings.Join(strings.Fields(text), " ")
}

// quoted quotes a name as JavaScript does.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// browserRole converts Chromium's own roles to the roles in the specifications.
func browserRole(n *accessibility.Node) string {
	switch role := axText(n.Role); role {
	case "DisclosureTriangle":
		return "button"
	case "Details":
		return "group"
	case "Iframe":
		return "iframe"
	case "image", "SvgRoot":
		return "img"
	case "LayoutTable":
		return "table"
	case "LayoutTableRow":
		return "row"
	case "LayoutTableCell":
		return "cell"
	case "Figcaption", "sectionheader", "sectionfooter", "Section":
		return "generic"
	default:
		return role
	}
}
