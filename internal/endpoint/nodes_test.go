package endpoint

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// fakeNode is a node that counts its calls, and may be cut off.
type fakeNode struct {
	healthv1.UnimplementedHealthServer
	calls atomic.Int32
	cut   atomic.Bool
}

func (n *fakeNode) answer() (*healthv1.HealthCheckResponse, error) {
	n.calls.Add(1)
	if !n.cut.Load() {
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
	}
	s, err := status.New(codes.Unavailable, "cut off").WithDetails(&errdetails.ErrorInfo{Reason: "REGISTRY_UNAVAILABLE", Domain: "domtap"})
	if err != nil {
		return nil, err
	}
	return nil, s.Err()
}

func (n *fakeNode) Check(context.Context, *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	return n.answer()
}

func (n *fakeNode) Watch(_ *healthv1.HealthCheckRequest, stream grpc.ServerStreamingServer[healthv1.HealthCheckResponse]) error {
	m, err := n.answer()
	if err != nil {
		return err
	}
	if err := stream.Send(m); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// startNode starts a node and returns its address, with the host as a name or as an IP address.
func startNode(t *testing.T, host string) (*fakeNode, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n, server := &fakeNode{}, grpc.NewServer()
	healthv1.RegisterHealthServer(server, n)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return n, net.JoinHostPort(host, port)
}

// A client leaves a node that is cut off from the cluster, even though it answers. It returns when the next node is cut off.
func TestAClientLeavesANodeThatIsCutOff(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			first, one := startNode(t, host)
			second, two := startNode(t, host)
			conn, err := Dial(Target{Address: one + "," + two}, Options{Token: "token"})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			health := healthv1.NewHealthClient(conn)
			call := func() error {
				_, err := health.Check(ctx, new(healthv1.HealthCheckRequest), grpc.WaitForReady(true))
				return err
			}
			if err := call(); err != nil || first.calls.Load() != 1 {
				t.Fatalf("the first call: %v", err)
			}
			stream, err := health.Watch(ctx, new(healthv1.HealthCheckRequest))
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				t.Fatal(err)
			}
			first.cut.Store(true)
			if err := call(); status.Code(err) != codes.Unavailable {
				t.Errorf("a call to a node that is cut off: %v", err)
			}
			for range 3 {
				if err := call(); err != nil {
					t.Errorf("a call after that: %v", err)
				}
			}
			if second.calls.Load() != 3 {
				t.Errorf("the second node had %d calls, the first one %d", second.calls.Load(), first.calls.Load())
			}
			if stream.Context().Err() != nil {
				t.Error("the stream of the first node has ended")
			}
			first.cut.Store(false)
			second.cut.Store(true)
			for ctx.Err() == nil { // there is a pause between two changes
				other, err := health.Watch(ctx, new(healthv1.HealthCheckRequest))
				if err == nil {
					_, err = other.Recv()
				}
				if err == nil {
					return
				}
			}
			t.Error("the client stays at a node that is cut off")
		})
	}
}
