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

// FleetConfig sets up a daemon whose browsers may die.
type FleetConfig struct {
	// Browsers says how each is started; testenv completes it. One that has a Remote is attached to.
	Browsers []browser.Config
	// Patience is how long one may be silent; 0: what a daemon has.
	Patience time.Duration
	Tabs     tabpool.Config
	RPC      server.Config
	Logger   *slog.Logger
}

// Fleet is a daemon whose browsers are started again when they die.
type Fleet struct {
	*Daemon
	Fleet *browserpool.Pool
	// State is the directory that all of them keep everything in.
	State string

	mu sync.Mutex
	// newest are the browsers that run or ran last, by slot.
	newest []*browser.Browser
}

// Newest is the browser of a slot that was started last.
func (f *Fleet) Newest(slot int) *browser.Browser {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest[slot]
}

// StartFleet starts browsers, the actors and a server on a unix socket. Processes that outlive the test fail it.
func StartFleet(t testing.TB, cfg FleetConfig) *Fleet {
	t.Helper()
	f := &Fleet{State: t.TempDir(), newest: make([]*browser.Browser, len(cfg.Browsers))}
	var starters []browserpool.Starter
	for i, one := range cfg.Browsers {
		one.Beside = i > 0
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
	f.Fleet, err = browserpool.Start(t.Context(), browserpool.Config{Starters: starters, HangTimeout: cfg.Patience, Logger: cfg.Logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), closeLimit)
		defer cancel()
		if err := f.Fleet.Close(ctx); err != nil {
			t.Errorf("closing the browsers: %v", err)
		}
		if left := Processes(f.State); len(left) > 0 {
			t.Errorf("processes of the browsers are left behind: %q", left)
		}
	})
	f.Daemon = serve(t, f.Fleet, cfg.Tabs, cfg.RPC, func(s *server.Server) {
		f.Fleet.OnChange(func(up int) { s.SetReady(up > 0) })
	})
	return f
}
