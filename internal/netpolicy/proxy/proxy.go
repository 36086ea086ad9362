// Package proxy implements the HTTP proxy for a browser whose traffic a URL policy limits. It listens on loopback, resolves names itself,
// checks the policy for the address to dial, and dials that address. So the policy applies to everything that a browser loads (documents,
// frames, redirects, requests of scripts, WebSockets, workers, downloads, prefetches), and DNS rebinding cannot bypass it.
//
// Requests for http: URLs are forwarded one by one. For all other schemes (https:, ws:, wss:) the browser requests a tunnel, and the proxy
// does not see its content. Bodies are streamed. Each connection of the browser has its own connections to servers, so that the browser's
// sessions share nothing. The proxy stores no content. Of URLs it stores only the hosts to which it failed to connect, for Verdict.
//
// The owner starts a Proxy with Open and must call Close, which ends every connection and waits for all goroutines. On Linux the proxy
// serves only processes of the daemon's user and of root. On other systems any local process can use the proxy to reach the destinations
// that the policy allows.
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

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/netpolicy"
)

// Config configures a Proxy.
type Config struct {
	Policy *netpolicy.Policy
	// Resolver resolves names. If nil, the system's resolver is used.
	Resolver *net.Resolver
	// Logger logs refused hosts and the reasons at level debug. If nil, nothing is logged.
	Logger *slog.Logger
}

// Limits for a proxy that serves one browser.
const (
	// maxConns limits the open connections. The browser itself opens fewer.
	maxConns = 8192
	// dialLimit limits the total time for resolving a name and connecting.
	dialLimit = 30 * time.Second
	// headerLimit limits the time to read a request's header. maxHeader limits the size of headers.
	headerLimit = time.Minute
	maxHeader   = 1 << 20
	// idleLimit limits how long a connection may wait for its next request. It exceeds the time for which browsers keep an idle connection.
	idleLimit = 6 * time.Minute
)

// Proxy is a running proxy.
type Proxy struct {
	policy  *netpolicy.Policy
	logger  *slog.Logger
	dialer  net.Dialer
	address netip.AddrPort
	server  *http.Server
	reverse *httputil.ReverseProxy
	probe   string

	ctx    context.Context
	cancel context.CancelFunc
	served chan error

	failures failures

	mu     sync.Mutex
	conns  map[net.Conn]*clientConn
	closed bool
	// requests counts the requests in progress, including tunnels. No request starts after closed is set.
	requests sync.WaitGroup
}

// Open starts a proxy on its own loopback port. It runs until Close; ctx limits only the start.
func Open(ctx context.Context, cfg Config) (*Proxy, error) {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser's traffic: %w", err)
	}
	own, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p := &Proxy{
		policy: cfg.Policy, logger: cfg.Logger, address: own, probe: rand.Text(), served: make(chan error, 1), conns: map[net.Conn]*clientConn{},
	}
	if p.logger == nil {
		p.logger = slog.New(slog.DiscardHandler)
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.dialer = net.Dialer{Timeout: dialLimit, Resolver: cfg.Resolver}
	quiet := log.New(io.Discard, "", 0) // its messages contain URLs
	p.reverse = &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: perClientTransport{}, FlushInterval: -1, ErrorLog: quiet, BufferPool: &buffers,
		ErrorHandler: p.upstreamFailed, ModifyResponse: cleanResponse,
	}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: headerLimit, IdleTimeout: idleLimit, MaxHeaderBytes: maxHeader, ErrorLog: quiet,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ConnContext: p.newConn, ConnState: p.connState, DisableGeneralOptionsHandler: true,
	}
	go func() { p.served <- p.server.Serve(l) }()
	return p, nil
}

// Address returns the address that the proxy listens on, as host:port.
func (p *Proxy) Address() string { return p.address.String() }

// Close ends the proxy and all its connections. It returns when all goroutines have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	<-p.served // receives http.ErrServerClosed
	p.requests.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.conns {
		l.transport.CloseIdleConnections()
	}
	clear(p.conns)
	return err
}

// AllowURL checks a URL that a client names, for tabpool.Config.AllowURL. The error is an *apierr.Error of kind Refused, the same as for a
// host whose address is refused later. AllowURL does not refuse invalid URLs.
func (p *Proxy) AllowURL(url string) error {
	if refusal := new(netpolicy.Refusal); errors.As(p.policy.URL(url), &refusal) {
		return refused(refusal)
	}
	return nil
}

// AllowAnswer checks a URL for which a route or another source answers in place of the server. The error is a *netpolicy.Refusal, or
// another error for an invalid URL.
func (p *Proxy) AllowAnswer(url string) error {
	t, err := netpolicy.TargetOf(url)
	if err != nil {
		return err
	}
	grant, err := p.policy.Name(t)
	if err != nil {
		return err
	}
	return grant.Unresolved()
}

// Verdict returns the reason why the last attempt to connect to the host of a URL failed. The error is of kind Refused if the policy
// refused the host, and of kind Navigation if the network failed. It is nil if the proxy connected, or had no recent attempt.
func (p *Proxy) Verdict(url string) *apierr.Error {
	t, err := netpolicy.TargetOf(url)
	if err != nil || t.Host == "" {
		return nil
	}
	return explain(t, p.failures.of(t.Authority()))
}

// explain converts the error of a failed connection to an error for clients.
func explain(t netpolicy.Target, err error) *apierr.Error {
	if err == nil {
		return nil
	}
	if refusal := new(netpolicy.Refusal); errors.As(err, &refusal) {
		return refused(refusal)
	}
	_, why := cause(err)
	return &apierr.Error{
		Kind: apierr.Navigation, Message: fmt.Sprintf("%s could not be reached: %s: check the address and that the server is running", t.Authority(), why),
		Detail: map[string]string{"host": t.Host},
	}
}

// refused converts a refusal to an error for clients.
func refused(r *netpolicy.Refusal) *apierr.Error {
	return &apierr.Error{
		Kind: apierr.Refused, Message: r.Error() + ": use another URL, or ask the operator of the daemon to change --url-policy of domtap serve",
		Detail: map[string]string{"host": r.Host, "rule": r.Rule},
	}
}

// cause returns why a server could not be reached: the error type of RFC 9209 and a description.
func cause(err error) (kind, why string) {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsTimeout:
		return "dns_timeout", "the DNS lookup of its name timed out"
	case errors.As(err, &unknown):
		return "dns_error", "its name has no address in DNS"
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return "connection_timeout", "it does not answer"
	}
	return "connection_refused", "it refused the connection"
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
