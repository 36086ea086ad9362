//go:build cluster

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/testenv"
)

// authority signs the certificates of nodes.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = a.sign("ca", a.cert, nil)
	return a
}

// sign writes NAME.pem and NAME.key and returns the key. If signer is nil, the certificate is self-signed.
func (a *authority) sign(name string, cert *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return key
}

// flags returns the flags of a node with a certificate.
func (a *authority) flags(n int) []string {
	a.t.Helper()
	name := fmt.Sprintf("n%d", n)
	a.sign(name, &x509.Certificate{
		SerialNumber: big.NewInt(int64(n + 1)), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.key)
	file := func(name string) string { return filepath.Join(a.dir, name) }
	return []string{"--cluster-tls-cert", file(name + ".pem"), "--cluster-tls-key", file(name + ".key"), "--cluster-tls-ca", file("ca.pem")}
}

// works creates a session through one node, uses it through another, and moves it.
func (st *stage) works() {
	t := st.t
	t.Helper()
	tab := st.create(st.nodes[0], "work", true)
	home := st.home(st.nodes[0], "work")
	other := st.others(home)[0]
	got, err := other.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: tab})
	if err != nil || !has(got, "Hello work") {
		t.Errorf("through another node: %v, %v", testenv.Texts(got), err)
	}
	if _, code := home.domtap("cluster", "move", "work", other.id); code != 0 {
		t.Errorf("move: exit code %d", code)
	}
	if got, err = home.Dom.GetDom(testenv.Within(t, limit), &domtapv1.GetDomRequest{TabId: tab}); err != nil || !has(got, "Hello work") {
		t.Errorf("after it has moved: %v, %v", testenv.Texts(got), err)
	}
}

// Daemons with certificates of one authority form a cluster. Calls, NATS clients and the routes of NATS servers use mutual TLS.
func TestNodesWithMutualTLS(t *testing.T) {
	a := newAuthority(t)
	newStage(t, a.flags).works()
}

// existingNATS starts a NATS server with JetStream and accounts, as run by an operator. It returns its URL and the credentials of a user.
func existingNATS(t *testing.T) (url, creds string) {
	t.Helper()
	key := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		pair, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return pair, public
	}
	encode := func(c jwt.Claims, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorName := key(nkeys.CreateOperator)
	_, systemName := key(nkeys.CreateAccount)
	account, accountName := key(nkeys.CreateAccount)
	user, userName := key(nkeys.CreateUser)
	ours := jwt.NewAccountClaims(accountName)
	ours.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	accounts := new(nats.MemAccResolver)
	for name, c := range map[string]*jwt.AccountClaims{accountName: ours, systemName: jwt.NewAccountClaims(systemName)} {
		if err := accounts.Store(name, encode(c, operator)); err != nil {
			t.Fatal(err)
		}
	}
	trusted := jwt.NewOperatorClaims(operatorName)
	trusted.SystemAccount = systemName
	encode(trusted, operator)
	server, err := nats.NewServer(&nats.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 8 << 20, NoSigs: true, NoLog: true,
		TrustedOperators: []*jwt.OperatorClaims{trusted}, SystemAccount: systemName, AccountResolver: accounts,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(func() {
		server.Shutdown()
		server.WaitForShutdown()
	})
	if !server.ReadyForConnections(limit) {
		t.Fatal("NATS does not start")
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(encode(jwt.NewUserClaims(userName), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	creds = filepath.Join(t.TempDir(), "domtap.creds")
	if err := os.WriteFile(creds, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.ClientURL(), creds
}

// Daemons are clients of a separately operated NATS server, which authenticates them by their credentials. The cluster's certificates are
// not used for this.
func TestNodesOnAnExistingNATS(t *testing.T) {
	url, creds := existingNATS(t)
	st := newStageOf(t)
	a, at := newAuthority(t), natstest.Free(t, 4)
	for i := range 2 {
		flags := append(a.flags(i+1), "--cluster", "shop", "--cluster-token-file", st.clusterToken, "--cluster-listen", at[i], "--nats", url, "--nats-creds", creds, "--cluster-replicas", "1")
		st.start(st.program, fmt.Sprintf("n%d", i+1), at[2+i], flags...)
	}
	for _, n := range st.nodes {
		n.ready()
	}
	st.works()
	if now := st.nodes[0].status(); now.GetNodes()[0].GetRole() != domtapv1.NodeRole_NODE_ROLE_CLIENT {
		t.Errorf("the cluster is %v", now)
	}
}
