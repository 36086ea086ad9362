package sideeffects

import (
	"slices"
	"sync/atomic"
)

const (
	// MaxTabs limits how many tabs that a page opened are remembered.
	MaxTabs = 16
	// MaxWindows limits how many windows a page may open by one action or navigation. Further windows are closed immediately.
	MaxWindows = 10
)

// Popups holds the tabs that a page opened since Reset, in order. The zero value has none.
type Popups struct{ tabs []string }

// Add records a tab that the page has opened.
func (s *Popups) Add(id string) {
	if len(s.tabs) < MaxTabs {
		s.tabs = append(s.tabs, id)
	}
}

// Keep removes the tabs for which alive returns false.
func (s *Popups) Keep(alive func(id string) bool) {
	s.tabs = slices.DeleteFunc(s.tabs, func(id string) bool { return !alive(id) })
}

// Since returns the tabs after the first count ones. The result must not be modified.
func (s *Popups) Since(count int) []string { return s.tabs[min(count, len(s.tabs)):] }

// Len returns the number of tabs.
func (s *Popups) Len() int { return len(s.tabs) }

// Reset removes all tabs.
func (s *Popups) Reset() { s.tabs = nil }

// PopupBudget counts the windows that a page opens. It is safe for concurrent use: the pool counts, and the tab reports.
type PopupBudget struct{ opened, refused atomic.Int32 }

// Admits counts a window and reports whether the page may open it.
func (b *PopupBudget) Admits() bool { return b.opened.Add(1) <= MaxWindows }

// Refused counts a window that was closed immediately.
func (b *PopupBudget) Refused() { b.refused.Add(1) }

// TakeRefused returns how many windows were closed immediately since the last call.
func (b *PopupBudget) TakeRefused() int { return int(b.refused.Swap(0)) }

// Reset restarts the count.
func (b *PopupBudget) Reset() {
	b.opened.Store(0)
	b.refused.Store(0)
}
