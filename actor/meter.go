package actor

import "time"

// Meter takes what tabs do, to be counted. Its methods are called from many goroutines and must not wait.
type Meter interface {
	// Published says that a tab has published a revision.
	Published()
	// Busy says how long a tab's goroutine took for one event or one call, waiting for its page included.
	Busy(d time.Duration)
	// Refused says that something was left out because of a limit. There are few limits.
	Refused(limit string)
	// PageAgent says how long the page's main thread was taken to find and write changes, as the page says.
	PageAgent(d time.Duration)
}

// maxPageAgent bounds what one patch may say of itself: a page may lie.
const maxPageAgent = 10 * time.Second

// wake notes when the tab's goroutine has something to do, unless it is in the middle of something.
func (t *Tab) wake(idle bool) {
	if idle && t.meter != nil {
		t.woke = time.Now()
	}
}

// sleep says how long the goroutine was busy since it woke.
func (t *Tab) sleep() {
	if t.meter != nil && !t.woke.IsZero() {
		t.meter.Busy(time.Since(t.woke))
		t.woke = time.Time{}
	}
}

// LogBytes is what the log of earlier snapshots counts against its bound.
func (h *Head) LogBytes() int { return h.log.Bytes() }
