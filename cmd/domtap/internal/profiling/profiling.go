// Package profiling serves the profiles of package net/http/pprof to the operator. A heap profile contains text of pages, so it is served on
// loopback only, and to requests with the operator's token. The caller puts the handler behind package guard.
package profiling

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Listen listens on the address of --debug, which must be a loopback address.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("invalid --debug %q: not an address such as 127.0.0.1:6060: %w", address, err)
	}
	if !listen.IsLoopback(host) {
		return nil, fmt.Errorf("--debug %s is not a loopback address: profiles are served only to this machine: use 127.0.0.1, and a tunnel from other machines", address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for profiles: %w", err)
	}
	return l, nil
}

// Handler serves the profiles to requests with the token.
func Handler(token string) http.Handler {
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
