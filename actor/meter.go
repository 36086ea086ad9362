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
