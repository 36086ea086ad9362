package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// On an address that other machines can reach, TLS connections also need the token, and without TLS nothing is served.
func TestServeOverTLS(t *testing.T) {
	files, roots := certificate(t)
	listener, err := listen.TCP(t.Context(), "0.0.0.0:0", files)
	if err != nil {
		t.Fatal(err)
	}
	server, err := New(tabpool.New(actortest.NewBrowser(), tabpool.Config{}), Config{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	target := net.JoinHostPort("127.0.0.1", port)
	authorized := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+testToken)
	for _, c := range []struct {
		name  string
		ctx   context.Context
		trust credentials.TransportCredentials
		want  codes.Code
	}{
		{"with token", authorized, credentials.NewClientTLSFromCert(roots, ""), codes.OK},
		{"without token", t.Context(), credentials.NewClientTLSFromCert(roots, ""), codes.Unauthenticated},
		{"without TLS", authorized, insecure.NewCredentials(), codes.Unavailable},
	} {
		conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(c.trust))
		if err != nil {
			t.Fatal(err)
		}
		if err := calls["unary"](c.ctx, conn); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		conn.Close()
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
}

// certificate creates a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (listen.TLS, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := listen.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	if err := errors.Join(os.WriteFile(files.CertFile, certPEM, 0o600), os.WriteFile(files.KeyFile, keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return files, roots
}

// A client certificate signed by the configured authority identifies the client. An additional token must belong to that client or the
// operator. A certificate of another authority is refused.
func TestCertificatesOfClients(t *testing.T) {
	files, roots := certificate(t)
	authority, sign := newAuthority(t)
	_, strange := newAuthority(t)
	files.ClientCAFile = authority
	listener, err := listen.TCP(t.Context(), "127.0.0.1:0", files)
	if err != nil {
		t.Fatal(err)
	}
	clients := identity.New(t.Context(), testToken)
	clients.Set(append(clientList(), identity.Entry{Principal: identity.ClientPrincipal("alice", identity.All), Cert: true}))
	server, err := New(tabpool.New(actortest.NewBrowser(), tabpool.Config{}), Config{Token: testToken, Clients: clients})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	for _, c := range []struct {
		name  string
		certs []tls.Certificate
		token string
		want  codes.Code
	}{
		{"neither", nil, "", codes.Unauthenticated},
		{"token", nil, aliceToken, codes.OK},
		{"certificate", []tls.Certificate{sign("alice")}, "", codes.OK},
		{"certificate that is not listed", []tls.Certificate{sign("bob")}, "", codes.Unauthenticated},
		{"certificate of the operator that is not listed", []tls.Certificate{sign("operator")}, "", codes.Unauthenticated},
		{"both of one", []tls.Certificate{sign("alice")}, aliceToken, codes.OK},
		{"both of two", []tls.Certificate{sign("alice")}, bobToken, codes.Unauthenticated},
		{"certificate and the operator's token", []tls.Certificate{sign("alice")}, testToken, codes.OK},
		{"certificate and a wrong token", []tls.Certificate{sign("alice")}, testToken + "x", codes.Unauthenticated},
		{"certificate of another authority", []tls.Certificate{strange("alice")}, aliceToken, codes.Unavailable},
	} {
		conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots, Certificates: c.certs})))
		if err != nil {
			t.Fatal(err)
		}
		call := t.Context()
		if c.token != "" {
			call = as(call, c.token)
		}
		if err := calls["unary"](call, conn); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		conn.Close()
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
}

// newAuthority creates an authority. It returns a file with its certificate, and a function that signs client certificates.
func newAuthority(t *testing.T) (file string, sign func(name string) tls.Certificate) {
	t.Helper()
	make := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			signer = key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, key
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, signer := make(root, root, nil)
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, func(name string) tls.Certificate {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		der, key := make(leaf, root, signer)
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
}
