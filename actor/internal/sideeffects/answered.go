package sideeffects

import "sync"

// Answered tracks the last dialog that the tab's head no longer contains, so that callers that answered a dialog can wait for that. The
// zero value is ready to use. It is safe for concurrent use.
type Answered struct {
	mu      sync.Mutex
	last    uint64
	changed chan struct{}
}

// Last returns the ID of the last dialog, and a channel that is closed when there is a later one.
func (a *Answered) Last() (id uint64, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.last, a.changed
}

// Reach records that the head no longer contains a dialog or any dialog before it.
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
