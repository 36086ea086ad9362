package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
)

// tidy closes tabs and sessions that nobody uses, and ends the returned context when the daemon itself is idle and was started on demand.
// The caller owes a call of stop.
func (cfg Config) tidy(ctx context.Context, server *server.Server, pool *actor.Pool, all *sessions.Sessions) (until context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { all.CloseIdle(ctx, cfg.Limits.Idle) })
	if cfg.OnDemand && cfg.Limits.ExitIdle > 0 {
		open := func() int {
			_, connections := server.Connections()
			return int(connections) + len(pool.Tabs()) + len(all.List()) - 1 // the default session is there always
		}
		ever := func() uint64 {
			n, _ := server.Connections()
			return n
		}
		running.Go(func() {
			if awaitIdle(ctx, cfg.Limits.ExitIdle, open, ever) {
				cfg.Logger.Info("nothing was open for so long that the daemon ends; the next command starts another", "idle", cfg.Limits.ExitIdle)
				cancel()
			}
		})
	}
	return ctx, func() {
		cancel()
		running.Wait()
	}
}

// looks is how often it is looked whether the daemon is idle, within the time after which it ends.
const looks = 30

// awaitIdle returns true when for so long nothing was open: no connection, also none that came and went, no tab and no session. It returns
// false when ctx ends. What is open is counted by open; ever counts connections since the start.
//
// Closing the last tab says that the work is done, as closing the last private window of a browser does: what the default session has
// stored is forgotten then, unless there is a profile. An open tab, and a session that somebody made, is work that nobody may lose without
// having asked for it: such a daemon stays.
func awaitIdle(ctx context.Context, idle time.Duration, open func() int, ever func() uint64) bool {
	tick := time.NewTicker(max(idle/looks, time.Millisecond))
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
