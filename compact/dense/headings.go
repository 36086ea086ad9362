package dense

import "github.com/domtap/domtap/dom"

// headings finds the elements that the heading above them distinguishes from others with the same role and name.
type headings struct {
	// above holds, for each node, the nearest heading above it that has a line, or -1.
	above []int32
	// count counts the shown elements by heading, role and name.
	count map[underHeading]int
	// texts counts the headings by text.
	texts map[string]int
}

type underHeading struct {
	heading    int32
	role, name string
}

// newHeadings examines all elements of a layout.
func newHeadings(l *layout) headings {
	h := headings{above: make([]int32, len(l.nodes)), count: map[underHeading]int{}, texts: map[string]int{}}
	type scope struct{ heading, end int32 }
	var scopes []scope // the last heading of each group around the current node, outermost first
	for i := range l.nodes {
		for n := len(scopes); n > 0 && int(scopes[n-1].end) <= i; n-- {
			scopes = scopes[:n-1]
		}
		if len(scopes) == 0 {
			scopes = append(scopes, scope{-1, int32(len(l.nodes))})
		}
		last := &scopes[len(scopes)-1]
		h.above[i] = last.heading
		switch e := &l.nodes[i]; {
		case e.Role == "heading" && e.context && !e.Covered:
			last.heading = int32(i)
			h.texts[e.Text]++
		case landmarkWord(e.Element) != "" && e.end > int32(i)+1:
			scopes = append(scopes, scope{last.heading, e.end})
		}
		if e := l.shown[i]; e != nil && e.Kind == dom.Interactive {
			h.count[underHeading{h.above[i], e.Role, e.Text}]++
		}
	}
	return h
}

// distinguish reports whether a shown element is the only one of its role and name below its heading, and no other heading has the same text.
func (h *headings) distinguish(l *layout, i int) bool {
	e := l.shown[i]
	at := h.above[i]
	return at >= 0 && l.nodes[at].Text != "" && h.texts[l.nodes[at].Text] == 1 && h.count[underHeading{at, e.Role, e.Text}] == 1
}
