package streaming

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// stuck is a stream whose reader reads nothing.
type stuck struct {
	grpc.ServerStream
	ctx context.Context
}

// SendMsg returns when the context ends.
func (s stuck) SendMsg(any) error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

func TestSenderEndsOnlyTheSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		streams := New(Config{SendTimeout: time.Minute})
		out := streams.Sender(stuck{ctx: ctx})
		start := time.Now()
		var sent error
		err := out.Run(func() error {
			time.Sleep(time.Hour) // a silent stream is not the reader's fault
			sent = out.Send(new(domtapv1.WatchDomResponse))
			return sent
		})
		if status.Code(err) != codes.DeadlineExceeded || rpcstatus.Reason(err) != "SLOW_READER" {
			t.Errorf("got %v, want SLOW_READER", err)
		}
		if took := time.Since(start); took != time.Hour+time.Minute {
			t.Errorf("it gave up after %v", took)
		}
		cancel() // gRPC does this when the handler has returned
		streams.Wait()
		if !errors.Is(sent, context.Canceled) {
			t.Errorf("the send ended with %v", sent)
		}
	})
}

// A panic of the work propagates to the goroutine of the handler, where the recovery interceptor handles it.
func TestSenderHandsPanicsOn(t *testing.T) {
	out := New(Config{SendTimeout: time.Minute}).Sender(stuck{ctx: t.Context()})
	defer func() {
		if thrown := recover(); thrown != "a fault" {
			t.Errorf("recovered %v", thrown)
		}
	}()
	err := out.Run(func() error { panic("a fault") })
	t.Errorf("it returned %v", err)
}
