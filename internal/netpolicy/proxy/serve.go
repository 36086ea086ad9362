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

// line is a connection of the browser, with its own connections to servers.
type line struct {
	conn      net.Conn
	transport *http.Transport
	// trusted says, once it was found out, that the connection is of a process that may use the proxy.
	trusted func() bool
}

type lineKey struct{}

// connected prepares a new connection.
func (g *Gate) connected(ctx context.Context, conn net.Conn) context.Context {
	l := &line{conn: conn, transport: &http.Transport{
		Proxy: nil, DisableCompression: true, MaxIdleConns: 4, MaxIdleConnsPerHost: 1, IdleConnTimeout: idleLimit,
		MaxResponseHeaderBytes: maxHeader, ExpectContinueTimeout: time.Second,
		DialContext: func(ctx context.Context, _, authority string) (net.Conn, error) {
			t, err := netpolicy.TargetAt("http", authority)
			if err != nil {
				return nil, err
			}
			return g.dial(ctx, t)
		},
	}}
	l.trusted = sync.OnceValue(func() bool { return isOwn(conn) })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines[conn] = l
	return context.WithValue(ctx, lineKey{}, l)
}

// changed forgets a connection that is over.
func (g *Gate) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	g.mu.Lock()
	l := g.lines[conn]
	delete(g.lines, conn)
	g.mu.Unlock()
	if l != nil {
		l.transport.CloseIdleConnections()
	}
}

// enter takes in a request; false: there are too many connections, or the gate closes. What was let in owes a Done.
func (g *Gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || len(g.lines) > maxConns {
		return false
	}
	g.requests.Add(1)
	return true
}

// byLine sends a request on a connection that belongs to the line it came from.
type byLine struct{}

func (byLine) RoundTrip(r *http.Request) (*http.Response, error) {
	l, _ := r.Context().Value(lineKey{}).(*line)
	if l == nil {
		return nil, errors.New("the request came from nowhere")
	}
	return l.transport.RoundTrip(r)
}

// ServeHTTP implements http.Handler.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		w.Header().Set("Connection", "close")
		http.Error(w, "This proxy has too many connections.", http.StatusServiceUnavailable)
		return
	}
	defer g.requests.Done()
	l, _ := r.Context().Value(lineKey{}).(*line)
	switch {
	case l == nil || !l.trusted():
		w.Header().Set("Connection", "close")
		http.Error(w, "This proxy serves a browser that another user runs.", http.StatusForbidden)
	case r.Method == http.MethodConnect:
		g.tunnel(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, "This is the proxy of a domtap daemon, for its browser alone.", http.StatusBadRequest)
	case r.URL.Hostname() == g.probeHost():
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, g.probe)
	default:
		g.pass(w, r)
	}
}

// pass sends a request on.
func (g *Gate) pass(w http.ResponseWriter, r *http.Request) {
	t, err := netpolicy.TargetOf(r.URL.Scheme + "://" + r.URL.Host)
	if err != nil {
		http.Error(w, "The host of the URL makes no sense.", http.StatusBadRequest)
		return
	}
	if _, err := g.policy.Name(t); err != nil { // also for hosts that there is a connection to
		g.failures.note(t.Authority(), err)
		g.refuse(w, t, err)
		return
	}
	_ = http.NewResponseController(w).EnableFullDuplex() // a server may answer before it was sent everything
	// What a server leaves out is not added.
	w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
	g.forward.ServeHTTP(w, r)
}

// rewrite makes the request that the server gets: the one of the browser, less what is between that and the gate.
func rewrite(r *httputil.ProxyRequest) {
	if t, err := netpolicy.TargetOf("http://" + r.In.URL.Host); err == nil { // it was read before
		r.Out.URL.Host = t.Authority()
	}
	r.Out.Host = r.In.Host
	r.Out.URL.RawQuery, r.Out.URL.ForceQuery = r.In.URL.RawQuery, r.In.URL.ForceQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok { // a page may send them; they are not ours to drop
			r.Out.Header[name] = values
		}
	}
	// The path goes as it came, as far as it can be told apart from a whole URL.
	if _, rest, found := strings.Cut(r.In.RequestURI, "://"); found {
		if i := strings.IndexAny(rest, "/?"); i >= 0 && rest[i] == '/' && !strings.HasPrefix(rest[i:], "//") {
			path, _, _ := strings.Cut(rest[i:], "?")
			r.Out.URL.Opaque = path
		}
	}
}

// clean drops what a server may not say to a browser in the gate's name.
func clean(r *http.Response) error {
	r.Header.Del("Proxy-Status")
	if r.StatusCode == http.StatusProxyAuthRequired { // the browser would take it for ours, and answer it
		return errors.New("the server asks for credentials as if it were a proxy")
	}
	return nil
}

// failed answers a request that no server answered. When a connection broke, so does that of the browser, which then does
// what it would do without a gate.
func (g *Gate) failed(w http.ResponseWriter, r *http.Request, err error) {
	var dialing *net.OpError
	refusal := new(netpolicy.Refusal)
	if t, e := netpolicy.TargetOf(r.URL.Scheme + "://" + r.URL.Host); e == nil &&
		(errors.As(err, &refusal) || errors.As(err, &dialing) && dialing.Op == "dial") {
		g.refuse(w, t, err)
		return
	}
	panic(http.ErrAbortHandler)
}

// refuse tells the browser why there is no connection (RFC 9209). What it tells is all that a page can learn of it.
func (g *Gate) refuse(w http.ResponseWriter, t netpolicy.Target, err error) {
	status, kind := http.StatusForbidden, "destination_ip_prohibited"
	text := "The URL policy of domtap refuses " + t.Authority() + "."
	refusal := new(netpolicy.Refusal)
	if !errors.As(err, &refusal) {
		var why string
		status = http.StatusBadGateway
		kind, why = cause(err)
		text = fmt.Sprintf("%s could not be reached: %s.", t.Authority(), why)
	} else if strings.HasPrefix(refusal.Rule, "schemes=") {
		kind = "http_request_denied"
	}
	h := w.Header()
	h.Set("Proxy-Status", "domtap; error="+kind)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'") // the document is of no origin
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%[1]s</p>", html.EscapeString(text)) // who asked may be gone
}

// probeHost is a name that only the gate knows an answer for. It is resolved nowhere (RFC 6761).
func (g *Gate) probeHost() string { return strings.ToLower(g.probe) + ".domtap.invalid" }

// Probe is a URL and the text that it has for those who reach it through the gate, and for nobody else.
func (g *Gate) Probe() (address, text string) {
	u := url.URL{Scheme: "http", Host: g.probeHost(), Path: "/"}
	return u.String(), g.probe
}

// buffers are what bodies are copied with.
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
