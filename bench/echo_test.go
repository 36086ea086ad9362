package bench

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
)

// answering returns the same answer to every GetDom.
type answering struct {
	domtapv1.UnimplementedDomServiceServer
	answer *domtapv1.GetDomResponse
}

func (r answering) GetDom(context.Context, *domtapv1.GetDomRequest) (*domtapv1.GetDomResponse, error) {
	return r.answer, nil
}

// echo returns the median time of a call with a prepared answer. It is the floor for answers of this size.
func echo(b *testing.B, answer *domtapv1.GetDomResponse) time.Duration {
	b.Helper()
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "echo"))
	if err != nil {
		b.Fatal(err)
	}
	srv := grpc.NewServer(grpc.MaxSendMsgSize(server.MaxMessage))
	domtapv1.RegisterDomServiceServer(srv, answering{answer: answer})
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	defer func() {
		srv.Stop()
		<-served
	}()
	conn, err := grpc.NewClient("unix:"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(server.MaxMessage)))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	client := domtapv1.NewDomServiceClient(conn)
	return sample(100, func() {
		if _, err := client.GetDom(b.Context(), &domtapv1.GetDomRequest{}); err != nil {
			b.Fatal(err)
		}
	}).at(50)
}
