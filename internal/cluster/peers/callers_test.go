package peers

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/gateway"
	modelsession "github.com/domtap/domtap/internal/mcp/session"
	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
)

// TestConnectionsHaveBaselinesOfTheirOwn reads incrementally over two connections, whose calls reach the tab's node over a single
// connection.
func TestConnectionsHaveBaselinesOfTheirOwn(t *testing.T) {
	c := newCluster(t, 3, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	request := &domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true}
	for _, conn := range []*grpc.ClientConn{c.nodes[0].conn, c.nodes[0].dial(operatorToken), c.nodes[2].conn, c.nodes[1].conn} {
		for again := range 2 {
			got, err := domtapv1.NewDomServiceClient(conn).GetDom(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if (got.GetDiff() != nil) != (again == 1) {
				t.Errorf("call %d has the diff %v", again+1, got.GetDiff())
			}
		}
	}
}

// TestLimitsHoldOnBothNodes makes a client exceed its limit of streams through one node, and then through another. Each node counts the
// streams through it, and the tab's node counts all streams of the client.
func TestLimitsHoldOnBothNodes(t *testing.T) {
	c := newCluster(t, 3, options{limits: limit.Config{StreamsPerClient: 3}})
	alice := []*grpc.ClientConn{c.nodes[0].dial(aliceToken), c.nodes[1].dial(aliceToken)}
	tab, _ := c.open(alice[0], 2, "")
	watch := func(conn *grpc.ClientConn) error {
		stream, err := domtapv1.NewDomServiceClient(conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	for i := range 3 {
		if err := watch(alice[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	for _, conn := range alice {
		err := watch(conn)
		wantCode(t, err, codes.ResourceExhausted, "LIMIT_REACHED")
		if !strings.Contains(status.Convert(err).Message(), "3 streams") {
			t.Errorf("the error is %v", err)
		}
	}
	if err := watch(c.nodes[0].conn); err != nil {
		t.Errorf("the operator: %v", err)
	}
}

// TestMetadataPassThrough checks the metadata between nodes, and which of the client's metadata they pass on.
func TestMetadataPassThrough(t *testing.T) {
	sent := metadata.Pairs("authorization", "Bearer "+operatorToken, "traceparent", "00-0af7-b7ad-01", "x-own", "a", "x-own", "b", ":authority", "x", "grpc-timeout", "1S",
		"grpc-trace-bin", "t", callerKey, "operator", partKey, set, finalKey, set, servedKey, set)
	info := forwarded{who: identity.ClientPrincipal("alice", identity.Read), origin: connections.Origin{Node: "p", Number: 7}}
	out := info.metadata(metadata.NewIncomingContext(t.Context(), sent), clusterToken)
	want := metadata.Pairs("authorization", "Bearer "+clusterToken, "traceparent", "00-0af7-b7ad-01", "x-own", "a", "x-own", "b", "grpc-trace-bin", "t",
		callerKey, "alice", rightsKey, "read", originKey, "p/7")
	if len(out) != len(want) {
		t.Errorf("passed on: %v", out)
	}
	for name, values := range want {
		if !slices.Equal(out.Get(name), values) {
			t.Errorf("%s is %v, want %v", name, out.Get(name), values)
		}
	}
	got, err := parseForwarded(out)
	if err != nil || got != info {
		t.Errorf("understood as %v, %v", got, err)
	}
	ctx := got.context(t.Context(), out)
	if who, ok := identity.Forwarded(ctx); !ok || who != info.who {
		t.Errorf("the caller is %v", who)
	}
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization"))+len(md.Get(callerKey)) != 0 {
		t.Errorf("handlers see %v", md)
	}
	part := forwarded{who: info.who, origin: info.origin, part: true, final: true}
	if got, err := parseForwarded(part.metadata(t.Context(), clusterToken)); err != nil || got != part {
		t.Errorf("%v is understood as %v, %v", part, got, err)
	}
	for _, wrong := range []metadata.MD{{}, metadata.Pairs(callerKey, "alice", rightsKey, "none", originKey, "p/7"), metadata.Pairs(callerKey, "a.b", rightsKey, "all", originKey, "p/7"),
		metadata.Pairs(callerKey, "alice", rightsKey, "all", originKey, "7"), metadata.Pairs(callerKey, "alice", callerKey, "operator", rightsKey, "all", originKey, "p/7")} {
		if got, err := parseForwarded(wrong); err == nil {
			t.Errorf("%v is understood as %v", wrong, got)
		}
	}
}

// TestCallsOverHTTPReachTheirTab makes calls through the HTTP gateway, in JSON and in protobuf.
func TestCallsOverHTTPReachTheirTab(t *testing.T) {
	c := newCluster(t, 2, options{})
	tab, _ := c.open(c.nodes[0].conn, 1, "")
	listener := c.listen()
	front, err := gateway.New(c.nodes[0].server, gateway.Config{Listener: listener})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- front.Serve() }()
	defer func() {
		front.Stop(context.WithoutCancel(t.Context()))
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	post := func(method, kind string, body []byte) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+method, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("content-type", kind)
		r.Header.Set("authorization", "Bearer "+operatorToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	ask := func(kind string, body []byte, err error) []byte {
		t.Helper()
		resp := post(domtapv1.DomService_GetDom_FullMethodName, kind, body)
		defer resp.Body.Close()
		got, failed := io.ReadAll(resp.Body)
		if err = errors.Join(err, failed); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s, %v", kind, resp.Status, got, err)
		}
		return got
	}
	request := &domtapv1.GetDomRequest{TabId: tab.GetId()}
	want, err := domtapv1.NewDomServiceClient(c.nodes[1].conn).GetDom(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	inJSON, inProto := new(domtapv1.GetDomResponse), new(domtapv1.GetDomResponse)
	body, err := protojson.Marshal(request)
	if err := protojson.Unmarshal(ask("application/json", body, err), inJSON); err != nil || !proto.Equal(inJSON, want) {
		t.Errorf("in JSON: %v, %v", inJSON, err)
	}
	body, err = proto.Marshal(request)
	if err := proto.Unmarshal(ask("application/proto", body, err), inProto); err != nil || !proto.Equal(inProto, want) {
		t.Errorf("in protobuf: %v, %v", inProto, err)
	}
	// In a stream, five bytes precede each message. The last four are its length.
	body = []byte(`{"tab_id":"` + tab.GetId() + `"}`)
	resp := post(domtapv1.DomService_WatchDom_FullMethodName, "application/connect+json", append([]byte{0, 0, 0, 0, byte(len(body))}, body...))
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	var first struct{ Snapshot *struct{ Elements []any } }
	if err := json.NewDecoder(resp.Body).Decode(&first); err != nil || first.Snapshot == nil || len(first.Snapshot.Elements) != 2 {
		t.Errorf("the stream begins with %v, %v", first, err)
	}
}

// authority signs certificates of nodes.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "cluster"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) sign(template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	template.SerialNumber, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// node returns the credentials of a node on loopback.
func (a *authority) node() Credentials {
	cert, key := a.sign(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, a.cert, a.key)
	return Credentials{Token: clusterToken, Certificate: &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, Authority: a.pool}
}

// TestNodesProveThatTheyBelong runs nodes with certificates. One node has a certificate of another authority, and one has another token.
func TestNodesProveThatTheyBelong(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	c := newCluster(t, 4, options{credentials: func(index int) Credentials {
		switch index {
		case 2:
			return other.node()
		case 3:
			strange := own.node()
			strange.Token = strings.ToUpper(clusterToken)
			return strange
		}
		return own.node()
	}})
	if tab, _ := c.open(c.nodes[0].conn, 1, ""); tab == nil {
		t.Fatal("no tab")
	}
	for _, at := range []int{2, 3} {
		tab, err := c.nodes[at].pool.Open(t.Context(), tabpool.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = domtapv1.NewTabServiceClient(c.nodes[0].conn).GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.ID()})
		wantCode(t, err, codes.Unavailable, "NODE_UNAVAILABLE")
	}
	// A caller with the cluster's token but without a certificate of its authority gets no connection.
	mine := c.nodes[1].Node
	for name, config := range map[string]*tls.Config{
		"without a certificate": {RootCAs: own.pool},
		"of another authority":  {RootCAs: own.pool, Certificates: []tls.Certificate{*other.node().Certificate}},
	} {
		conn, err := grpc.NewClient("passthrough:///"+mine.Address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
		if err != nil {
			t.Fatal(err)
		}
		ctx := as(t.Context(), "authorization", "Bearer "+clusterToken, callerKey, "operator", rightsKey, "all", originKey, "x/1")
		if _, err := domtapv1.NewTabServiceClient(conn).ListTabs(ctx, &domtapv1.ListTabsRequest{}); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
}

// TestNothingWithoutTLSOffLoopback tries addresses that other machines can reach, and incomplete credentials.
func TestNothingWithoutTLSOffLoopback(t *testing.T) {
	plain := Credentials{Token: clusterToken}
	for _, address := range []string{"192.0.2.1:7413", "node.example:7413", "[2001:db8::1]:7413", "7413"} {
		if _, err := plain.dialing(address); err == nil {
			t.Errorf("%s may be called without TLS", address)
		}
	}
	for _, at := range []net.Addr{&net.TCPAddr{IP: net.IPv4zero}, &net.TCPAddr{IP: net.IPv6unspecified}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, &net.UnixAddr{Net: "unix", Name: "s"}} {
		if _, err := plain.serving(at); err == nil {
			t.Errorf("%v may be served without TLS", at)
		}
	}
	if _, err := plain.dialing("127.0.0.1:7413"); err != nil {
		t.Error(err)
	}
	node := newAuthority(t).node()
	if _, err := node.dialing("node.example:7413"); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]Credentials{"short token": {Token: "short"}, "half": {Token: clusterToken, Certificate: node.Certificate}} {
		if _, err := New(Config{Directory: directory{}, Credentials: wrong}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCredentialsAreLoaded reads credentials from files.
func TestCredentialsAreLoaded(t *testing.T) {
	a := newAuthority(t)
	node := a.node()
	der, err := x509.MarshalECPrivateKey(node.Certificate.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key := write("cert", "CERTIFICATE", node.Certificate.Certificate[0]), write("key", "EC PRIVATE KEY", der)
	root := write("root", "CERTIFICATE", a.cert.Raw)
	got, err := LoadCredentials(clusterToken, cert, key, root)
	if err != nil || got.Certificate == nil || !got.Authority.Equal(a.pool) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := LoadCredentials(clusterToken, "", "", ""); err != nil || got.Certificate != nil {
		t.Errorf("without files: %v, %v", got, err)
	}
	for _, names := range [][3]string{{cert, key, ""}, {"", "", root}, {cert, key, key}, {key, key, root}, {dir, dir, root}} {
		if _, err := LoadCredentials(clusterToken, names[0], names[1], names[2]); err == nil {
			t.Errorf("no error for %v", names)
		}
	}
}

// TestToolsOfMCPReachTheirTab runs tools of the MCP server, which is a client of one node, on a tab of another.
func TestToolsOfMCPReachTheirTab(t *testing.T) {
	c := newCluster(t, 2, options{})
	c.next = 1
	all, err := tools.Select(tools.Core)
	if err != nil {
		t.Fatal(err)
	}
	session, daemon := &modelsession.Session{ClientID: "model"}, tools.NewDaemon(c.nodes[0].conn)
	run := func(name, arguments, want string) {
		t.Helper()
		i := slices.IndexFunc(all, func(tool tools.Tool) bool { return tool.Name == name })
		if i < 0 {
			t.Fatalf("there is no tool %s", name)
		}
		call := &tools.Call{Arguments: json.RawMessage(arguments), Daemon: daemon, Session: session}
		if err := all[i].Run(t.Context(), call); err != nil || call.Failed || !strings.Contains(call.Text(), want) {
			t.Errorf("%s: %v, %q", name, err, call.Text())
		}
	}
	run("browser_navigate", `{"url": "`+shopURL+`"}`, "Buy")
	run("browser_get_elements_compact", `{}`, "Sell")
	run("browser_tab", `{"action": "list"}`, "Shop")
	if tabs := c.nodes[1].pool.Tabs(); len(tabs) != 1 {
		t.Errorf("the other node has the tabs %v", tabs)
	}
}
