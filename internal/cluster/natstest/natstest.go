// Package natstest runs three NATS servers in separate processes, which tests can kill. The TestMain of a package that uses it calls Main.
package natstest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster/embedded"
)

// Secret is the secret of the servers' clients.
const Secret = "secret"

// asServer is set in processes that run a server. Its value is the server's name, directory, addresses and all routes.
const asServer = "DOMTAP_TEST_NATS"

// Main runs the tests, or a server in the processes that Servers starts. It returns the exit code.
func Main(ctx context.Context, m *testing.M) int {
	if args := strings.Fields(os.Getenv(asServer)); len(args) > 0 {
		return serve(ctx, args)
	}
	return m.Run()
}

// serve runs a server until its standard input ends, so that it does not outlive the test.
func serve(ctx context.Context, args []string) int {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	s, err := embedded.Start(ctx, embedded.Config{
		Name: args[0], StoreDir: args[1], Listen: args[2], RouteListen: args[3], Routes: args[4:], Cluster: "test", Secret: Secret,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_ = bufio.NewScanner(os.Stdin).Scan()
	s.Close()
	return 0
}

// Servers starts three servers, which end with the test. It returns their processes by name and their URLs.
func Servers(t *testing.T) (processes map[string]*exec.Cmd, urls []string) {
	t.Helper()
	at := Free(t, 6)
	clients, routes := at[:3], at[3:]
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

// Free returns n different unused loopback addresses.
func Free(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // all close at the end, so that all addresses differ
		all = append(all, l.Addr().String())
	}
	return all
}

// LeaderOf returns the name of the server that leads a stream.
func LeaderOf(t *testing.T, conn *nats.Conn, stream string) string {
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
