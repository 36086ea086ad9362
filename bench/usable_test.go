package bench

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// wantUsable is the fraction of usable elements that must be listed without limits.
const wantUsable = 0.99

// countListeners includes elements that only CDP can find: elements that are usable only because of a listener, and elements in closed
// shadow roots. countStandIns includes elements that a person uses in place of others: labels of invisible controls, areas of image maps,
// and the content of elements without their own box (display: contents).
const countListeners, countStandIns = true, true

// The kinds of usable elements, by the reason why they are usable.
const (
	native   = "native"   // an interactive HTML element
	widget   = "ARIA"     // an interactive ARIA role
	tabindex = "tabindex" // a position in the tab order
	listener = "listener" // only a click listener
	closed   = "closed"   // any of these in a closed shadow root
	label    = "label"    // a label with an invisible control
	area     = "area"     // an area of an image map
	contents = "contents" // an element without its own box, whose content has boxes
)

// counted reports whether a kind counts.
func counted(kind string) bool {
	switch kind {
	case listener, closed:
		return countListeners
	case label, area, contents:
		return countStandIns
	}
	return true
}

// TestUsableElementsArePresent finds the elements that a person could use with CDP alone, and checks that GetDom returns them without
// limits. It uses a page of difficult cases, and the pages in $DOMTAP_PAGES if that names a folder. It prints the missing elements by kind.
func TestUsableElementsArePresent(t *testing.T) {
	for _, dir := range []string{"testdata/usable", os.Getenv("DOMTAP_PAGES")} {
		if dir == "" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) { usableElements(t, dir) })
	}
}

func usableElements(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %s: %v", dir, err)
	}
	url := testenv.Serve(t, http.FileServer(http.Dir(dir)))
	d := testenv.StartDaemon(t)
	var sum findings
	for _, file := range files {
		name := filepath.Base(file)
		tab := d.Open(url + "/" + name)
		u := findUsable(t, d, tab)
		t.Logf("%-24s %s", name, u)
		for _, m := range u.missing {
			t.Logf("MISSING %s %s", name, m)
		}
		sum.add(u)
		if _, err := d.Tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab}); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%-24s %s", "all", sum)
	if found, present := sum.counted(); found == 0 || float64(present) < wantUsable*float64(found) {
		t.Errorf("%d of %d usable elements are present, want %.0f%%", present, found, 100*wantUsable)
	}
}

// findings counts the usable elements of a page by kind, and how many of them domtap lists.
type findings struct {
	found, present map[string]int
	missing        []string
}

func (u *findings) add(v findings) {
	if u.found == nil {
		u.found, u.present = map[string]int{}, map[string]int{}
	}
	for kind, n := range v.found {
		u.found[kind] += n
		u.present[kind] += v.present[kind]
	}
}

// counted returns the sums over the kinds that are included.
func (u findings) counted() (found, present int) {
	for kind, n := range u.found {
		if counted(kind) {
			found, present = found+n, present+u.present[kind]
		}
	}
	return found, present
}

// every returns the sums over all kinds.
func (u findings) every() (found, present int) {
	for kind, n := range u.found {
		found, present = found+n, present+u.present[kind]
	}
	return found, present
}

func (u findings) String() string {
	found, present := u.counted()
	all, there := u.every()
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(u.found)) {
		kinds = append(kinds, fmt.Sprintf("%s %d/%d", kind, u.present[kind], u.found[kind]))
	}
	return fmt.Sprintf("%4d of %4d usable elements present (%6.2f%%); of every kind %6.2f%%: %s",
		present, found, percent(present, found), percent(there, all), strings.Join(kinds, ", "))
}

// findUsable compares domtap's elements of a tab with those found by CDP. The tab's page must be the most recently opened one.
func findUsable(t testing.TB, d *testenv.Daemon, tab string) findings {
	t.Helper()
	p := d.Browser.Newest()
	listed := map[uint32]bool{}
	all, err := d.Dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all.GetElements() {
		listed[e.GetRef()] = true
	}
	nodes, frames := capture(t, p)
	present := map[cdp.BackendNodeID]bool{}
	for id, ref := range backendRefs(t, d, tab, frames) {
		present[id] = listed[ref]
	}
	unveil(nodes)
	u := findings{found: map[string]int{}, present: map[string]int{}}
	for i, kind := range kindsOf(nodes) {
		if kind == "" {
			continue
		}
		u.found[kind]++
		if present[nodes[i].id] {
			u.present[kind]++
		} else {
			u.missing = append(u.missing, kind+" "+path(nodes, i))
		}
	}
	return u
}

// backendRefs maps the browser's ids of all elements that domtap stores to their refs. It includes only the given frames, because other
// processes may use the same ids.
func backendRefs(t testing.TB, d *testenv.Daemon, tab string, frames map[cdp.FrameID]bool) map[cdp.BackendNodeID]uint32 {
	t.Helper()
	p := d.Browser.Newest()
	refs := map[string][]uint32{}
	for _, e := range d.All(tab).GetElements() {
		refs[e.GetFrameId()] = append(refs[e.GetFrameId()], e.GetRef())
	}
	out := map[cdp.BackendNodeID]uint32{}
	for frame, list := range refs {
		if frame != "" && !frames[cdp.FrameID(frame)] {
			continue
		}
		ids, err := p.Nodes(t.Context(), dom.FrameID(frame))
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) != len(list) {
			t.Logf("frame %q changed in between: %d elements, then %d", frame, len(list), len(ids))
		}
		for i := range min(len(ids), len(list)) {
			out[ids[i]] = list[i]
		}
	}
	return out
}

// widgets lists the interactive ARIA roles.
var widgets = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "checkbox": true, "radio": true, "combobox": true,
	"listbox": true, "slider": true, "spinbutton": true, "switch": true, "tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "option": true, "treeitem": true,
}

// maxUsableIn is the maximum number of usable elements in an element with a listener that does not count as a delegate.
const maxUsableIn = 5

// isContainer lists tags whose listeners handle events of their content: forms, lists and tables with usable items.
var isContainer = map[string]bool{"form": true, "ul": true, "ol": true, "table": true}

// kindsOf returns for each element why it is usable, or an empty string if it is not. A listener does not count in these cases: its element
// is the root, the body, a form, a list or a table; it is in a link or a button, whose clicks it receives; or it is a delegate for its
// content, because it contains more than half of the page's elements, or more than five elements that are usable themselves.
func kindsOf(nodes []node) []string {
	kinds := make([]string, len(nodes))
	holds := make([]int, len(nodes)) // the number of usable elements below
	usable := reachable(nodes)
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		if usable[i] {
			kinds[i] = kindOf(nodes, i)
		}
		if kinds[i] == listener && (n.pointerless || 2*n.size > len(nodes) || holds[i] > maxUsableIn || isContainer[n.tag] || inControl(nodes, i)) {
			kinds[i] = ""
		}
		if n.parent >= 0 {
			holds[n.parent] += holds[i]
			if kinds[i] != "" {
				holds[n.parent]++
			}
		}
		switch {
		case kinds[i] == "":
		case n.closed:
			kinds[i] = closed
		case !n.rendered:
			kinds[i] = contents
		}
	}
	for i, kind := range mapped(nodes, usable) {
		kinds[i] = kind
	}
	return kinds
}

// inControl reports whether an element is in a link or a button.
func inControl(nodes []node, i int) bool {
	for i = nodes[i].parent; i >= 0; i = nodes[i].parent {
		if tag := nodes[i].tag; tag == "button" || tag == "a" && isNative(nodes, i) {
			return true
		}
	}
	return false
}

// kindOf returns why a visible, enabled element is usable.
func kindOf(nodes []node, i int) string {
	n := &nodes[i]
	switch {
	case n.tag == "html" || n.tag == "body" || n.tag == "iframe" || n.tag == "frame":
		return ""
	case isNative(nodes, i):
		return native
	case n.tag == "label":
		if standsIn(nodes, i) {
			return label
		}
	}
	role, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(n.attrs["role"])), " ")
	if widgets[role] {
		return widget
	}
	if index, err := strconv.Atoi(strings.TrimSpace(n.attrs["tabindex"])); err == nil && index >= 0 {
		return tabindex
	}
	if n.clicks {
		return listener
	}
	return ""
}

func isNative(nodes []node, i int) bool {
	n := &nodes[i]
	switch n.tag {
	case "a":
		_, href := n.attrs["href"]
		_, xlink := n.attrs["xlink:href"]
		return href || xlink
	case "button", "select", "textarea":
		return true
	case "input":
		return !strings.EqualFold(n.attrs["type"], "hidden")
	case "summary":
		return n.parent >= 0 && nodes[n.parent].tag == "details" && isFirst(nodes, i, "summary")
	}
	value, editable := n.attrs["contenteditable"]
	value = strings.ToLower(value)
	return editable && (value == "" || value == "true" || value == "plaintext-only")
}

// standsIn reports whether a label's control works but has no place on the page. A transparent control has a place and is used directly.
func standsIn(nodes []node, i int) bool {
	id, named := nodes[i].attrs["for"]
	for j := range nodes {
		n := &nodes[j]
		if n.tag != "input" || strings.EqualFold(n.attrs["type"], "hidden") || named && n.attrs["id"] != id || !named && !isIn(nodes, j, i) {
			continue
		}
		_, disabled := n.attrs["disabled"]
		return !disabled && (!n.area || n.hidden)
	}
	return false
}

func isIn(nodes []node, i, ancestor int) bool {
	for ; i > ancestor; i = nodes[i].parent {
		if nodes[i].parent == ancestor {
			return true
		}
	}
	return false
}

// mapped finds the areas of image maps that a visible image uses. They have no boxes of their own.
func mapped(nodes []node, usable []bool) map[int]string {
	used := map[string]bool{}
	for i, n := range nodes {
		if name := n.attrs["usemap"]; name != "" && usable[i] {
			used[strings.TrimPrefix(name, "#")] = true
		}
	}
	areas := map[int]string{}
	for i, n := range nodes {
		if _, href := n.attrs["href"]; n.tag != "area" || !href {
			continue
		}
		for j := i; j >= 0; j = nodes[j].parent {
			if nodes[j].tag == "map" && used[nodes[j].attrs["name"]] {
				areas[i] = area
			}
		}
	}
	return areas
}

// unveil reverts how a page hides its root and body until a third-party script has loaded, because domtap lists the content that is visible
// after that. Visibility is inherited, so if everything is hidden, it is unknown which elements would remain hidden.
func unveil(nodes []node) {
	for i := range nodes {
		n := &nodes[i]
		if n.tag != "html" && n.tag != "body" {
			continue
		}
		n.transparent = false
		if !n.hidden || n.parent > 0 {
			continue
		}
		for j := range nodes {
			nodes[j].hidden = false
		}
	}
}

// reachable returns the elements that are visible and enabled. They have a size, or contain an element with a size. Neither they nor an
// ancestor is transparent, inert, skipped or disabled.
func reachable(nodes []node) []bool {
	lost := make([]bool, len(nodes)) // including all its content
	fieldset := make([]bool, len(nodes))
	out := make([]bool, len(nodes))
	within := visibleIn(nodes)
	for i := range nodes {
		n := &nodes[i]
		_, inert := n.attrs["inert"]
		lost[i] = n.userAgent || n.transparent && !isToggle(n) || inert || n.attrs["aria-disabled"] == "true"
		if n.parent >= 0 {
			up := &nodes[n.parent]
			_, open := up.attrs["open"]
			folded := up.tag == "details" && !open && !isFirst(nodes, i, "summary")
			lost[i] = lost[i] || lost[n.parent] || up.skipped || folded || (up.tag == "iframe" || up.tag == "frame") && up.hidden
			fieldset[i] = fieldset[n.parent] && !(up.tag == "fieldset" && isFirst(nodes, i, "legend"))
		}
		_, disabled := n.attrs["disabled"]
		if n.tag == "fieldset" && disabled {
			fieldset[i] = true
		}
		switch n.tag {
		case "button", "input", "select", "textarea":
			disabled = disabled || fieldset[i]
		default:
			disabled = false
		}
		seen := n.area && !n.hidden || (!n.area || !n.rendered) && within[i] > 0
		out[i] = !lost[i] && !disabled && seen
	}
	return out
}

// visibleIn counts the visible elements in each element, including itself. Elements outside the page do not make an element without a size
// visible.
func visibleIn(nodes []node) []int {
	within := make([]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		if n.area && !n.hidden && !n.away {
			within[i]++
		}
		if n.parent >= 0 {
			within[n.parent] += within[i]
		}
	}
	return within
}

// isToggle reports whether an element is a control that is often drawn as a separate box next to it.
func isToggle(n *node) bool {
	kind := strings.ToLower(n.attrs["type"])
	return n.tag == "input" && (kind == "checkbox" || kind == "radio" || kind == "file")
}

// isFirst reports whether an element has a tag and is the first child of its parent with that tag.
func isFirst(nodes []node, i int, tag string) bool {
	if nodes[i].tag != tag {
		return false
	}
	for j := nodes[i].parent + 1; j < i; j++ {
		if nodes[j].tag == tag && nodes[j].parent == nodes[i].parent {
			return false
		}
	}
	return true
}

// path describes an element by its last ancestors and its attributes.
func path(nodes []node, i int) string {
	text := ""
	for j, up := i, 0; j >= 0 && up < 4; j, up = nodes[j].parent, up+1 {
		name := nodes[j].tag
		if id := nodes[j].attrs["id"]; id != "" {
			name += "#" + id
		}
		text = name + " " + text
	}
	for _, name := range slices.Sorted(maps.Keys(nodes[i].attrs)) {
		text += fmt.Sprintf(" %s=%.40q", name, nodes[i].attrs[name])
	}
	return fmt.Sprintf("%.240s", text)
}
