package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/retry"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// endLimit limits how long browsers may take to end after their daemons.
const endLimit = 5 * time.Second

// cluster consists of three daemons.
type cluster struct {
	dir, program, clients, secret string
	nodes                         []*node
}

// node is one daemon.
type node struct {
	id, dir string
	// address is the address for clients. peers, nats and route are addresses for nodes.
	address, peers, nats, route string
	cmd                         *exec.Cmd
	ended                       chan struct{}
}

// newCluster prepares the directories and addresses.
func newCluster(program string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "domtap")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, program: program, clients: filepath.Join(dir, "clients"), secret: filepath.Join(dir, "cluster")}
	for _, path := range []string{c.clients, c.secret} {
		if _, err := listen.Token(path); err != nil {
			return nil, err
		}
	}
	at, err := free(12)
	if err != nil {
		return nil, err
	}
	for i := range 3 {
		id := fmt.Sprintf("node%d", i+1)
		c.nodes = append(c.nodes, &node{id: id, dir: filepath.Join(dir, id), address: at[i], peers: at[3+i], nats: at[6+i], route: at[9+i]})
	}
	return c, nil
}

// free returns free addresses of loopback.
func free(n int) ([]string, error) {
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all listeners stay open until the end, so that each address is returned once
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// startAll starts all nodes and returns when they serve.
func (c *cluster) startAll(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := c.launch(n); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := n.ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts a node and returns when it serves.
func (c *cluster) start(ctx context.Context, n *node) error {
	if err := c.launch(n); err != nil {
		return err
	}
	return n.ready(ctx)
}

// launch starts the process of a node.
func (c *cluster) launch(n *node) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own descriptor
	var routes []string
	for _, one := range c.nodes {
		routes = append(routes, one.route)
	}
	n.cmd = exec.Command(c.program, "serve", "--state-dir", n.dir, "--socket", filepath.Join(n.dir, "socket"), "--listen", n.address, "--token-file", c.clients,
		"--downloads-dir", filepath.Join(n.dir, "downloads"),
		"--cluster", "demo", "--cluster-node", n.id, "--cluster-listen", n.peers, "--cluster-nats", n.nats, "--cluster-route", n.route,
		"--cluster-routes", strings.Join(routes, ","), "--cluster-store", filepath.Join(n.dir, "nats"), "--cluster-token-file", c.secret)
	n.cmd.Stderr = log
	if err := n.cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	n.ended = ended
	go func(cmd *exec.Cmd) {
		defer close(ended)
		_ = cmd.Wait() // the caller that ended the process knows the result
	}(n.cmd)
	return nil
}

// ready waits until a node serves.
func (n *node) ready(ctx context.Context) error {
	conn, err := grpc.NewClient("unix:"+filepath.Join(n.dir, "socket"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close() // the connection was only used for calls
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		r, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: domtapv1.TabService_ServiceDesc.ServiceName}, grpc.WaitForReady(true))
		if err == nil && r.GetStatus() == healthv1.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-look.C:
		case <-n.ended:
			return fmt.Errorf("%s has ended: %s", n.id, n.lastLine())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lastLine returns the last line of a node's log.
func (n *node) lastLine() string {
	text, _ := os.ReadFile(filepath.Join(n.dir, "log")) // without the log there is no better information
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// connect connects a client that knows the given nodes.
func (c *cluster) connect(ctx context.Context, nodes ...*node) (*client.Client, error) {
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.address)
	}
	return client.Connect(ctx, client.Options{Address: strings.Join(addresses, ","), TokenFile: c.clients})
}

// kill kills a node without warning.
func (n *node) kill() {
	_ = n.cmd.Process.Kill() // the process may already have ended
	<-n.ended
}

// close ends all nodes and removes their files.
func (c *cluster) close() error {
	for _, n := range c.nodes {
		if n.cmd != nil {
			_ = n.cmd.Process.Kill() // at the end of the demo no session needs to move
			<-n.ended
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	_, err := retry.Until(ctx, 100*time.Millisecond, func() (struct{}, error) { return struct{}{}, os.RemoveAll(c.dir) })
	if err != nil {
		return fmt.Errorf("some files are left: %w", err)
	}
	return nil
}
