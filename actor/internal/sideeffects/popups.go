package sideeffects

import (
	"slices"
	"sync/atomic"
)

const (
	// MaxTabs is how many tabs that a page opens are remembered at once.
	MaxTabs = 16
	// MaxWindows is how many windows a page may open by one action or navigation. What more it opens is closed at once.
	MaxWindows = 10
)

// Popups are the tabs that a page opened since Reset, in order. The zero value has none.
type Popups struct{ tabs []string }

// Add notes a tab that the page has opened.
func (s *Popups) Add(id string) {
	if len(s.tabs) < MaxTabs {
		s.tabs = append(s.tabs, id)
	}
}

// Keep drops the tabs for which alive does not hold.
func (s *Popups) Keep(alive func(id string) bool) {
	s.tabs = slices.DeleteFunc(s.tabs, func(id string) bool { return !alive(id) })
}

// Since returns the tabs that were opened after there were so many. It is not to be written to.
func (s *Popups) Since(count int) []string { return s.tabs[min(count, len(s.tabs)):] }

// Len is how many tabs there are.
func (s *Popups) Len() int { return len(s.tabs) }

// Reset forgets all.
func (s *Popups) Reset() { s.tabs = nil }

// PopupBudget counts the windows that a page opens. It is safe for concurrent use: the pool counts, the tab reports.
type PopupBudget struct{ opened, refused atomic.Int32 }

// Admits counts one more window, and reports whether the page may open it.
func (b *PopupBudget) Admits() bool { return b.opened.Add(1) <= MaxWindows }

// Refused counts a window that was closed at once.
func (b *PopupBudget) Refused() { b.refused.Add(1) }

// TakeRefused returns how many were closed at once since the last call.
func (b *PopupBudget) TakeRefused() int { return int(b.refused.Swap(0)) }

// Reset begins to count anew.
func (b *PopupBudget) Reset() {
	b.opened.Store(0)
	b.refused.Store(0)
}
