package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/server/listen"
)

// profileLimit bounds how long a profile or trace is recorded.
const profileLimit = 2 * time.Minute

// serveDebug serves the profiles of package net/http/pprof on a loopback address until stop is called, which
// waits for the end. A heap profile contains text of pages, so the operator's token is required. Web pages get
// nothing: their requests do not pass the guard, or have no token.
func (cfg Config) serveDebug(ctx context.Context, token string) (stop func(), err error) {
	host, _, err := net.SplitHostPort(cfg.Debug)
	if err != nil {
		return nil, fmt.Errorf("invalid --debug %q: not an address such as 127.0.0.1:6060: %w", cfg.Debug, err)
	}
	if !listen.IsLoopback(host) {
		return nil, fmt.Errorf("--debug %s is not a loopback address: profiles are served only to this machine: use 127.0.0.1, and a tunnel from other machines", cfg.Debug)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Debug)
	if err != nil {
		return nil, fmt.Errorf("listen for profiles: %w", err)
	}
	wall, err := guard.New(guard.Config{Loopback: true, NoPages: true, Logger: cfg.Logger})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler: wall.Wrap(debugHandler(token)), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: profileLimit + 10*time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	cfg.Logger.Info("serving profiles", "address", l.Addr().String())
	end := cfg.serveHTTP("the profiles", l, server)
	return func() {
		cancel()
		end()
	}, nil
}

// debugHandler serves the profiles to requests with the token.
func debugHandler(token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guard.HasToken(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, `send the header "Authorization: Bearer TOKEN" with the token that domtap token prints`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
