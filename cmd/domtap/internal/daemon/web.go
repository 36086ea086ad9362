package daemon

import (
	"context"
	"net"
	"net/netip"
	"net/url"

	"github.com/domtap/domtap/internal/gateway/guard"
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

// hosts are the host names of the address.
func (w Web) hosts() []string {
	hosts := w.Hosts
	if host, _, err := net.SplitHostPort(w.Address); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return hosts
}

// pageURL is the URL of the live page at the address of --web: with the configured host, because the certificate is for
// that name, and with the port of the listener.
func (cfg Config) pageURL(at net.Addr) string {
	host, _, _ := net.SplitHostPort(cfg.Web.Address) // the address is valid: the daemon listens on it
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

// rootOf is the URL of the root of a server.
func rootOf(scheme, host string) string {
	u := url.URL{Scheme: scheme, Host: host, Path: "/"}
	return u.String()
}

// webListener listens on the address of --web.
func (cfg Config) webListener(ctx context.Context) (net.Listener, error) {
	return listen.Web(ctx, cfg.Web.Address, cfg.TLS)
}
