package peers

import (
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// minToken is the minimum length of a cluster's token, in bytes.
const minToken = 32

// Credentials authenticate the nodes of a cluster to each other. All nodes have the same token.
type Credentials struct {
	// Token is at least 32 bytes long.
	Token string
	// Certificate is this node's certificate, for client and server use. If nil, TLS is disabled, and all nodes must be on loopback.
	Certificate *tls.Certificate
	// Authority is the CA that signs the certificates of all nodes. It should sign no others.
	Authority *x509.CertPool
}

// LoadCredentials reads a node's certificate, its key and the cluster's authority from PEM files. If all file names are empty, TLS is
// disabled.
func LoadCredentials(token, certFile, keyFile, authorityFile string) (Credentials, error) {
	c := Credentials{Token: token}
	if certFile == "" && keyFile == "" && authorityFile == "" {
		return c, c.check()
	}
	if certFile == "" || keyFile == "" || authorityFile == "" {
		return c, errors.New("TLS between nodes needs a certificate, its key and the authority of the cluster")
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return c, fmt.Errorf("load the certificate of the node %s and its key %s: %w", certFile, keyFile, err)
	}
	authority, err := os.ReadFile(authorityFile)
	if err != nil {
		return c, fmt.Errorf("load the authority of the cluster: %w", err)
	}
	c.Certificate, c.Authority = &cert, x509.NewCertPool()
	if !c.Authority.AppendCertsFromPEM(authority) {
		return c, fmt.Errorf("%s has no certificate: name a PEM file with the certificate of the cluster's authority", authorityFile)
	}
	return c, c.check()
}

// check returns an error if the token is too short, or if only one of the certificate and the authority is set.
func (c Credentials) check() error {
	switch {
	case len(c.Token) < minToken:
		return fmt.Errorf("the token of the cluster has fewer than %d bytes: use a longer random token", minToken)
	case (c.Certificate == nil) != (c.Authority == nil):
		return errors.New("TLS between nodes needs a certificate and the authority of the cluster")
	}
	return nil
}

// has reports whether token is the cluster's token.
func (c Credentials) has(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(c.Token)) == 1
}

// dialing returns the credentials for connections to an address.
func (c Credentials) dialing(address string) (credentials.TransportCredentials, error) {
	if c.Certificate != nil {
		return credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{*c.Certificate}, RootCAs: c.Authority, MinVersion: tls.VersionTLS13,
		}), nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address of a node must be host:port: %w", err)
	}
	if !listen.IsLoopback(host) {
		return nil, fmt.Errorf("refusing to call %s without TLS, because other machines could read the traffic: give the nodes certificates", address)
	}
	return insecure.NewCredentials(), nil
}

// serving returns the credentials for connections of other nodes.
func (c Credentials) serving(at net.Addr) (credentials.TransportCredentials, error) {
	if c.Certificate != nil {
		return credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{*c.Certificate}, ClientCAs: c.Authority, ClientAuth: tls.RequireAndVerifyClientCert,
			MinVersion: tls.VersionTLS13,
		}), nil
	}
	if tcp, ok := at.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("refusing to listen for nodes on %v without TLS, because other machines could read the traffic: "+
			"give the node a certificate, or listen on loopback", at)
	}
	return insecure.NewCredentials(), nil
}
