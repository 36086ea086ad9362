package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS names the files of mutual TLS. They are read when a server starts, and at each Connect.
type TLS struct {
	// CertFile and KeyFile are this node's certificate and key, for both directions: the certificate has to be valid for servers
	// and for clients, and for the host under which others reach the node.
	CertFile, KeyFile string
	// CAFile is the authority that signed the certificates of all nodes.
	CAFile string
}

// load reads the files. What it returns requires and checks the other side's certificate, as server and as client.
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
