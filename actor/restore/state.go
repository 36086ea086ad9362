package restore

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Record is the data needed to restore a tab in another process.
type Record struct {
	ID, Session, URL string
	Place            driver.ScrollPosition
	// Viewport is the viewport that the tab was opened with.
	Viewport dom.Box
	// Refs is greater than all refs that the tab has assigned.
	Refs dom.Ref
	// Restarts counts the processes that have restored the tab since it was last stable for Window.
	Restarts int
}

// equal reports whether two Records are equal.
func (k Record) equal(o Record) bool {
	return k.ID == o.ID && k.Session == o.Session && k.URL == o.URL && k.Viewport == o.Viewport && k.Refs == o.Refs && k.Restarts == o.Restarts &&
		k.Place.X == o.Place.X && k.Place.Y == o.Place.Y && slices.EqualFunc(k.Place.Boxes, o.Place.Boxes, func(a, b driver.ScrolledBox) bool {
		return a.X == b.X && a.Y == b.Y && slices.Equal(a.Path, b.Path)
	})
}

// refBlock is the number of refs that are reserved together in a Record.
const refBlock = 1 << 16

// reserve returns a number that refs starting at next will not reach soon.
func reserve(next dom.Ref) dom.Ref {
	return dom.Ref(min(uint64(next)/refBlock*refBlock+2*refBlock, uint64(dom.NoRef)-1))
}

// View is the part of a tab's state that is needed to show it again.
type View struct {
	URL, Title string
	Place      driver.ScrollPosition
}

// State tracks the restoring of a tab after it lost its page. It belongs to the tab's goroutine, except for Away, Generation and Current,
// which are safe for concurrent use. The zero value is the state of a tab that has not lost its page.
//
// A tab loses its page (Lost), gets a page (Next, Fetched) and returns (End). Another loss may end each step. Calls carry the generation in
// which they were made, so that no call reaches the page of another generation.
type State struct {
	// generation is odd while the tab is away. It increases with each loss and each return.
	generation atomic.Uint64
	budget     Budget
	// due reports that an attempt has to start. free reports that it belongs to the previous attempt and is not counted again. fetching
	// reports that an attempt is in progress.
	due, free, fetching bool
	// gone reports whether the browser has released the page.
	gone bool
	// shown is the state of the tab when it lost its page, and reason the cause of the loss. why is the reason why restoring failed.
	shown       View
	reason, why string
	// place is the last known scroll position of the main document.
	place driver.ScrollPosition
	// saved is the last saved Record. resumed is when the tab was taken over from another process, if it was.
	saved   Record
	resumed time.Time
}

// Away reports whether the tab has lost its page and is being restored.
func (s *State) Away() bool { return s.generation.Load()%2 == 1 }

// Generation returns the generation of the tab's current page.
func (s *State) Generation() uint64 { return s.generation.Load() }

// Current reports whether a generation is the generation of the tab's current page.
func (s *State) Current(generation uint64) bool {
	return generation%2 == 0 && s.generation.Load() == generation
}

// Lost records the loss of the page, with the view that the tab showed. If the tab is already away, the earlier view is kept.
func (s *State) Lost(now View, reason string) {
	if !s.Away() {
		s.shown = now
		s.generation.Add(1)
	}
	s.due, s.reason = true, reason
}

// PageGone records that the browser has released the page, so that the tab needs another one.
func (s *State) PageGone() { s.gone = true }

// Gone reports whether the browser has released the page.
func (s *State) Gone() bool { return s.gone }

// Attach records that the tab has another page.
func (s *State) Attach() { s.gone = false }

// Attempt is the result of Next.
type Attempt uint8

// The attempts.
const (
	// NotNow means that nothing is due.
	NotNow Attempt = iota
	// Fetch means to wait, then to open a page if the old one is gone, and to call Fetched.
	Fetch
	// GiveUp means that the tab lost its page too often.
	GiveUp
)

// Next returns what to do next, and how long to wait first.
func (s *State) Next(now time.Time) (Attempt, time.Duration) {
	if !s.due || s.fetching {
		return NotNow, 0
	}
	var wait time.Duration
	if !s.free {
		var ok bool
		if wait, ok = s.budget.Take(now); !ok {
			return GiveUp, 0
		}
	}
	s.due, s.free, s.fetching = false, false, true
	return Fetch, wait
}

// Fetched records that fetching has ended. It returns true if the tab has a page now. Otherwise another attempt is due, which is not
// counted again.
func (s *State) Fetched(page bool) (enough bool) {
	s.fetching = false
	if page || !s.gone {
		return true
	}
	s.due, s.free = true, true
	return false
}

// Again records that the return failed and must be repeated.
func (s *State) Again() { s.due = true }

// Due reports whether the page was lost again since the attempt started.
func (s *State) Due() bool { return s.due }

// End ends the return. Why is the reason why restoring failed, or empty.
func (s *State) End(why string) {
	s.due, s.why = false, why
	s.generation.Add(1)
}

// Why returns the reason why restoring failed. It is empty otherwise.
func (s *State) Why() string { return s.why }

// Reason returns the reason for the loss of the page.
func (s *State) Reason() string { return s.reason }

// Shown returns what the tab showed when it lost its page.
func (s *State) Shown() View { return s.shown }

// Adopt records that the page shows another main document.
func (s *State) Adopt() { s.place, s.why = driver.ScrollPosition{}, "" }

// Place returns the scroll position of the main document.
func (s *State) Place() driver.ScrollPosition { return s.place }

// Scrolled sets the scroll position of the main document.
func (s *State) Scrolled(to driver.ScrollPosition) { s.place = to }

// Saved reports whether a Record of the tab is saved.
func (s *State) Saved() bool { return s.saved.ID != "" }

// Forget records that no Record is saved any more.
func (s *State) Forget() { s.saved = Record{} }

// Save returns the Record to save for a tab whose next ref is next, and whether it differs from the last saved one. It fills in the place,
// refs and restarts of k.
func (s *State) Save(k Record, next dom.Ref, now time.Time) (saved Record, changed bool) {
	k.Place, k.Refs, k.Restarts = s.place, s.saved.Refs, s.saved.Restarts
	if !s.resumed.IsZero() && now.Sub(s.resumed) >= Window {
		k.Restarts = 0 // the tab is stable
	}
	if uint64(k.Refs) < uint64(next)+refBlock/2 {
		k.Refs = reserve(next)
	}
	if k.equal(s.saved) {
		return k, false
	}
	s.saved = k
	return k, true
}

// Resume initializes the state from the Record of another process, and returns the Record to save now.
func (s *State) Resume(k Record, reason string, now time.Time) Record {
	s.gone = true
	s.Lost(View{URL: k.URL, Place: k.Place}, reason)
	k.Refs, k.Restarts = reserve(k.Refs), k.Restarts+1
	s.saved, s.resumed = k, now
	return k
}
