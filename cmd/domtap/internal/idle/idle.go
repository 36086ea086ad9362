// Package idle detects when a daemon is idle, and then returns memory to the system. It knows neither tabs nor sessions: the caller reports
// what is open.
//
// Its functions return when their context ends. The caller runs them in its own goroutines and waits for them.
package idle

import (
	"context"
	"time"
)

// pollsPerIdle is the number of checks that Await makes within its idle time.
const pollsPerIdle = 30

// Await returns true when nothing has been open for the time idle: no connection, not even a short one, no tab and no session. It returns
// false when ctx ends. open returns the number of open items, and total the number of connections since the start.
//
// Closing the last tab means that the work is done, like closing the last private window of a browser. The storage of the default session
// is then lost, unless there is a profile. An open tab or a created session is work that must not be lost, so the daemon stays.
func Await(ctx context.Context, idle time.Duration, open func() int, total func() uint64) bool {
	tick := time.NewTicker(max(idle/pollsPerIdle, time.Millisecond))
	defer tick.Stop()
	since, seen := time.Now(), total()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		if n := total(); open() > 0 || n != seen {
			since, seen = time.Now(), n
		} else if time.Since(since) >= idle {
			return true
		}
	}
}
