package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS names the files for mutual TLS. They are read when a server starts and at each Connect.
type TLS struct {
	// CertFile and KeyFile are this node's certificate and key for both directions. The certificate must be valid for server and client
	// use, and for the host name by which other nodes reach this node.
	CertFile, KeyFile string
	// CAFile is the certificate of the authority that signed all nodes' certificates.
	CAFile string
}

// load reads the files and returns a configuration that requires and verifies the peer's certificate, as server and as client.
func (t *TLS) load() (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of this node: %w", err)
	}
	text, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA of the cluster: %w", err)
	}
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read the CA of the cluster: %w", errors.New("no certificate in "+t.CAFile))
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca, RootCAs: ca,
	}, nil
}
