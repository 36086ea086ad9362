package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

const (
	// placeLimit bounds asking for the scroll position. A page that takes longer is asked again after the next call.
	placeLimit = time.Second
	// returnLimit is how long a page that is brought back may take to be large enough for its scroll position.
	returnLimit = 3 * time.Second
)

// scroller asks how far the page is scrolled, beside everything else, so that the tab knows when the page is lost.
type scroller struct {
	t *loop
	// results delivers the answer; nil when the page was not asked.
	results chan scrolled
}

// scrolled is how far a document is scrolled, if it said so.
type scrolled struct {
	document string
	to       driver.ScrollPosition
	known    bool
}

// ask asks. Nobody waits for the answer.
func (s *scroller) ask() {
	t := s.t
	if !t.restorable.Load() || s.results != nil || t.health.Crashed() || t.health.Unresponsive() || t.dialogs.Open() != nil || t.recovery.Away() || t.ctx.Err() != nil {
		return
	}
	results := make(chan scrolled, 1)
	s.results = results
	page, document := t.page(), t.nav.Main()
	t.children.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, placeLimit)
		defer cancel()
		to, err := page.ScrollPosition(ctx)
		results <- scrolled{document, to, err == nil && to.Valid()}
	})
}

// take takes the answer.
func (s *scroller) take(w scrolled) {
	s.results = nil
	if w.known && w.document == s.t.nav.Main() {
		s.t.recovery.Scrolled(w.to)
	}
}
