package daemon

import (
	"context"
	"sync"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/cmd/domtap/internal/idle"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
)

// closeIdle closes unused tabs and sessions, returns memory to the system while the daemon is idle, and ends the returned context when an
// on-demand daemon has been idle for long. The caller calls stop at the end.
func (cfg Config) closeIdle(ctx context.Context, server *server.Server, pool *tabpool.Pool, all *sessions.Sessions) (until context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { all.CloseIdle(ctx, cfg.Limits.Idle) })
	running.Go(func() { idle.ReleaseMemory(ctx, cfg.Logger) })
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
			if idle.Await(ctx, cfg.Limits.ExitIdle, open, ever) {
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
