package bench

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/domdebugger"
	"github.com/chromedp/cdproto/domsnapshot"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/internal/browser"
)

// node is an element as returned by the browser over CDP, without a script of domtap.
type node struct {
	id     cdp.BackendNodeID
	parent int // the index of the parent, which precedes this element; -1 without a parent
	tag    string
	attrs  map[string]string

	rendered    bool // has its own box of any size
	area        bool // the box is not empty
	away        bool // is left of or above the page, where no scrolling reaches it
	transparent bool // has opacity 0 itself
	hidden      bool // has a visibility other than visible
	pointerless bool // pointer-events: none
	skipped     bool // content-visibility: hidden, which hides its content
	clicks      bool // has a listener for a kind of click
	closed      bool // is in a closed shadow root
	userAgent   bool // is in a shadow root of the browser, such as the shadow root of <video>
	size        int  // the number of elements in it, including itself
}

// styles lists the computed styles that the snapshot requests, in this order.
var styles = []string{"display", "visibility", "opacity", "pointer-events", "content-visibility"}

// clickTypes lists the events whose listeners make an element clickable.
var clickTypes = map[string]bool{
	"click": true, "dblclick": true, "mousedown": true, "mouseup": true,
	"pointerdown": true, "pointerup": true, "touchstart": true, "touchend": true,
}

// capture returns the elements of all frames of a page in the main frame's process, parents first, and these frames.
func capture(t testing.TB, p *browser.Page) (nodes []node, frames map[cdp.FrameID]bool) {
	t.Helper()
	var shot domsnapshot.CaptureSnapshotResult
	if err := p.Call(t.Context(), domsnapshot.CommandCaptureSnapshot, domsnapshot.CaptureSnapshotParams{ComputedStyles: styles}, &shot); err != nil {
		t.Fatal(err)
	}
	clicked := clickListeners(t, p)
	frames = map[cdp.FrameID]bool{}
	type place struct{ document, owner int }
	for queue := []place{{0, -1}}; len(queue) > 0; queue = queue[1:] {
		d := document{DocumentSnapshot: shot.Documents[queue[0].document], strings: shot.Strings}
		frames[cdp.FrameID(d.text(d.FrameID))] = true
		inner := d.append(&nodes, queue[0].owner, clicked)
		for at, content := range inner {
			queue = append(queue, place{content, at})
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		n.size++
		if n.parent >= 0 {
			nodes[n.parent].size += n.size
		}
	}
	return nodes, frames
}

// clickListeners finds every click listener of the page with one query.
func clickListeners(t testing.TB, p *browser.Page) map[cdp.BackendNodeID]bool {
	t.Helper()
	var doc runtime.EvaluateResult
	if err := p.Call(t.Context(), runtime.CommandEvaluate, runtime.EvaluateParams{Expression: "document"}, &doc); err != nil {
		t.Fatal(err)
	}
	depth, pierce := int64(-1), true
	var found domdebugger.GetEventListenersResult
	ask := domdebugger.GetEventListenersParams{ObjectID: doc.Result.ObjectID, Depth: &depth, Pierce: &pierce}
	if err := p.Call(t.Context(), domdebugger.CommandGetEventListeners, ask, &found); err != nil {
		t.Fatal(err)
	}
	clicked := map[cdp.BackendNodeID]bool{}
	for _, l := range found.Listeners {
		if clickTypes[l.Type] {
			clicked[l.BackendNodeID] = true
		}
	}
	return clicked
}

// document is one document of a snapshot.
type document struct {
	*domsnapshot.DocumentSnapshot
	strings []string
}

func (d document) text(i domsnapshot.StringIndex) string {
	if i < 0 {
		return ""
	}
	return d.strings[i]
}

// append appends the elements of the document below the element that contains it, or -1 for none. It returns the nested documents by the
// indices of the elements that contain them.
func (d document) append(nodes *[]node, owner int, clicked map[cdp.BackendNodeID]bool) map[int]int {
	first := len(*nodes)
	places := make([]int, len(d.Nodes.NodeType)) // for each node, its own index or the index of its nearest element
	roots := d.shadowRoots()
	kinds := make([]string, len(places)) // for each node, the type of its shadow root
	for i, kind := range d.Nodes.NodeType {
		places[i] = owner
		if parent := d.Nodes.ParentIndex[i]; parent >= 0 {
			places[i], kinds[i] = places[parent], kinds[parent]
		}
		if roots[i] != "" && kinds[i] != "user-agent" {
			kinds[i] = roots[i]
		}
		if kind != 1 || d.isPseudo(i) {
			continue
		}
		id := d.Nodes.BackendNodeID[i]
		*nodes = append(*nodes, node{id: id, parent: places[i], tag: strings.ToLower(d.text(d.Nodes.NodeName[i])),
			attrs: d.attributes(i), clicks: clicked[id], closed: kinds[i] == "closed", userAgent: kinds[i] == "user-agent"})
		places[i] = len(*nodes) - 1
	}
	for i, at := range d.Layout.NodeIndex {
		if d.Nodes.NodeType[at] == 1 && places[at] >= first {
			d.style(&(*nodes)[places[at]], i)
		}
	}
	inner := map[int]int{}
	if c := d.Nodes.ContentDocumentIndex; c != nil {
		for i, at := range c.Index {
			inner[places[at]] = int(c.Value[i])
		}
	}
	return inner
}

// style sets the fields of an element that come from the layout.
func (d document) style(n *node, i int) {
	n.rendered = true
	box := d.Layout.Bounds[i]
	n.area = n.area || box[2] > 0 && box[3] > 0
	n.away = box[0]+box[2] <= 0 || box[1]+box[3] <= 0
	style := func(at int) string {
		if at >= len(d.Layout.Styles[i]) {
			return ""
		}
		return d.text(domsnapshot.StringIndex(d.Layout.Styles[i][at]))
	}
	n.hidden = style(1) != "" && style(1) != "visible"
	n.transparent = style(2) == "0"
	n.pointerless = style(3) == "none"
	n.skipped = style(4) == "hidden"
}

// shadowRoots returns the types of the shadow roots.
func (d document) shadowRoots() map[int]string {
	types := map[int]string{}
	if r := d.Nodes.ShadowRootType; r != nil {
		for i, at := range r.Index {
			types[int(at)] = d.text(r.Value[i])
		}
	}
	return types
}

func (d document) isPseudo(i int) bool {
	return strings.HasPrefix(d.text(d.Nodes.NodeName[i]), "::")
}

func (d document) attributes(i int) map[string]string {
	flat := d.Nodes.Attributes[i]
	attrs := make(map[string]string, len(flat)/2)
	for j := 0; j+1 < len(flat); j += 2 {
		attrs[d.text(domsnapshot.StringIndex(flat[j]))] = d.text(domsnapshot.StringIndex(flat[j+1]))
	}
	return attrs
}
