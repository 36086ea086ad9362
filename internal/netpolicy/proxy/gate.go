// Package proxy is the way that a browser's traffic takes when a URL policy limits it: an HTTP proxy on loopback that
// looks names up itself, asks the policy about the very address that it is about to dial, and dials that. So the policy
// holds for everything a browser loads (documents, frames, redirects, scripts' requests, WebSockets, workers, downloads,
// prefetches) and for names that change their address.
//
// Requests for http: URLs are passed on one by one; for all else (https:, ws:, wss:) the browser asks for a tunnel, whose
// content the gate does not see. Bodies are streamed. A connection of the browser has connections of its own to servers,
// so that nothing is shared between the browser's sessions. The gate keeps no content, and of URLs the hosts that it
// did not connect to, which Verdict tells.
//
// The owner starts a Gate with Open and owes a Close, which ends every connection and waits for what runs. The proxy
// is for the browser: on Linux only processes of the daemon's user, or root, are served. Elsewhere any local process
// can use it, and get where the policy lets the browser go.
package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/netpolicy"
)

// Config sets up a Gate.
type Config struct {
	Policy *netpolicy.Policy
	// Resolver looks names up; nil: the system's.
	Resolver *net.Resolver
	// Logger is told, at level debug, which hosts were refused and why; nil: nobody is.
	Logger *slog.Logger
}

// Limits of a proxy that serves one browser.
const (
	// maxConns is how many connections are open at a time; the browser itself opens fewer.
	maxConns = 8192
	// dialLimit is how long looking up and connecting may take together.
	dialLimit = 30 * time.Second
	// headLimit is how long a request's header may take, and how large headers may be.
	headLimit = time.Minute
	maxHeader = 1 << 20
	// idleLimit is how long a connection may wait for its next request: longer than browsers keep one.
	idleLimit = 6 * time.Minute
)

// Gate is a proxy that runs.
type Gate struct {
	policy  *netpolicy.Policy
	logger  *slog.Logger
	dialer  net.Dialer
	own     netip.AddrPort
	server  *http.Server
	forward *httputil.ReverseProxy
	probe   string

	ctx    context.Context
	cancel context.CancelFunc
	served chan error

	failures failures

	mu     sync.Mutex
	lines  map[net.Conn]*line
	closed bool
	// requests are those that are being served, tunnels among them; none begins once closed is set.
	requests sync.WaitGroup
}

// Open starts a proxy on a loopback port of its own. It lives until Close; ctx bounds the start only.
func Open(ctx context.Context, cfg Config) (*Gate, error) {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser's traffic: %w", err)
	}
	own, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	g := &Gate{
		policy: cfg.Policy, logger: cfg.Logger, own: own, probe: rand.Text(), served: make(chan error, 1), lines: map[net.Conn]*line{},
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.dialer = net.Dialer{Timeout: dialLimit, Resolver: cfg.Resolver}
	quiet := log.New(io.Discard, "", 0) // what it would say names URLs
	g.forward = &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: byLine{}, FlushInterval: -1, ErrorLog: quiet, BufferPool: &buffers,
		ErrorHandler: g.failed, ModifyResponse: clean,
	}
	g.server = &http.Server{
		Handler: g, ReadHeaderTimeout: headLimit, IdleTimeout: idleLimit, MaxHeaderBytes: maxHeader, ErrorLog: quiet,
		BaseContext: func(net.Listener) context.Context { return g.ctx },
		ConnContext: g.connected, ConnState: g.changed, DisableGeneralOptionsHandler: true,
	}
	go func() { g.served <- g.server.Serve(l) }()
	return g, nil
}

// Address is where the proxy listens: host:port.
func (g *Gate) Address() string { return g.own.String() }

// Close ends the proxy and every connection through it, and returns when nothing of it runs any more.
func (g *Gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	err := g.server.Close()
	<-g.served // says that it was closed
	g.requests.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.lines {
		l.transport.CloseIdleConnections()
	}
	clear(g.lines)
	return err
}

// AllowURL decides on a URL that a client names, for actor.Config.AllowURL: Refused is an *actor.Error like any that
// comes of a host's address later. What is no URL is not for it to refuse.
func (g *Gate) AllowURL(url string) error {
	if refusal := new(netpolicy.Refusal); errors.As(g.policy.URL(url), &refusal) {
		return refused(refusal)
	}
	return nil
}

// Verdict tells why the gate did not connect to the host of a URL when it was last asked to, as an *actor.Error: of kind
// Refused when the policy was against it, and Navigation when the network was. Nil: it did, or was not asked lately.
func (g *Gate) Verdict(url string) *actor.Error {
	t, err := netpolicy.TargetOf(url)
	if err != nil || t.Host == "" {
		return nil
	}
	return explain(t, g.failures.of(t.Authority()))
}

// explain says in an error for clients why there was no connection.
func explain(t netpolicy.Target, err error) *actor.Error {
	if err == nil {
		return nil
	}
	if refusal := new(netpolicy.Refusal); errors.As(err, &refusal) {
		return refused(refusal)
	}
	_, why := cause(err)
	return &actor.Error{
		Kind: actor.Navigation, Message: fmt.Sprintf("%s could not be reached: %s: check the address and that the server is running", t.Authority(), why),
		Detail: map[string]string{"host": t.Host},
	}
}

// refused is the error of a refusal.
func refused(r *netpolicy.Refusal) *actor.Error {
	return &actor.Error{
		Kind: actor.Refused, Message: r.Error() + ": go elsewhere, or ask who runs the daemon to change --url-policy",
		Detail: map[string]string{"host": r.Host, "rule": r.Rule},
	}
}

// cause names why a server could not be reached: the error type of RFC 9209, and in words.
func cause(err error) (kind, why string) {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsTimeout:
		return "dns_timeout", "its name was not looked up in time"
	case errors.As(err, &unknown):
		return "dns_error", "no address is known for its name"
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return "connection_timeout", "it does not answer"
	}
	return "connection_refused", "it takes no connections"
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
