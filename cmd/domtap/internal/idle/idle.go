// Package idle says when a daemon is idle, and gives memory back meanwhile. It knows neither tabs nor sessions: the caller says what is open.
//
// Its functions return when their context ends. The caller runs them in goroutines of its own and waits for these.
package idle

import (
	"context"
	"time"
)

// polls is how often Await looks whether the daemon is idle, within the time after which it is.
const polls = 30

// Await returns true once nothing was open for the time idle: no connection, not even a short one, no tab and
// no session. It returns false when ctx ends. open counts what is open, and ever counts connections since the
// start.
//
// Closing the last tab means that the work is done, like closing the last private window of a browser: the storage
// of the default session is lost then, unless there is a profile. An open tab or a created session is work that
// must not be lost: such a daemon stays.
func Await(ctx context.Context, idle time.Duration, open func() int, ever func() uint64) bool {
	tick := time.NewTicker(max(idle/polls, time.Millisecond))
	defer tick.Stop()
	since, seen := time.Now(), ever()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if n := ever(); open() > 0 || n != seen {
			since, seen = time.Now(), n
		} else if time.Since(since) >= idle {
			return true
		}
	}
}
