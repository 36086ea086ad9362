package dense

import (
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/internal/elementcontext"
)

// headings holds, for each node, the nearest heading above it that has a line, or -1.
type headings []int32

// newHeadings examines all elements of a layout.
func newHeadings(l *layout) headings {
	above := make(headings, len(l.nodes))
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
		above[i] = last.heading
		switch e := &l.nodes[i]; {
		case e.Role == "heading" && e.context && !e.Covered:
			last.heading = int32(i)
		case landmarkWord(e.Element) != "" && e.end > int32(i)+1:
			scopes = append(scopes, scope{last.heading, e.end})
		}
	}
	return above
}

// say reports whether the heading above a node, and the headings of the sections around it, contain all words of the node's context.
func (h headings) say(l *layout, i int, c elementcontext.Context) bool {
	words := c.Words
	for at := h[i]; at >= 0; at = h.outer(l, at) {
		e := &l.nodes[at]
		if rest, ok := strings.CutPrefix(words, e.Text); ok && e.Text != "" {
			if rest == "" {
				return true
			}
			if rest, ok = strings.CutPrefix(rest, elementcontext.Separator); ok {
				words = rest
				continue
			}
		}
		start, isCut := strings.CutSuffix(words, part.Ellipsis)
		if (isCut || c.Of.Ref == e.Ref) && strings.HasPrefix(e.Text, start) {
			return true
		}
	}
	return false
}

// outer returns the heading of the section that contains a heading, or -1 if there is none.
func (h headings) outer(l *layout, at int32) int32 {
	level := l.nodes[at].Level
	for at >= 0 && l.nodes[at].Level >= level {
		at = h[at]
	}
	return at
}
