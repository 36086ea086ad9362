// Package proxy is the HTTP proxy of a browser whose traffic a URL policy limits. It listens on loopback, resolves
// names itself, asks the policy about the address that it is about to dial, and dials that address. So the policy
// holds for everything that a browser loads (documents, frames, redirects, requests of scripts, WebSockets, workers,
// downloads, prefetches), and DNS rebinding cannot get around it.
//
// Requests for http: URLs are forwarded one by one. For all other schemes (https:, ws:, wss:) the browser asks for a
// tunnel, whose content the proxy does not see. Bodies are streamed. Each connection of the browser has its own
// connections to servers, so that the browser's sessions share nothing. The proxy keeps no content, and of URLs only
// the hosts to which it did not connect, for Verdict.
//
// The owner starts a Proxy with Open and owes a Close, which ends every connection and waits for all goroutines. On
// Linux the proxy serves only processes of the daemon's user and of root. Elsewhere any local process can use the
// proxy, and reach what the policy allows.
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

// Config sets up a Proxy.
type Config struct {
	Policy *netpolicy.Policy
	// Resolver resolves names; nil: the system's resolver.
	Resolver *net.Resolver
	// Logger gets, at level debug, which hosts were refused and why; nil: nothing is logged.
	Logger *slog.Logger
}

// Limits of a proxy that serves one browser.
const (
	// maxConns is how many connections are open at a time; the browser itself opens fewer.
	maxConns = 8192
	// dialLimit is how long resolving a name and connecting may take together.
	dialLimit = 30 * time.Second
	// headLimit is how long a request's header may take, and how large headers may be.
	headerLimit = time.Minute
	maxHeader   = 1 << 20
	// idleLimit is how long a connection may wait for its next request: longer than browsers keep an idle connection.
	idleLimit = 6 * time.Minute
)

// Proxy is a proxy that runs.
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
	// requests counts the requests being served, with tunnels; none begins once closed is set.
	requests sync.WaitGroup
}

// Open starts a proxy on a loopback port of its own. It lives until Close; ctx bounds the start only.
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
	quiet := log.New(io.Discard, "", 0) // its messages name URLs
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

// Address is the address that the proxy listens on, as host:port.
func (p *Proxy) Address() string { return p.address.String() }

// Close ends the proxy and every connection through it, and returns when all goroutines have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	<-p.served // http.ErrServerClosed
	p.requests.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.conns {
		l.transport.CloseIdleConnections()
	}
	clear(p.conns)
	return err
}

// AllowURL decides on a URL that a client names, for tabpool.Config.AllowURL. The error is an *apierr.Error of kind
// Refused, as for a host whose address is refused later. AllowURL does not refuse invalid URLs.
func (p *Proxy) AllowURL(url string) error {
	if refusal := new(netpolicy.Refusal); errors.As(p.policy.URL(url), &refusal) {
		return refused(refusal)
	}
	return nil
}

// AllowAnswer decides on a URL that somebody else answers in place of its server. The error is a *netpolicy.Refusal, or another one for an invalid
// URL.
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

// Verdict returns why the proxy did not connect to the host of a URL at the last attempt, as an *apierr.Error: of kind
// Refused when the policy refused the host, and of kind Navigation when the network failed. Nil: the proxy connected,
// or was not asked lately.
func (p *Proxy) Verdict(url string) *apierr.Error {
	t, err := netpolicy.TargetOf(url)
	if err != nil || t.Host == "" {
		return nil
	}
	return explain(t, p.failures.of(t.Authority()))
}

// explain makes an error for clients of why there was no connection.
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

// refused is the error of a refusal.
func refused(r *netpolicy.Refusal) *apierr.Error {
	return &apierr.Error{
		Kind: apierr.Refused, Message: r.Error() + ": go elsewhere, or ask who runs the daemon to change --url-policy of domtap serve",
		Detail: map[string]string{"host": r.Host, "rule": r.Rule},
	}
}

// cause says why a server could not be reached: the error type of RFC 9209, and a description.
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
