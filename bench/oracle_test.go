package bench

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// The test fails if fewer names or roles equal the browser's own.
const wantNames, wantRoles = 0.98, 0.99

// TestNamesAndRolesEqualTheBrowsers compares the name and the role of every element with Chromium's own accessibility tree. It uses a page
// of difficult cases, and the pages in $DOMTAP_PAGES if that names a folder. It prints the differences.
func TestNamesAndRolesEqualTheBrowsers(t *testing.T) {
	for _, dir := range []string{"testdata", os.Getenv("DOMTAP_PAGES")} {
		if dir == "" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) { namesAndRoles(t, dir) })
	}
}

func namesAndRoles(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %s: %v", dir, err)
	}
	url := testenv.Serve(t, http.FileServer(http.Dir(dir)))
	d := testenv.StartDaemon(t)
	var all, names, roles int
	for _, file := range files {
		tab := d.Open(url + "/" + filepath.Base(file))
		n, sameNames, sameRoles := compareWithTree(t, d, tab, filepath.Base(file))
		t.Logf("%-24s %5d elements, names equal %6.2f%%, roles equal %6.2f%%", filepath.Base(file), n, percent(sameNames, n), percent(sameRoles, n))
		all, names, roles = all+n, names+sameNames, roles+sameRoles
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%-24s %5d elements, names equal %6.2f%%, roles equal %6.2f%%", "all", all, percent(names, all), percent(roles, all))
	if float64(names) < wantNames*float64(all) || float64(roles) < wantRoles*float64(all) {
		t.Errorf("want %.0f%% and %.0f%%", 100*wantNames, 100*wantRoles)
	}
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(1, all)) }

func compareWithTree(t testing.TB, d *testenv.Daemon, tab, page string) (all, names, roles int) {
	t.Helper()
	p := d.Browser.Newest()
	lift(t, p)
	elements := d.All(tab).GetElements()
	ids, err := p.Nodes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var tree accessibility.GetFullAXTreeResult
	if err := p.Call(t.Context(), accessibility.CommandGetFullAXTree, accessibility.GetFullAXTreeParams{}, &tree); err != nil {
		t.Fatal(err)
	}
	known := map[cdp.BackendNodeID]*accessibility.Node{}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			known[n.BackendDOMNodeID] = n
		}
	}
	at := 0
	for _, e := range elements {
		if e.GetFrameId() != "" {
			continue
		}
		if at >= len(ids) {
			break
		}
		n := known[ids[at]]
		at++
		if n == nil || e.GetTag() == "label" && e.GetType() != "" {
			continue // the tree has no node for the element, or for the hidden control that the label replaces
		}
		all++
		name, role := axString(n.Name), axRole(axString(n.Role))
		if name = clip(name); name == e.GetText() || name == "" && isText(e) {
			names++
		} else {
			t.Logf("NAME %s [%d] %s %s: got %q want %q", page, e.GetRef(), e.GetTag(), e.GetRole(), e.GetText(), name)
		}
		if role == e.GetRole() || e.GetRole() == "textbox" && role == "generic" && isEdited(n) {
			roles++
		} else {
			t.Logf("ROLE %s [%d] %s %q: got %s want %s", page, e.GetRef(), e.GetTag(), e.GetText(), e.GetRole(), role)
		}
	}
	return all, names, roles
}

// isEdited reports whether a node is editable text. The browser reports no role for an editing host without a role attribute, while domtap
// lists it as a field.
func isEdited(n *accessibility.Node) bool {
	return slices.ContainsFunc(n.Properties, func(p *accessibility.Property) bool { return p.Name == accessibility.PropertyNameEditable })
}

// isText reports whether an element is listed because of its text, or is usable without a suitable role (because of its cursor, or because
// it is editable). Such an element has no name, and domtap lists its text instead.
func isText(e *domtapv1.Element) bool {
	switch e.GetRole() {
	case "generic", "paragraph", "listitem":
		return true
	}
	return e.Focused == nil && e.GetRole() != "heading" && e.GetRole() != "img"
}

func axString(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	_ = json.Unmarshal(v.Value, &text) // some values are not strings, and these are not names
	return text
}

// axRole maps Chromium's internal roles, which are not ARIA roles, to domtap's names.
func axRole(role string) string {
	switch role {
	case "DisclosureTriangle", "ColorWell":
		return "button"
	case "LabelText":
		return "label"
	case "Legend":
		return "legend"
	case "Figcaption", "sectionheader", "sectionfooter":
		return "generic"
	case "Details":
		return "group"
	case "Iframe":
		return "iframe"
	case "image", "SvgRoot":
		return "img"
	}
	return role
}

// clip truncates a name as domtap does.
func clip(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= 100 {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:100]), " ") + "…"
}
