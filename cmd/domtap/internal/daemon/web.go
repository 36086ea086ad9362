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

// Web is how calls are served over HTTP. The zero value serves none.
type Web struct {
	// Address is the TCP address; empty: none.
	Address string
	// Hosts are more names by which clients may call it.
	Hosts []string
	// Origins are other origins whose pages may call.
	Origins []string
	// UI serves the live page, too.
	UI bool
}

// Check returns an error for origins that are none.
func (w Web) Check() error {
	for _, origin := range w.Origins {
		if err := guard.CheckOrigin(origin); err != nil {
			return err
		}
	}
	return nil
}

// besideWeb has the server serve the web, too. What forget does is owed when that has ended.
func (cfg Config) besideWeb(ctx context.Context, server *server.Server) (forget func(), err error) {
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
	forget = func() {}
	if cfg.Web.UI && cfg.Socket != "" {
		note := pageNote(cfg.Socket)
		if err := os.WriteFile(note, []byte(cfg.pageURL(l.Addr())), 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("note where the live page is: %w", err), l.Close())
		}
		forget = func() { _ = os.Remove(note) } // a note that is left leads to an address where nobody answers
	}
	server.Beside(beside)
	return forget, nil
}

// hosts are the names that a client may call the address by.
func (w Web) hosts() []string {
	hosts := w.Hosts
	if host, _, err := net.SplitHostPort(w.Address); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// pageURL is where a person finds the page: by the name that the address was given with, because a certificate is for
// that, and with the port that it got.
func (cfg Config) pageURL(at net.Addr) string {
	u := url.URL{Scheme: "http", Path: "/"}
	if cfg.TLS != (listen.TLS{}) {
		u.Scheme = "https"
	}
	host, _, _ := net.SplitHostPort(cfg.Web.Address) // it was listened on
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(at.String())
	u.Host = net.JoinHostPort(host, port)
	return u.String()
}

// pageNote is the file beside a socket that says where the daemon's live page is.
func pageNote(socket string) string { return socket + ".ui" }

// ErrNoPage says that a daemon serves no live page.
var ErrNoPage = errors.New("the daemon serves no live page")

// PageURL returns where the daemon of a socket serves its live page, or ErrNoPage. It asks there, because a daemon that
// was killed leaves its note.
func PageURL(ctx context.Context, socket string) (string, error) {
	text, err := os.ReadFile(pageNote(socket))
	if err != nil {
		return "", ErrNoPage
	}
	page := strings.TrimSpace(string(text))
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, page, nil)
	if err != nil {
		return "", fmt.Errorf("%s holds no URL: %w", pageNote(socket), err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	resp, err := client.Do(r)
	var wrongCertificate *url.Error
	if errors.As(err, &wrongCertificate) && strings.HasPrefix(page, "https:") {
		return page, nil // whoever browses there judges the certificate
	}
	if err != nil {
		return "", ErrNoPage
	}
	return page, resp.Body.Close()
}
