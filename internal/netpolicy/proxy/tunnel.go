package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/netpolicy"
)

// tunnel connects the browser to a server, for https: and WebSockets. It copies bytes in both directions until both sides are finished or
// one side fails.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	scheme := "https"
	if !p.policy.Allows(scheme) {
		scheme = "http" // a WebSocket without TLS; checked by allowsContent
	}
	t, err := netpolicy.TargetAt(scheme, r.Host)
	if err != nil {
		http.Error(w, "CONNECT "+err.Error()+".", http.StatusBadRequest)
		return
	}
	server, err := p.dial(r.Context(), t)
	if err != nil {
		p.refuse(w, err)
		return
	}
	defer func() { _ = server.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	defer context.AfterFunc(p.ctx, func() { _, _ = client.Close(), server.Close() })()
	_ = client.SetDeadline(time.Time{}) // the time limits of the HTTP server no longer apply
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	if !p.allowsContent(client, buffered.Reader) {
		p.failures.note(t.Authority(), &netpolicy.Refusal{Host: t.Host, Rule: p.policy.String(), Why: "data sent to " + t.Authority() + " uses a scheme that is not allowed"})
		return
	}
	var both sync.WaitGroup
	both.Go(func() { copyHalf(client, server, server) })
	from := io.Reader(client)
	if n := buffered.Reader.Buffered(); n > 0 {
		from = io.MultiReader(io.LimitReader(buffered.Reader, int64(n)), client)
	}
	copyHalf(server, from, client)
	both.Wait()
}

// allowsContent reports whether the scheme in the tunnel is allowed. It detects TLS by the first byte.
func (p *Proxy) allowsContent(client net.Conn, r *bufio.Reader) bool {
	const handshake = 0x16
	https, http := p.policy.Allows("https"), p.policy.Allows("http")
	if https && http {
		return true
	}
	_ = client.SetReadDeadline(time.Now().Add(headerLimit))
	first, err := r.Peek(1)
	_ = client.SetReadDeadline(time.Time{})
	return err == nil && (https && first[0] == handshake || http && first[0] != handshake)
}

// copyHalf copies one direction until its end and closes that direction. If either side fails, it closes both.
func copyHalf(to net.Conn, from io.Reader, source net.Conn) {
	_, err := io.Copy(to, from) // copies in the kernel where possible
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		_, _ = to.Close(), source.Close()
	}
}
