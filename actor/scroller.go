package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

const (
	// placeLimit bounds a query of the scroll position. A page that takes longer is queried again after the next call.
	placeLimit = time.Second
	// returnLimit bounds how long a restored page may take to become large enough for its scroll position.
	returnLimit = 3 * time.Second
)

// scroller queries the page's scroll position concurrently with the loop, so that the tab knows it when the page is lost.
type scroller struct {
	t *loop
	// results delivers the answer; it is nil when no query runs.
	results chan scrolled
}

// scrolled is the scroll position of a document, if known.
type scrolled struct {
	document string
	to       driver.ScrollPosition
	known    bool
}

// ask starts a query. No call waits for the answer.
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

// take handles the answer.
func (s *scroller) take(w scrolled) {
	s.results = nil
	if w.known && w.document == s.t.nav.Main() {
		s.t.recovery.Scrolled(w.to)
	}
}
