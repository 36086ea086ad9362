package driver

import (
	"context"
	"time"
)

// ScrollPosition is how far a page is scrolled. The zero value is its beginning.
type ScrollPosition struct {
	// X and Y are those of the document, in CSS pixels.
	X, Y float64
	// Boxes are the elements that scroll by themselves around the middle of the viewport, the innermost first: at most
	// MaxScrolledBoxes.
	Boxes []ScrolledBox
}

// ScrolledBox is how far an element is scrolled.
type ScrolledBox struct {
	// Path leads to the element from the root: which child of each, at most MaxScrolledDepth.
	Path []int
	X, Y float64
}

// Bounds of a ScrollPosition, which comes from the page.
const (
	MaxScrolledBoxes = 4
	MaxScrolledDepth = 64
	MaxScroll        = 1 << 30
)

// Valid reports whether a place is within its bounds.
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

// bounded is false for what is not a number, too.
func bounded(v float64) bool { return v >= -MaxScroll && v <= MaxScroll }

// Scroller knows how far a page is scrolled.
type Scroller interface {
	// ScrollPosition asks the main document.
	ScrollPosition(ctx context.Context) (ScrollPosition, error)
	// ScrollTo scrolls the main document to a position, as soon as it is large enough for that, for which it waits at most
	// for limit; then it goes as far as there is.
	ScrollTo(ctx context.Context, to ScrollPosition, limit time.Duration) error
}
