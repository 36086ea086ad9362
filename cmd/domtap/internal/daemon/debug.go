package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/domtap/domtap/cmd/domtap/internal/profiling"
	"github.com/domtap/domtap/internal/gateway/guard"
)

// profileLimit limits how long a profile or trace is recorded.
const profileLimit = 2 * time.Minute

// serveDebug serves the profiles of package net/http/pprof on a loopback address until stop is called. stop waits until the server has
// ended. A heap profile contains text of pages, so the operator's token is required. Web pages have no access: the guard rejects their
// requests, or the token is missing.
func (cfg Config) serveDebug(ctx context.Context, token string) (stop func(), err error) {
	l, err := profiling.Listen(ctx, cfg.Debug)
	if err != nil {
		return nil, err
	}
	wall, err := guard.New(guard.Config{Loopback: true, NoPages: true, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler: wall.Wrap(profiling.Handler(token)), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: profileLimit + 10*time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	cfg.Logger.Info("serving profiles", "address", l.Addr().String())
	end := cfg.serveHTTP("the profiles", l, server)
	return func() {
		cancel()
		end()
	}, nil
}
