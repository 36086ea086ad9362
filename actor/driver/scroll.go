package driver

import (
	"context"
	"time"
)

// ScrollPosition is the scroll position of a page. The zero value is the top left.
type ScrollPosition struct {
	// X and Y are the scroll offsets of the document, in CSS pixels.
	X, Y float64
	// Boxes are the scrolled elements around the middle of the viewport, the innermost first. There are at most MaxScrolledBoxes.
	Boxes []ScrolledBox
}

// ScrolledBox is the scroll position of an element.
type ScrolledBox struct {
	// Path leads from the root to the element: the index of the child at each level, at most MaxScrolledDepth levels.
	Path []int
	X, Y float64
}

// Bounds of a ScrollPosition, because it comes from the page.
const (
	MaxScrolledBoxes = 4
	MaxScrolledDepth = 64
	MaxScroll        = 1 << 30
)

// Valid reports whether a position is within the bounds.
func (p ScrollPosition) Valid() bool {
	ok := bounded(p.X) && bounded(p.Y) && len(p.Boxes) <= MaxScrolledBoxes
	for _, b := range p.Boxes {
		ok = ok && bounded(b.X) && bounded(b.Y) && len(b.Path) <= MaxScrolledDepth
		for _, i := range b.Path {
			ok = ok && i >= 0 && i < MaxScroll
		}
	}
	return ok
}

// bounded also returns false for NaN.
func bounded(v float64) bool { return v >= -MaxScroll && v <= MaxScroll }

// Scroller reads and sets the scroll position of a page.
type Scroller interface {
	// ScrollPosition returns the scroll position of the main document.
	ScrollPosition(ctx context.Context) (ScrollPosition, error)
	// ScrollTo scrolls the main document to a position. It waits up to limit until the document is large enough. After that it scrolls as
	// far as possible.
	ScrollTo(ctx context.Context, to ScrollPosition, limit time.Duration) error
}
