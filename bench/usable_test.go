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

// wantUsable is the share of the usable elements that must be there when limits are off.
const wantUsable = 0.99

// countListeners says whether what only CDP can find counts: elements that are usable by a listener alone,
// and what stands in closed shadow roots. countStandIns says the same of what a person uses in the place of
// something else: labels of controls that are not to be seen, the areas of image maps, and what is in an
// element that has no box of its own (display: contents).
const countListeners, countStandIns = true, true

// The kinds of usable elements, by what makes them usable.
const (
	native   = "native"   // an element of HTML that a person acts on
	widget   = "ARIA"     // a role of ARIA that a person acts on
	tabindex = "tabindex" // a place in the order of the tab key
	listener = "listener" // a listener for clicks, and nothing else
	closed   = "closed"   // any of these in a closed shadow root
	label    = "label"    // a label whose control is not to be seen
	area     = "area"     // an area of an image map
	contents = "contents" // an element without a box of its own, which what is in it has
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

// TestUsableElementsArePresent finds what a person could use on each page by CDP alone and looks for it in
// what GetDom answers without limits: a page of awkward cases, and the pages in $DOMTAP_PAGES, if it names a
// folder. It prints what is missing, by kind.
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

// findings is how many usable elements a page has, by kind, and how many of them domtap lists.
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

// counted sums the kinds that count.
func (u findings) counted() (found, present int) {
	for kind, n := range u.found {
		if counted(kind) {
			found, present = found+n, present+u.present[kind]
		}
	}
	return found, present
}

// every sums all kinds.
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

// findUsable compares a tab's page, which must be the one opened last, with what CDP says of it.
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

// backendRefs maps the browser's own ids of all elements that domtap stores to their refs, in the frames
// named: ids of other processes may be the same.
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

// widgets are the roles of ARIA that a person acts on.
var widgets = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "checkbox": true, "radio": true, "combobox": true,
	"listbox": true, "slider": true, "spinbutton": true, "switch": true, "tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "option": true, "treeitem": true,
}

// maxUsableIn is how many usable elements a listener's element holds at most before it counts as a delegate.
const maxUsableIn = 5

// isContainer has the tags whose listeners hear what is in them: forms, and lists and tables, whose items are usable.
var isContainer = map[string]bool{"form": true, "ul": true, "ol": true, "table": true}

// kindsOf returns for each element what makes it usable; empty: it is not. A listener counts unless its element
// is the root, the body, a form, a list or a table, or stands in a link or a button, whose clicks it hears, or is a delegate,
// which listens for what is in it: it holds more than half of the page's elements, or more than five that are
// usable by themselves.
func kindsOf(nodes []node) []string {
	kinds := make([]string, len(nodes))
	holds := make([]int, len(nodes)) // usable elements below
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

// inControl reports whether an element stands in a link or a button.
func inControl(nodes []node, i int) bool {
	for i = nodes[i].parent; i >= 0; i = nodes[i].parent {
		if tag := nodes[i].tag; tag == "button" || tag == "a" && isNative(nodes, i) {
			return true
		}
	}
	return false
}

// kindOf returns what makes a visible, enabled element usable.
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

// standsIn reports whether a label's control has no place on the page but works. One that is transparent has a
// place, and is used there.
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

// mapped finds the areas of the image maps that a visible image uses: they have no boxes of their own.
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

// unveil takes back what a page does to its root and its body to hide itself until a script of somebody else
// has loaded: domtap tells what is there when the veil is lifted. Visibility is inherited, so that where all
// is hidden nothing tells what else would be.
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

// reachable returns the elements that are visible and enabled: of a size, or with something in them that is;
// neither they nor an ancestor transparent, inert, skipped or disabled.
func reachable(nodes []node) []bool {
	lost := make([]bool, len(nodes)) // with all that is in it
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

// visibleIn counts the elements in each element, itself included, that can be seen. What stands off the page
// does not show that an element without a size is there.
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

// isToggle reports whether an element is a control whose look is often drawn by a box beside it.
func isToggle(n *node) bool {
	kind := strings.ToLower(n.attrs["type"])
	return n.tag == "input" && (kind == "checkbox" || kind == "radio" || kind == "file")
}

// isFirst reports whether an element is of this tag and the first such child of its parent.
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

// path names an element for people: the last of its ancestors, and its attributes.
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
