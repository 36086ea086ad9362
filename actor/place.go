package actor

import (
	"context"
	"time"
)

// Place is how far a page is scrolled. The zero value is its beginning.
type Place struct {
	// X and Y are those of the document, in CSS pixels.
	X, Y float64
	// Boxes are the elements that scroll by themselves around the middle of the viewport, the innermost first: at most
	// MaxPlaceBoxes.
	Boxes []PlaceBox
}

// PlaceBox is how far an element is scrolled.
type PlaceBox struct {
	// Path leads to the element from the root: which child of each, at most MaxPlaceDepth.
	Path []int
	X, Y float64
}

// Bounds of a Place, which comes from the page.
const (
	MaxPlaceBoxes = 4
	MaxPlaceDepth = 64
	MaxPlace      = 1 << 30
)

// Valid reports whether a place is within its bounds.
func (p Place) Valid() bool {
	ok := bounded(p.X) && bounded(p.Y) && len(p.Boxes) <= MaxPlaceBoxes
	for _, b := range p.Boxes {
		ok = ok && bounded(b.X) && bounded(b.Y) && len(b.Path) <= MaxPlaceDepth
		for _, i := range b.Path {
			ok = ok && i >= 0 && i < MaxPlace
		}
	}
	return ok
}

// bounded is false for what is no number, too.
func bounded(v float64) bool { return v >= -MaxPlace && v <= MaxPlace }

// Placer knows how far a page is scrolled.
type Placer interface {
	// Place asks the main document.
	Place(ctx context.Context) (Place, error)
	// Return scrolls the main document to a place, as soon as it is large enough for that, for which it waits at most
	// for limit; then it goes as far as there is.
	Return(ctx context.Context, to Place, limit time.Duration) error
}

const (
	// placeLimit bounds asking for the place. A page that takes longer is asked again after the next call.
	placeLimit = time.Second
	// returnLimit is how long a page that is brought back may take to be large enough for its place.
	returnLimit = 3 * time.Second
)

// locate asks where the page is scrolled to, beside everything else, so that the tab knows when the page is gone. Nobody
// waits for the answer.
func (t *Tab) locate() {
	if !t.restore.Load() || t.located != nil || t.crashed || t.unresponsive || t.info.Dialog != nil || t.back.away() || t.ctx.Err() != nil {
		return
	}
	located := make(chan locality, 1)
	t.located = located
	page, document := t.page(), t.main
	t.children.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, placeLimit)
		defer cancel()
		place, err := page.Place(ctx)
		located <- locality{document, place, err == nil && place.Valid()}
	})
}

// locality is where a document is scrolled to, if it said so.
type locality struct {
	document string
	place    Place
	known    bool
}

// found takes over what a page says of its place.
func (t *Tab) found(w locality) {
	t.located = nil
	if w.known && w.document == t.main {
		t.place = w.place
	}
}
