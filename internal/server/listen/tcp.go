package listen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/domtap/domtap/internal/server/door"
)

// TLS names the files of a certificate and its key, both PEM. Empty names mean no TLS.
type TLS struct {
	CertFile, KeyFile string
	// ClientCAFile holds the authorities, PEM, whose certificates clients may present; one that another has signed is refused.
	// Empty: none is asked for.
	ClientCAFile string
}

// TCP listens on address ("host:port"). Without TLS every IP that the host resolves to must be
// loopback; any other address is refused with an error that says what to do. Connections that the
// listener accepts must present the token: see package intercept. Package door closes those that do not.
func TCP(ctx context.Context, address string, files TLS) (net.Listener, error) {
	// gRPC clients insist on HTTP/2 being negotiated.
	return tcp(ctx, address, files, purpose{flag: "--listen", example: DefaultAddress, protocols: []string{"h2"}})
}

// Web is TCP for clients that may speak HTTP/1.1, such as curl and browsers.
func Web(ctx context.Context, address string, files TLS) (net.Listener, error) {
	return tcp(ctx, address, files, purpose{flag: "--web", example: DefaultWebAddress, protocols: []string{"h2", "http/1.1"}})
}

// Page listens for a live page of this machine: on the usual address, or on any port of loopback if that one is taken.
func Page(ctx context.Context) (net.Listener, error) {
	l, err := Web(ctx, DefaultWebAddress, TLS{})
	if err != nil {
		return Web(ctx, "127.0.0.1:0", TLS{})
	}
	return l, nil
}

// purpose is what an address is for.
type purpose struct {
	// flag is where the user gave it; example is one that would do.
	flag, example string
	// protocols are offered over TLS.
	protocols []string
}

// tcp listens for a purpose.
func tcp(ctx context.Context, address string, files TLS, p purpose) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not host:port, such as %s: %w", address, p.example, err)
	}
	config, err := files.config(p.protocols)
	if err != nil {
		return nil, err
	}
	ips, err := resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if config == nil && !loopback(ips) {
		return nil, fmt.Errorf("refusing to listen on %s without TLS, because other machines could read along: "+
			"give --tls-cert and --tls-key, or listen on %s", address, p.example)
	}
	// An IP of those that were checked is bound, not the name, which may resolve to another by now.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", bindAddress(ips, port))
	if err != nil {
		return nil, fmt.Errorf("listen on %s (is another daemon running? choose another address with %s): %w", address, p.flag, err)
	}
	listener = door.Watch(listener)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return listener, nil
}

// config loads the certificate. It returns nil when no files are named.
func (t TLS) config(protocols []string) (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	if t.CertFile == "" || t.KeyFile == "" {
		return nil, errors.New("TLS needs both --tls-cert and --tls-key, and --tls-client-ca needs TLS")
	}
	cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the TLS certificate %s and key %s: %w", t.CertFile, t.KeyFile, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols, MinVersion: tls.VersionTLS12}
	if t.ClientCAFile == "" {
		return config, nil
	}
	authorities, err := os.ReadFile(t.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("load the authorities of clients: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("%s holds no certificate: give --tls-client-ca a PEM file with those of the authorities", t.ClientCAFile)
	}
	return config, nil
}

// resolve returns the IPs of a host; none for the empty host, which stands for every interface.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if host == "" {
		return nil, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("find the IP of %q to listen on: %w", host, err)
	}
	return ips, nil
}

// IsLoopback reports whether a host, as it stands in an address or in a URL, is this machine alone: localhost, or an IP
// that is loopback, in brackets or not. No name server is asked.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && loopback([]netip.Addr{ip})
}

// loopback reports whether there are IPs and all of them are loopback.
func loopback(ips []netip.Addr) bool {
	for _, ip := range ips {
		if !ip.Unmap().IsLoopback() {
			return false
		}
	}
	return len(ips) > 0
}

// bindAddress picks the IP to bind: the first IPv4, else the first.
func bindAddress(ips []netip.Addr, port string) string {
	if len(ips) == 0 {
		return net.JoinHostPort("", port)
	}
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			return net.JoinHostPort(ip.Unmap().String(), port)
		}
	}
	return net.JoinHostPort(ips[0].String(), port)
}
