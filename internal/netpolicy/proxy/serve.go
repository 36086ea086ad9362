package proxy

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/netpolicy"
)

// clientConn is a connection of the browser, with its own connections to servers.
type clientConn struct {
	conn      net.Conn
	transport *http.Transport
	// trusted reports whether the process at the other end may use the proxy.
	trusted func() bool
}

type clientConnKey struct{}

// newConn prepares a new connection of the browser.
func (p *Proxy) newConn(ctx context.Context, conn net.Conn) context.Context {
	l := &clientConn{conn: conn, transport: &http.Transport{
		Proxy: nil, DisableCompression: true, MaxIdleConns: 4, MaxIdleConnsPerHost: 1, IdleConnTimeout: idleLimit,
		MaxResponseHeaderBytes: maxHeader, ExpectContinueTimeout: time.Second,
		DialContext: func(ctx context.Context, _, authority string) (net.Conn, error) {
			t, err := netpolicy.TargetAt("http", authority)
			if err != nil {
				return nil, err
			}
			return p.dial(ctx, t)
		},
	}}
	l.trusted = sync.OnceValue(func() bool { return isOwn(conn) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = l
	return context.WithValue(ctx, clientConnKey{}, l)
}

// connState removes a connection that has ended.
func (p *Proxy) connState(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	p.mu.Lock()
	l := p.conns[conn]
	delete(p.conns, conn)
	p.mu.Unlock()
	if l != nil {
		l.transport.CloseIdleConnections()
	}
}

// begin registers a new request. It returns false if there are too many connections or the proxy is closing. If it returns true, the caller
// must call requests.Done.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) > maxConns {
		return false
	}
	p.requests.Add(1)
	return true
}

// perClientTransport sends a request on the transport of the client connection that received the request.
type perClientTransport struct{}

func (perClientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	l, _ := r.Context().Value(clientConnKey{}).(*clientConn)
	if l == nil {
		return nil, errors.New("the request has no client connection")
	}
	return l.transport.RoundTrip(r)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		w.Header().Set("Connection", "close")
		http.Error(w, "This proxy has too many connections.", http.StatusServiceUnavailable)
		return
	}
	defer p.requests.Done()
	l, _ := r.Context().Value(clientConnKey{}).(*clientConn)
	switch {
	case l == nil || !l.trusted():
		w.Header().Set("Connection", "close")
		http.Error(w, "This proxy serves a browser that another user runs.", http.StatusForbidden)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, "This is the proxy of a domtap daemon, only for its browser.", http.StatusBadRequest)
	case r.URL.Hostname() == p.probeHost():
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, p.probe)
	default:
		p.forwardRequest(w, r)
	}
}

// forwardRequest sends a request to its server.
func (p *Proxy) forwardRequest(w http.ResponseWriter, r *http.Request) {
	t, err := netpolicy.TargetOf(r.URL.Scheme + "://" + r.URL.Host)
	if err != nil {
		http.Error(w, "The host of the URL is invalid.", http.StatusBadRequest)
		return
	}
	if _, err := p.policy.Name(t); err != nil { // checked even if a connection to the host is open
		p.failures.note(t.Authority(), err)
		p.refuse(w, err)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex() // a server may answer before it has received the whole request
	// net/http must not add headers that the server omitted.
	w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
	p.reverse.ServeHTTP(w, r)
}

// rewrite creates the request to the server: the browser's request without the headers for the proxy.
func rewrite(r *httputil.ProxyRequest) {
	if t, err := netpolicy.TargetOf("http://" + r.In.URL.Host); err == nil { // the caller parsed it before
		r.Out.URL.Host = t.Authority()
	}
	r.Out.Host = r.In.Host
	r.Out.URL.RawQuery, r.Out.URL.ForceQuery = r.In.URL.RawQuery, r.In.URL.ForceQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok { // pages may send these headers, so they are kept
			r.Out.Header[name] = values
		}
	}
	// The path is sent unchanged, unless a server could parse it as a whole URL.
	if _, rest, found := strings.Cut(r.In.RequestURI, "://"); found {
		if i := strings.IndexAny(rest, "/?"); i >= 0 && rest[i] == '/' && !strings.HasPrefix(rest[i:], "//") {
			path, _, _ := strings.Cut(rest[i:], "?")
			r.Out.URL.Opaque = path
		}
	}
}

// cleanResponse removes headers that a server must not send to the browser on behalf of the proxy.
func cleanResponse(r *http.Response) error {
	r.Header.Del("Proxy-Status")
	if r.StatusCode == http.StatusProxyAuthRequired { // the browser would attribute it to the proxy and send proxy credentials
		return errors.New("the server asks for credentials as if it were a proxy")
	}
	return nil
}

// upstreamFailed handles a request without a response from the server. If the server connection broke, upstreamFailed breaks the browser's
// connection, too, so that the browser behaves as without a proxy.
func (p *Proxy) upstreamFailed(w http.ResponseWriter, r *http.Request, err error) {
	var dialing *net.OpError
	refusal := new(netpolicy.Refusal)
	if errors.As(err, &refusal) || errors.As(err, &dialing) && dialing.Op == "dial" {
		p.refuse(w, err)
		return
	}
	panic(http.ErrAbortHandler)
}

// refuse responds with the reason why there is no connection (RFC 9209). A page learns nothing beyond this response. It does not name the
// target, because a script may read the response to a request that a route redirected.
func (p *Proxy) refuse(w http.ResponseWriter, err error) {
	status, kind := http.StatusForbidden, "destination_ip_prohibited"
	text := "The URL policy of domtap refuses this."
	refusal := new(netpolicy.Refusal)
	if !errors.As(err, &refusal) {
		var why string
		status = http.StatusBadGateway
		kind, why = cause(err)
		text = "The server could not be reached: " + why + "."
	} else if strings.HasPrefix(refusal.Rule, "schemes=") {
		kind = "http_request_denied"
	}
	h := w.Header()
	h.Set("Proxy-Status", "domtap; error="+kind)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'") // makes the document's origin opaque
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%[1]s</p>", html.EscapeString(text)) // the browser may have closed the connection
}

// probeHost returns a name that only the proxy answers for. No resolver resolves it (RFC 6761).
func (p *Proxy) probeHost() string { return strings.ToLower(p.probe) + ".domtap.invalid" }

// Probe returns a URL that can be reached only through the proxy, and the text at that URL.
func (p *Proxy) Probe() (address, text string) {
	u := url.URL{Scheme: "http", Host: p.probeHost(), Path: "/"}
	return u.String(), p.probe
}

// buffers provides the buffers for copying bodies.
var buffers bufferPool

type bufferPool struct{ pool sync.Pool }

const bufferSize = 32 << 10

func (b *bufferPool) Get() []byte {
	if buf, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return buf[:]
	}
	return new([bufferSize]byte)[:]
}

func (b *bufferPool) Put(buf []byte) { b.pool.Put((*[bufferSize]byte)(buf)) }
