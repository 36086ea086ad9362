package embedded_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/natstest"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.key = a.newKey()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der := a.sign(template, template, a.key)
	a.cert, _ = x509.ParseCertificate(der)
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// node creates a node's certificate and key files.
func (a *authority) node(n int) *embedded.TLS {
	key := a.newKey()
	der := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(int64(n)), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, key)
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	name := strconv.Itoa(n)
	return &embedded.TLS{
		CertFile: a.write(name+".pem", "CERTIFICATE", der), KeyFile: a.write(name+".key", "EC PRIVATE KEY", private), CAFile: filepath.Join(a.dir, "ca.pem"),
	}
}

// Three servers keep three copies, over routes and client connections with mutual TLS. Clients without a certificate of the authority are
// refused.
func TestThreeServersWithMutualTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers take some seconds to elect a leader")
	}
	ours, theirs := newAuthority(t), newAuthority(t)
	routes := natstest.Free(t, 3)
	var servers []*embedded.Server
	for i, route := range routes {
		servers = append(servers, start(t, embedded.Config{Name: "n" + strconv.Itoa(i+1), Cluster: "c", RouteListen: route, Routes: routes, TLS: ours.node(i + 2)}))
	}
	other := start(t, embedded.Config{Name: "n4", Cluster: "c", RouteListen: natstest.Free(t, 1)[0], Routes: routes, TLS: theirs.node(9)})
	url := []string{"tls://" + servers[2].Address()}
	conn := connect(t, embedded.Client{URLs: url, Secret: secret, TLS: ours.node(8)})
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ctx := bounded(t)
	for err := store(ctx, conn, 3); err != nil; err = store(ctx, conn, 3) { // an election comes first
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
	if n := other.Routes(); n != 0 {
		t.Errorf("the server with another authority has %d routes", n)
	}
	for name, c := range map[string]*embedded.TLS{"of another authority": theirs.node(7), "none": nil} {
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		conn, err := embedded.Connect(short, embedded.Client{URLs: url, Secret: secret, TLS: c})
		cancel()
		if err == nil {
			conn.Close()
			t.Errorf("connected with the certificate: %s", name)
		}
	}
}
