package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
)

// closeIdle closes tabs and sessions that are not used, gives memory back while the daemon is idle, and ends the
// returned context when a daemon on demand was idle for long. The caller calls stop at the end.
func (cfg Config) closeIdle(ctx context.Context, server *server.Server, pool *tabpool.Pool, all *sessions.Sessions) (until context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { all.CloseIdle(ctx, cfg.Limits.Idle) })
	running.Go(func() { newFootprint(cfg.Logger).keep(ctx) })
	if cfg.OnDemand && cfg.Limits.ExitIdle > 0 {
		open := func() int {
			_, connections := server.Connections()
			return int(connections) + len(pool.Tabs()) + len(all.List()) - 1 // the default session always exists
		}
		ever := func() uint64 {
			n, _ := server.Connections()
			return n
		}
		running.Go(func() {
			if awaitIdle(ctx, cfg.Limits.ExitIdle, open, ever) {
				cfg.Logger.Info("the daemon was idle and exits; the next command starts another", "idle", cfg.Limits.ExitIdle)
				cancel()
			}
		})
	}
	return ctx, func() {
		cancel()
		running.Wait()
	}
}

// idlePolls is how often the daemon polls whether it is idle, within the time after which it exits.
const idlePolls = 30

// awaitIdle returns true once nothing was open for the time idle: no connection, not even a short one, no tab and
// no session. It returns false when ctx ends. open counts what is open, and ever counts connections since the
// start.
//
// Closing the last tab means that the work is done, like closing the last private window of a browser: the storage
// of the default session is lost then, unless there is a profile. An open tab or a created session is work that
// must not be lost: such a daemon stays.
func awaitIdle(ctx context.Context, idle time.Duration, open func() int, ever func() uint64) bool {
	tick := time.NewTicker(max(idle/idlePolls, time.Millisecond))
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
