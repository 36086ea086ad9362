package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/listen"
)

// Web configures the calls over HTTP. The zero value serves none.
type Web struct {
	// Address is the TCP address; empty: none.
	Address string
	// Hosts are more host names of the address.
	Hosts []string
	// Origins are other origins whose pages may call.
	Origins []string
	// UI is whether the live page is served, too.
	UI bool
}

// Check returns an error for an invalid origin.
func (w Web) Check() error {
	for _, origin := range w.Origins {
		if err := guard.CheckOrigin(origin); err != nil {
			return err
		}
	}
	return nil
}

// serveWeb adds the HTTP gateway to the server. The caller calls removeNote after the server has stopped.
func (cfg Config) serveWeb(ctx context.Context, server *server.Server) (removeNote func(), err error) {
	l, err := listen.Web(ctx, cfg.Web.Address, cfg.TLS)
	if err != nil {
		return nil, err
	}
	front := gateway.Config{Listener: l, TLS: cfg.TLS != (listen.TLS{}), Hosts: cfg.Web.hosts(), Origins: cfg.Web.Origins, Logger: cfg.Logger,
		MaxRequest: cfg.Limits.RequestBytes, MaxAnswer: cfg.Limits.ResponseBytes}
	if cfg.Web.UI {
		front.Page = ui.Handler(cfg.Version)
	}
	beside, err := gateway.New(server, front)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	cfg.Logger.Info("serving the web", "address", l.Addr().String(), "live page", cfg.Web.UI)
	removeNote = func() {}
	if cfg.Web.UI && cfg.Socket != "" {
		note := pageNote(cfg.Socket)
		if err := os.WriteFile(note, []byte(cfg.pageURL(l.Addr())), 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("write the address of the live page: %w", err), l.Close())
		}
		removeNote = func() { _ = os.Remove(note) } // PageURL recognizes a note that is left
	}
	server.Beside(beside)
	return removeNote, nil
}

// hosts are the host names of the address.
func (w Web) hosts() []string {
	hosts := w.Hosts
	if host, _, err := net.SplitHostPort(w.Address); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// pageURL is the URL of the live page: with the configured host, because the certificate is for that name, and
// with the port of the listener.
func (cfg Config) pageURL(at net.Addr) string {
	u := url.URL{Scheme: "http", Path: "/"}
	if cfg.TLS != (listen.TLS{}) {
		u.Scheme = "https"
	}
	host, _, _ := net.SplitHostPort(cfg.Web.Address) // the address is valid: the daemon listens on it
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(at.String())
	u.Host = net.JoinHostPort(host, port)
	return u.String()
}

// pageNote is the file beside a socket that holds the URL of the daemon's live page.
func pageNote(socket string) string { return socket + ".ui" }

// ErrNoPage is the error of a daemon without a live page.
var ErrNoPage = errors.New("the daemon serves no live page")

// PageURL returns the URL of the live page of the daemon of a socket, or ErrNoPage. It sends a request there,
// because a daemon that was killed leaves its note.
func PageURL(ctx context.Context, socket string) (string, error) {
	text, err := os.ReadFile(pageNote(socket))
	if err != nil {
		return "", ErrNoPage
	}
	page := strings.TrimSpace(string(text))
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, page, nil)
	if err != nil {
		return "", fmt.Errorf("invalid URL in %s: %w", pageNote(socket), err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	resp, err := client.Do(r)
	if _, ok := errors.AsType[*url.Error](err); ok && strings.HasPrefix(page, "https:") {
		return page, nil // the browser checks the certificate
	}
	if err != nil {
		return "", ErrNoPage
	}
	return page, resp.Body.Close()
}
