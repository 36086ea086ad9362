package mcp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/gateway/guard"
)

// Path is the URL path at which Handler serves the protocol.
const Path = "/mcp"

const (
	// idle ends sessions that send nothing for that long. Their hosts start new ones.
	idle = 2 * time.Hour
	// largest is the maximum size of a request in bytes.
	largest = 8 << 20
)

// Handler serves sessions over streamable HTTP at Path. Requests need the bearer token. Requests whose Host is not this machine (DNS
// rebinding) or whose Origin is another web page are refused even with a token.
func (s *Server) Handler(token string) http.Handler {
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
		Logger: s.options.Logger, SessionTimeout: idle, MaxRequestBodyBytes: largest,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, protocol)
	return s.admit(token, mux)
}

// admit checks requests as described at Handler.
func (s *Server) admit(token string, next http.Handler) http.Handler {
	protection, err := guard.New(guard.Config{Loopback: true, NoPages: true, Logger: s.options.Logger})
	if err != nil { // cannot happen: no origins are configured
		return http.NotFoundHandler()
	}
	return protection.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guard.HasToken(r, token) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="domtap"`)
			http.Error(w, "send the header Authorization: Bearer TOKEN; domtap token prints the token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// ServeHTTPOn serves Handler on a listener until ctx ends.
func (s *Server) ServeHTTPOn(ctx context.Context, l net.Listener, token string) error {
	server := &http.Server{
		Handler: s.Handler(token), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // otherwise the streams of sessions would never end
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
