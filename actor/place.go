package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

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
	place    driver.ScrollPosition
	known    bool
}

// found takes over what a page says of its place.
func (t *Tab) found(w locality) {
	t.located = nil
	if w.known && w.document == t.main {
		t.place = w.place
	}
}
