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

	"github.com/domtap/domtap/internal/server/rpc/preauth"
)

// TLS names the PEM files of a certificate and its key. Empty names mean no TLS.
type TLS struct {
	CertFile, KeyFile string
	// ClientCAFile is a PEM file with the authorities for client certificates. A certificate signed by another authority is refused. If the
	// name is empty, client certificates are not requested.
	ClientCAFile string
}

// TCP listens on address ("host:port"). Without TLS, every IP that the host resolves to must be loopback; otherwise TCP returns an error
// that suggests what to do. Accepted connections must present the token (see package intercept). Package door closes connections that do
// not.
func TCP(ctx context.Context, address string, files TLS) (net.Listener, error) {
	// gRPC clients require that HTTP/2 is negotiated.
	return tcp(ctx, address, files, purpose{flag: "--listen", example: DefaultAddress, protocols: []string{"h2"}})
}

// Web listens as TCP does, for clients that may use HTTP/1.1, such as curl and browsers.
func Web(ctx context.Context, address string, files TLS) (net.Listener, error) {
	return tcp(ctx, address, files, purpose{flag: "--web", example: DefaultWebAddress, protocols: []string{"h2", "http/1.1"}})
}

// Page listens for a live page on this machine. It uses DefaultWebAddress, or any loopback port if that one is taken.
func Page(ctx context.Context) (net.Listener, error) {
	l, err := Web(ctx, DefaultWebAddress, TLS{})
	if err != nil {
		return Web(ctx, "127.0.0.1:0", TLS{})
	}
	return l, nil
}

// purpose describes the use of an address.
type purpose struct {
	// flag is the flag that sets the address. example is a valid address for error messages.
	flag, example string
	// protocols lists the protocols offered over TLS.
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
		return nil, fmt.Errorf("refusing to listen on %s without TLS, because other machines could read the traffic: "+
			"set --tls-cert and --tls-key, or listen on %s", address, p.example)
	}
	// Bind one of the checked IPs instead of the name, which could resolve to another IP now.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", bindAddress(ips, port))
	if err != nil {
		return nil, fmt.Errorf("listen on %s (is another daemon running? choose another address with %s): %w", address, p.flag, err)
	}
	listener = preauth.Limit(listener)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return listener, nil
}

// config loads the certificate. It returns nil if no files are named.
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
		return nil, fmt.Errorf("%s has no certificate: set --tls-client-ca to a PEM file with the certificates of the authorities", t.ClientCAFile)
	}
	return config, nil
}

// resolve returns the IPs of a host. It returns none for the empty host, which selects every interface.
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

// IsLoopback reports whether a host in an address or URL can only be this machine. It accepts localhost and loopback IPs, with or without
// brackets. It does not query a name server.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && loopback([]netip.Addr{ip})
}

// loopback reports whether ips is not empty and contains only loopback IPs.
func loopback(ips []netip.Addr) bool {
	for _, ip := range ips {
		if !ip.Unmap().IsLoopback() {
			return false
		}
	}
	return len(ips) > 0
}

// bindAddress returns the address to bind: that with the first IPv4 address, or else with the first IP.
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
