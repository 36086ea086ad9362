package view

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/domtap/domtap/dom"
)

// Limits of NavigationHash, so that a page that consists only of landmarks costs no more than other pages.
const (
	// maxNested limits how many landmarks may contain a landmark that is hashed.
	maxNested = 4
	// maxLandmarks limits how many landmarks of a page are hashed, starting with the first in document order.
	maxLandmarks = 64
)

// Landmark is a landmark that a site repeats on its pages: a navigation, a banner or a contentinfo.
type Landmark struct {
	Element *dom.Element
	// Hash is equal for landmarks of the same role and name whose descendants in the stored DOM have the same roles and names, in any
	// order. Values, states and links do not count.
	Hash [sha256.Size]byte
	// Below holds the descendants of the landmark in the stored DOM, in document order.
	Below []*dom.Element
}

// isRepeated reports whether a role is the role of a Landmark.
func isRepeated(role string) bool {
	return role == "navigation" || role == "banner" || role == "contentinfo"
}

// NavigationHash returns the landmarks among the elements of a snapshot, in document order: at most 64, and none inside four others. Its
// cost is proportional to the number of elements.
func NavigationHash(elements []*dom.Element) []Landmark {
	var found []landmarkScan
	within := map[dom.Ref]int{} // the innermost landmark of each landmark, and of each element in one
	for _, e := range elements {
		outer, inside := within[e.Parent]
		if inside {
			within[e.Ref] = outer
			for at := outer; at >= 0; at = found[at].outer {
				found[at].below = append(found[at].below, e)
			}
		} else {
			outer = -1
		}
		if !isRepeated(e.Role) || len(found) == maxLandmarks || outer >= 0 && found[outer].nested == maxNested {
			continue
		}
		c := landmarkScan{element: e, outer: outer, nested: 1}
		if outer >= 0 {
			c.nested += found[outer].nested
		}
		within[e.Ref] = len(found)
		found = append(found, c)
	}
	out := make([]Landmark, len(found))
	for i := range found {
		out[i] = found[i].landmark()
	}
	return out
}

// landmarkScan is a landmark whose descendants are being collected.
type landmarkScan struct {
	element *dom.Element
	// outer is the index of the landmark around this one, or -1. nested is the nesting depth, from 1.
	outer, nested int
	below         []*dom.Element
}

func line(e *dom.Element) string { return e.Role + ":" + e.Text }

func (c *landmarkScan) landmark() Landmark {
	l := Landmark{Element: c.element, Below: c.below}
	lines := make([]string, len(c.below))
	for i, e := range c.below {
		lines[i] = line(e)
	}
	slices.Sort(lines)
	h := sha256.New()
	var size [8]byte
	for _, s := range append([]string{line(c.element)}, lines...) {
		// The length prevents a name from being read as two.
		binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	h.Sum(l.Hash[:0])
	return l
}

// Fold returns the elements without the descendants of folded elements. It returns the slice itself if nothing is folded. The elements must
// be in document order, parents before children.
func Fold[T any](elements []*dom.Element, folded map[dom.Ref]T) []*dom.Element {
	if len(folded) == 0 {
		return elements
	}
	out := make([]*dom.Element, 0, len(elements))
	hidden := map[dom.Ref]struct{}{} // the folded landmarks seen so far, and the elements below them
	for _, e := range elements {
		_, below := hidden[e.Parent]
		if !below {
			out = append(out, e)
		}
		if _, folds := folded[e.Ref]; folds || below {
			hidden[e.Ref] = struct{}{}
		}
	}
	return out
}
