package sideeffects

import "sync"

// Answered says which dialog was the last that is gone from the head of its tab, for those who answered one and wait for
// that. The zero value is ready. It is safe for concurrent use.
type Answered struct {
	mu      sync.Mutex
	last    uint64
	changed chan struct{}
}

// Last returns the id of the last dialog, and what is closed when there is a later one.
func (a *Answered) Last() (id uint64, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.last, a.changed
}

// Reach notes that a dialog is gone, and with it all before.
func (a *Answered) Reach(id uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id <= a.last {
		return
	}
	a.last = id
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}
