package endpoint_test

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/testenv"
)

// healthy starts a healthy server and returns its address.
func healthy(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true})) // same policy as the daemon
	healthv1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return l.Addr().String()
}

// A client leaves a node that is silent, for example because it is stopped or its cable is unplugged. Calls and streams end, and the next
// ones go to another node.
func TestAClientLeavesANodeThatIsSilent(t *testing.T) {
	if !testenv.Long() {
		t.Skip("gRPC finds out after 15 seconds: set DOMTAP_LONG")
	}
	link, second := testenv.NewLink(t, healthy(t)), healthy(t)
	conn, err := endpoint.Dial(endpoint.Target{Address: link.Address() + "," + second}, endpoint.Options{Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := healthv1.NewHealthClient(conn)
	stream, err := calls.Watch(ctx, new(healthv1.HealthCheckRequest))
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	link.Set(testenv.LinkState{Stopped: true})
	begun := time.Now()
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended after %v with %v", time.Since(begun), err)
	}
	var at peer.Peer
	if _, err := calls.Check(ctx, new(healthv1.HealthCheckRequest), grpc.WaitForReady(true), grpc.Peer(&at)); err != nil || at.Addr.String() != second {
		t.Errorf("the next call, after %v, was at %v: %v", time.Since(begun), at.Addr, err)
	}
	t.Logf("the next call was answered after %v", time.Since(begun))
}
