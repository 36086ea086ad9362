package testenv

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/server"
)

// RestartingConfig configures a daemon whose browsers may die.
type RestartingConfig struct {
	// Browsers holds the configurations of the browsers, which testenv completes. If Remote is set, the daemon attaches to that browser.
	Browsers []browser.Config
	// Patience is how long a browser may be unresponsive. Zero selects the default of a daemon.
	Patience time.Duration
	Tabs     tabpool.Config
	RPC      server.Config
	Logger   *slog.Logger
}

// RestartingDaemon is a daemon that restarts its browsers when they die.
type RestartingDaemon struct {
	*Daemon
	BrowserPool *browserpool.Pool
	// State is the directory for all files of the browsers.
	State string

	mu sync.Mutex
	// newest holds the browser that was started last in each slot.
	newest []*browser.Browser
}

// Newest returns the browser that was started last in a slot.
func (f *RestartingDaemon) Newest(slot int) *browser.Browser {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest[slot]
}

// StartRestartingDaemon starts browsers, the actors and a server on a unix socket. Processes that outlive the test fail it.
func StartRestartingDaemon(t testing.TB, cfg RestartingConfig) *RestartingDaemon {
	t.Helper()
	f := &RestartingDaemon{State: t.TempDir(), newest: make([]*browser.Browser, len(cfg.Browsers))}
	var starters []browserpool.Starter
	for i, one := range cfg.Browsers {
		one.Secondary = i > 0
		if one.Remote == "" {
			one = found(t, one, f.State)
		}
		start := browser.Starter(one)
		starters = append(starters, func(ctx context.Context) (browserpool.Engine, error) {
			b, err := start(ctx)
			if err != nil {
				return nil, err
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.newest[i] = b
			return b, nil
		})
	}
	var err error
	f.BrowserPool, err = browserpool.Start(t.Context(), browserpool.Config{Starters: starters, HangTimeout: cfg.Patience, Logger: cfg.Logger})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, "the browsers", f.State, f.BrowserPool.Close)
	f.Daemon = serve(t, f.BrowserPool, cfg.Tabs, cfg.RPC, func(s *server.Server) {
		f.BrowserPool.OnChange(func(up int) { s.SetReady(up > 0) })
	})
	return f
}
