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

// tunnel connects the browser to a server, for https: and for web sockets, and carries bytes both ways until both are
// done or one breaks.
func (g *Gate) tunnel(w http.ResponseWriter, r *http.Request) {
	scheme := "https"
	if !g.policy.Allows(scheme) {
		scheme = "http" // a web socket without TLS; what it is shows
	}
	t, err := netpolicy.TargetAt(scheme, r.Host)
	if err != nil {
		http.Error(w, "CONNECT "+err.Error()+".", http.StatusBadRequest)
		return
	}
	server, err := g.dial(r.Context(), t)
	if err != nil {
		g.refuse(w, t, err)
		return
	}
	defer func() { _ = server.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	defer context.AfterFunc(g.ctx, func() { _, _ = client.Close(), server.Close() })()
	_ = client.SetDeadline(time.Time{}) // the server's limits are over
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	if !g.fits(client, buffered.Reader) {
		g.failures.note(t.Authority(), &netpolicy.Refusal{Host: t.Host, Rule: g.policy.String(), Why: "what is sent to " + t.Authority() + " is of a scheme that is not allowed"})
		return
	}
	var both sync.WaitGroup
	both.Go(func() { carry(client, server, server) })
	from := io.Reader(client)
	if n := buffered.Reader.Buffered(); n > 0 {
		from = io.MultiReader(io.LimitReader(buffered.Reader, int64(n)), client)
	}
	carry(server, from, client)
	both.Wait()
}

// fits reports whether what the browser sends through a tunnel is of a scheme that is allowed: TLS or not.
func (g *Gate) fits(client net.Conn, r *bufio.Reader) bool {
	const handshake = 0x16
	https, http := g.policy.Allows("https"), g.policy.Allows("http")
	if https && http {
		return true
	}
	_ = client.SetReadDeadline(time.Now().Add(headLimit))
	first, err := r.Peek(1)
	_ = client.SetReadDeadline(time.Time{})
	return err == nil && (https && first[0] == handshake || http && first[0] != handshake)
}

// carry copies from one side to the other until its end, which it passes on; when one of them breaks, both are closed.
func carry(to net.Conn, from io.Reader, source net.Conn) {
	_, err := io.Copy(to, from) // in the kernel, where it can
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		_, _ = to.Close(), source.Close()
	}
}
