package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/domtap/domtap/internal/gateway/guard"
)

// Calls is the server whose calls are served. server.Server implements it.
type Calls interface {
	// Register registers the services.
	Register(grpc.ServiceRegistrar)
	// Interceptors returns the interceptors of every call, outermost first.
	Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor)
	// Stats returns the handler of connection and call events.
	Stats() stats.Handler
	// Authorize returns an error unless the peer and the metadata in the context identify a caller with access.
	Authorize(context.Context) error
}

// Config sets up a Server.
type Config struct {
	// Listener accepts the connections. The Server closes it.
	Listener net.Listener
	// TLS reports that the listener's connections are encrypted.
	TLS bool
	// Hosts lists the names, besides localhost and IP addresses, by which clients may address this server.
	Hosts []string
	// Origins lists the other origins whose pages may call, such as "https://app.example".
	Origins []string
	// Page is served on every path that is not a call. If nil, there is no page until SetPage sets one.
	Page http.Handler
	// Methods lists the methods to serve, such as "TabService/ListTabs". If empty, all methods are served.
	Methods []string
	// SendTimeout limits how long a client may leave an answer unread. Zero means 45 s. That is longer than the timeout of package server
	// for readers of streams, so that these receive the server's error.
	SendTimeout time.Duration
	// MaxRequest and MaxAnswer are the maximum sizes of messages in bytes. Zero means 12 MiB and 64 MiB.
	MaxRequest, MaxAnswer int
	// Logger receives requests that are refused before they become calls. If nil, nothing is logged.
	Logger *slog.Logger
}

const (
	headerTimeout = 5 * time.Second
	// bodyTimeout limits how long a request may take to arrive.
	bodyTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
	maxHeader   = 32 << 10
	// sendBuffer limits the kernel's buffer for a client that does not read.
	sendBuffer = 256 << 10
)

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.SendTimeout == 0 {
		c.SendTimeout = 45 * time.Second
	}
	if c.MaxRequest == 0 {
		c.MaxRequest = 12 << 20
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = 64 << 20
	}
	return c
}

// Server serves calls over HTTP.
type Server struct {
	cfg   Config
	calls Calls
	http  *http.Server
	// page is served on paths that are not calls.
	page atomic.Pointer[http.Handler]
	// running counts the running requests.
	running sync.WaitGroup
	// connections maps each open connection to its context.
	connections sync.Map
}

// New returns a server. It accepts no connections before Serve.
func New(calls Calls, cfg Config) (*Server, error) {
	if calls == nil || cfg.Listener == nil {
		return nil, errors.New("a web server needs calls to serve and a listener")
	}
	cfg = cfg.withDefaults()
	wall, err := guard.New(guard.Config{TLS: cfg.TLS, Hosts: cfg.Hosts, Origins: cfg.Origins, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, calls: calls}
	s.SetPage(cfg.Page)
	s.http = &http.Server{
		Handler:           s.counted(wall.Wrap(s.routes())),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       s.connected,
		ConnState:         s.stateChanged,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// routes returns a handler that routes calls to their services and other requests to the page.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	services := &services{server: s, mux: mux, stats: s.calls.Stats()}
	services.unary, services.stream = s.calls.Interceptors()
	s.calls.Register(services)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*s.page.Load()).ServeHTTP(w, r) })
	return mux
}

// SetPage replaces the page. If page is nil, no page is served.
func (s *Server) SetPage(page http.Handler) {
	if page == nil {
		page = http.HandlerFunc(servePageMissing)
	}
	s.page.Store(&page)
}

func servePageMissing(w http.ResponseWriter, _ *http.Request) {
	guard.Refuse(w, http.StatusNotFound, "not_found", "unknown path: make calls, such as POST /domtap.v1.TabService/ListTabs; "+
		"the command domtap ui lets the daemon serve its live page")
}

// Serve serves until Stop is called.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.cfg.Listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Stop accepts no more requests. Requests in flight may finish until ctx ends; then Stop aborts them. It returns when no request is left.
func (s *Server) Stop(ctx context.Context) {
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // aborts the remaining requests
	}
	_ = s.cfg.Listener.Close() // a no-op if Serve has closed it
	s.running.Wait()
}

// counted counts running requests, so that Stop can wait for them, including aborted ones.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		next.ServeHTTP(w, r)
	})
}

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// connected is called for a connection before its first request.
func (s *Server) connected(ctx context.Context, c net.Conn) context.Context {
	bound(c)
	ctx = s.calls.Stats().TagConn(ctx, &stats.ConnTagInfo{RemoteAddr: c.RemoteAddr(), LocalAddr: c.LocalAddr()})
	s.connections.Store(c, ctx)
	s.calls.Stats().HandleConn(ctx, new(stats.ConnBegin))
	return context.WithValue(ctx, connectionKey{}, c)
}

// bound limits the kernel's buffer for unread answers.
func bound(c net.Conn) {
	for { // unwrap TLS and preauth
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = wrapped.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // on failure, the kernel's default limit applies
	}
}

// stateChanged is called at the end of a connection.
func (s *Server) stateChanged(c net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if ctx, ok := s.connections.LoadAndDelete(c); ok {
		s.calls.Stats().HandleConn(ctx.(context.Context), new(stats.ConnEnd))
	}
}
