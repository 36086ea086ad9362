package daemon

import (
	"context"
	"net"
	"net/netip"
	"net/url"

	"github.com/domtap/domtap/internal/gateway/guard"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Web configures calls over HTTP. The zero value serves none.
type Web struct {
	// Address is the TCP address. If empty, there is none.
	Address string
	// Hosts lists additional host names of the address.
	Hosts []string
	// Origins lists other origins whose pages may call.
	Origins []string
	// UI also serves the live page.
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

// hosts returns the host names of the address.
func (w Web) hosts() []string {
	hosts := w.Hosts
	if host, _, err := net.SplitHostPort(w.Address); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// pageURL returns the URL of the live page at the address of --web. It contains the configured host, because the certificate is for that
// name, and the port of the listener.
func (cfg Config) pageURL(at net.Addr) string {
	host, _, _ := net.SplitHostPort(cfg.Web.Address) // the address is valid, because the daemon listens on it
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	scheme := "http"
	if cfg.TLS != (listen.TLS{}) {
		scheme = "https"
	}
	_, port, _ := net.SplitHostPort(at.String())
	return rootOf(scheme, net.JoinHostPort(host, port))
}

// rootOf returns the root URL of a server.
func rootOf(scheme, host string) string {
	u := url.URL{Scheme: scheme, Host: host, Path: "/"}
	return u.String()
}

// webListener listens on the address of --web.
func (cfg Config) webListener(ctx context.Context) (net.Listener, error) {
	return listen.Web(ctx, cfg.Web.Address, cfg.TLS)
}
