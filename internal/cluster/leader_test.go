package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// asServer is set in processes that run one server of NATS: its name, its directory, its addresses and all routes.
const asServer = "DOMTAP_TEST_NATS"

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(asServer)); len(args) > 0 {
		serve(args)
		return
	}
	os.Exit(m.Run())
}

// serve runs a server until its standard input ends, so that it does not outlive the test.
func serve(args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := embedded.Start(ctx, embedded.Config{
		Name: args[0], StoreDir: args[1], Listen: args[2], RouteListen: args[3], Routes: args[4:], Cluster: "test", Secret: "secret",
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_ = bufio.NewScanner(os.Stdin).Scan()
	s.Close()
}

// servers are three servers in processes of their own, by name.
func servers(t *testing.T) (processes map[string]*exec.Cmd, urls []string) {
	t.Helper()
	var clients, routes []string
	for range 3 {
		clients, routes = append(clients, free(t)), append(routes, free(t))
	}
	processes = map[string]*exec.Cmd{}
	for i := range 3 {
		name := fmt.Sprint("server", i)
		args := append([]string{name, t.TempDir(), clients[i], routes[i]}, routes...)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"="+strings.Join(args, " "))
		cmd.Stderr = t.Output()
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait() // some were killed
		})
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%s: %s%v", name, line, err)
		}
		processes[name] = cmd
		urls = append(urls, "nats://"+clients[i])
	}
	return processes, urls
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// While the servers elect a leader, after a kill -9, nothing is written. Leases outlast that, and what was known is still known.
func TestLeasesOutlastTheDeathOfALeader(t *testing.T) {
	if os.Getenv("DOMTAP_LONG") == "" {
		t.Skip("three servers, and an election: set DOMTAP_LONG")
	}
	for _, bucket := range []string{"KV_domtap_nodes", "KV_domtap_sessions"} {
		t.Run(bucket, func(t *testing.T) { killLeader(t, bucket) })
	}
}

// killLeader kills the leader of a bucket.
func killLeader(t *testing.T, bucket string) {
	processes, urls := servers(t)
	w := &world{T: t, ctx: t.Context(), timing: lease.Standard, states: map[string][]byte{}, tokens: map[string]uint64{}}
	var list []*node
	var conn *nats.Conn
	for i := range 3 {
		c, err := embedded.Connect(w.ctx, embedded.Client{Name: fmt.Sprint("n", i), URLs: urls, Secret: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		conn = c
		list = append(list, w.joinBy(fmt.Sprint("n", i), func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
			cfg.Replicas = 3
			return registry.Open(ctx, c, cfg)
		}))
	}
	for _, n := range list {
		w.await("all nodes to know of each other", n.Changed, func() bool { return len(n.Nodes()) == len(list) })
	}
	w.fill(list, 30)
	before := map[string]string{}
	for _, n := range list {
		before[n.id] = n.Here().Incarnation
	}
	leader := leaderOf(t, conn, bucket)
	if processes[leader] == nil {
		t.Fatalf("the leader is %q", leader)
	}
	_ = processes[leader].Process.Kill()
	begun := time.Now()
	if err := w.eventually(func() error { return w.create(list[0], "new", cluster.Options{Restore: true}) }); err != nil {
		t.Fatal(err)
	}
	made := time.Since(begun)
	renewed := map[string]uint64{}
	for _, n := range list[0].Nodes() {
		renewed[n.ID] = n.Renewal
	}
	w.await("all leases to be renewed", list[0].Leases, func() bool {
		return !slices.ContainsFunc(list[0].Nodes(), func(n registry.Node) bool { return n.Renewal <= renewed[n.ID]+1 })
	})
	t.Logf("%s was killed: a session was made after %v, and all leases were renewed after %v", leader, made, time.Since(begun))
	for _, n := range list {
		if now := n.Here().Incarnation; now != before[n.id] || n.fenced > 0 {
			t.Errorf("%s lost its lease", n.id)
		}
		for i := range 30 {
			if _, err := w.call(n, fmt.Sprint("s", i)); err != nil {
				t.Errorf("session %d at %s: %v", i, n.id, err)
			}
		}
	}
}

// eventually tries again until it works, for as long as an election may take.
func (w *world) eventually(do func() error) error {
	ctx, cancel := context.WithTimeout(w.ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// leaderOf is the name of the server that leads a stream.
func leaderOf(t *testing.T, conn *nats.Conn, stream string) string {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Cluster.Leader
}
