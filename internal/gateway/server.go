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

// Calls is the server whose calls are served; server.Server implements it.
type Calls interface {
	// Register registers the services.
	Register(grpc.ServiceRegistrar)
	// Interceptors are what every call passes, outermost first.
	Interceptors() ([]grpc.UnaryServerInterceptor, []grpc.StreamServerInterceptor)
	// Stats gets the events of connections and calls.
	Stats() stats.Handler
	// Authorize returns an error unless peer and metadata in the context are those of a caller who may call.
	Authorize(context.Context) error
}

// Config sets up a Server.
type Config struct {
	// Listener accepts the connections. The Server closes it.
	Listener net.Listener
	// TLS says that the listener's connections are encrypted.
	TLS bool
	// Hosts are the names, besides localhost and IP addresses, by which clients may call this server.
	Hosts []string
	// Origins are the other origins whose pages may call, such as "https://app.example".
	Origins []string
	// Page is served on every path that is not a call. Nil: there is none, until SetPage.
	Page http.Handler
	// Methods are the only ones that are served, such as "TabService/ListTabs". Empty: all.
	Methods []string
	// SendTimeout is how long a client may leave an answer unread. 0: 45 s, which is longer than the
	// timeout of package server for readers of streams, so that these get the server's error.
	SendTimeout time.Duration
	// MaxRequest and MaxAnswer are the largest messages in bytes. 0: 12 MiB and 64 MiB.
	MaxRequest, MaxAnswer int
	// Logger gets requests that are refused before they become calls. Nil: no log.
	Logger *slog.Logger
}

const (
	headerTimeout = 5 * time.Second
	// bodyTimeout is how long a request may take to arrive.
	bodyTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
	maxHeader   = 32 << 10
	// sendBuffer bounds what the kernel keeps for a client that does not read.
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

// Server is an HTTP server of the calls.
type Server struct {
	cfg   Config
	calls Calls
	http  *http.Server
	// page is what is served beside the calls.
	page atomic.Pointer[http.Handler]
	// running counts the requests.
	running sync.WaitGroup
	// connections holds the context of each connection that is open.
	connections sync.Map
}

// New makes a server. Nothing is accepted before Serve.
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

// routes sends calls to their service and the rest to the page.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	services := &services{server: s, mux: mux, stats: s.calls.Stats()}
	services.unary, services.stream = s.calls.Interceptors()
	s.calls.Register(services)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*s.page.Load()).ServeHTTP(w, r) })
	return mux
}

// SetPage replaces what is served beside the calls. Nil: nothing is.
func (s *Server) SetPage(page http.Handler) {
	if page == nil {
		page = http.HandlerFunc(noPage)
	}
	s.page.Store(&page)
}

func noPage(w http.ResponseWriter, _ *http.Request) {
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

// Stop accepts no more requests and lets those under way finish until ctx ends; then it aborts the
// rest. It returns when no request is left.
func (s *Server) Stop(ctx context.Context) {
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // cuts what would not end
	}
	_ = s.cfg.Listener.Close() // was done by Serve, if that was called
	s.running.Wait()
}

// counted lets Stop wait for requests, also for aborted ones.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		next.ServeHTTP(w, r)
	})
}

// connectionKey is where the context of a request keeps the address of its client.
type connectionKey struct{}

// connected is called for a connection before its first request.
func (s *Server) connected(ctx context.Context, c net.Conn) context.Context {
	bound(c)
	ctx = s.calls.Stats().TagConn(ctx, &stats.ConnTagInfo{RemoteAddr: c.RemoteAddr(), LocalAddr: c.LocalAddr()})
	s.connections.Store(c, ctx)
	s.calls.Stats().HandleConn(ctx, new(stats.ConnBegin))
	return context.WithValue(ctx, connectionKey{}, c)
}

// bound bounds what the kernel buffers of unread answers.
func bound(c net.Conn) {
	for { // TLS, and the door of the listener
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = wrapped.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it the kernel's own bound holds
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
