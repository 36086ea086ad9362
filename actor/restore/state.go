package restore

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Record is what is needed to bring a tab back in another process.
type Record struct {
	ID, Session, URL string
	Place            driver.ScrollPosition
	// Viewport is what the tab was opened with.
	Viewport dom.Box
	// Refs is a number that no ref of the tab has reached yet.
	Refs dom.Ref
	// Restarts counts the processes that have brought the tab back without its being well for Window since.
	Restarts int
}

// equal reports whether two keep the same.
func (k Record) equal(o Record) bool {
	return k.ID == o.ID && k.Session == o.Session && k.URL == o.URL && k.Viewport == o.Viewport && k.Refs == o.Refs && k.Restarts == o.Restarts &&
		k.Place.X == o.Place.X && k.Place.Y == o.Place.Y && slices.EqualFunc(k.Place.Boxes, o.Place.Boxes, func(a, b driver.ScrolledBox) bool {
		return a.X == b.X && a.Y == b.Y && slices.Equal(a.Path, b.Path)
	})
}

// refBlock is how many refs are reserved at once in a Record.
const refBlock = 1 << 16

// reserve returns a number that refs from next on do not reach so soon.
func reserve(next dom.Ref) dom.Ref {
	return dom.Ref(min(uint64(next)/refBlock*refBlock+2*refBlock, uint64(dom.NoRef)-1))
}

// View is what a tab shows, as far as it is needed to show it again.
type View struct {
	URL, Title string
	Place      driver.ScrollPosition
}

// State is what a tab needs to come back after it lost its page. It belongs to the tab's goroutine, but for Away, Generation and
// Current, which are safe for concurrent use. The zero value is a tab that has its page.
//
// A tab falls (Lost), gets a page (Next, Fetched) and returns (End); each step may be ended by the next loss. Calls carry the generation
// that they were made in, so that none reaches the page of another one.
type State struct {
	// generation is odd while the tab is away; it grows with each departure and each return.
	generation atomic.Uint64
	budget     Budget
	// due says that a new attempt is to begin; free, that it is part of the last one; fetching, that one is under way.
	due, free, fetching bool
	// gone says that the browser has let go of the page.
	gone bool
	// shown is what the tab showed when it lost its page, reason is why, and why says what keeps a tab that was to be brought back
	// from being of use.
	shown       View
	reason, why string
	// place is how far the main document is scrolled, as far as that is known.
	place driver.ScrollPosition
	// saved is what was saved last; resumed is when the tab was taken over from another process, if it was.
	saved   Record
	resumed time.Time
}

// Away reports whether the tab is without its page, and comes back.
func (s *State) Away() bool { return s.generation.Load()%2 == 1 }

// Generation is that of the tab's page now.
func (s *State) Generation() uint64 { return s.generation.Load() }

// Current reports whether a generation is that of the page that the tab has now.
func (s *State) Current(generation uint64) bool {
	return generation%2 == 0 && s.generation.Load() == generation
}

// Lost says that the page is lost, while the tab shows a view. A tab that is away already keeps what it showed before.
func (s *State) Lost(now View, reason string) {
	if !s.Away() {
		s.shown = now
		s.generation.Add(1)
	}
	s.due, s.reason = true, reason
}

// PageGone says that the browser has let go of the page: another one is needed.
func (s *State) PageGone() { s.gone = true }

// Gone reports whether it has.
func (s *State) Gone() bool { return s.gone }

// Attach begins with another page.
func (s *State) Attach() { s.gone = false }

// Attempt is what Next asks for.
type Attempt uint8

// The attempts.
const (
	// NotNow: nothing is due.
	NotNow Attempt = iota
	// Fetch: wait, then get a page if the old one is gone, and call Fetched.
	Fetch
	// GiveUp: the tab lost its page too often.
	GiveUp
)

// Next says what is to be done, and how long to wait before.
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

// Fetched says that fetching is over; enough says that the tab has a page now. Otherwise another attempt, which is part of this one, is due.
func (s *State) Fetched(page bool) (enough bool) {
	s.fetching = false
	if page || !s.gone {
		return true
	}
	s.due, s.free = true, true
	return false
}

// Again says that the return failed, and is to begin anew.
func (s *State) Again() { s.due = true }

// Due reports whether the page was lost again since the attempt began.
func (s *State) Due() bool { return s.due }

// End ends the return. Why, unless it is empty, keeps the tab from being of use.
func (s *State) End(why string) {
	s.due, s.why = false, why
	s.generation.Add(1)
}

// Why says what keeps a tab that was to be brought back from being of use; empty otherwise.
func (s *State) Why() string { return s.why }

// Reason is why the page was lost.
func (s *State) Reason() string { return s.reason }

// Shown is what the tab showed when it lost its page.
func (s *State) Shown() View { return s.shown }

// Adopt says that the page shows another main document.
func (s *State) Adopt() { s.place, s.why = driver.ScrollPosition{}, "" }

// Place is how far the main document is scrolled.
func (s *State) Place() driver.ScrollPosition { return s.place }

// Scrolled says how far the main document is scrolled.
func (s *State) Scrolled(to driver.ScrollPosition) { s.place = to }

// Saved reports whether a Record of the tab is saved.
func (s *State) Saved() bool { return s.saved.ID != "" }

// Forget says that nothing is saved any more.
func (s *State) Forget() { s.saved = Record{} }

// Save makes what is to be saved of a tab whose next ref is next; changed says that it is something else than before. Of k, the
// place, refs and restarts are filled in.
func (s *State) Save(k Record, next dom.Ref, now time.Time) (saved Record, changed bool) {
	k.Place, k.Refs, k.Restarts = s.place, s.saved.Refs, s.saved.Restarts
	if !s.resumed.IsZero() && now.Sub(s.resumed) >= Window {
		k.Restarts = 0 // it is well
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

// Resume makes the state that of a tab from the Record of another process, and returns the Record to save now.
func (s *State) Resume(k Record, reason string, now time.Time) Record {
	s.gone = true
	s.Lost(View{URL: k.URL, Place: k.Place}, reason)
	k.Refs, k.Restarts = reserve(k.Refs), k.Restarts+1
	s.saved, s.resumed = k, now
	return k
}
