package rpc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// senderOf makes a sender to a reader that takes nothing until the context ends.
func senderOf(ctx context.Context, limit time.Duration) (*sender, *Server) {
	s := &Server{cfg: Config{SendTimeout: limit}}
	return newSender(s, &direct{ctx: ctx, out: make(chan *domtapv1.WatchDomResponse)}), s
}

func TestSenderGivesUpOnAReaderAndOnNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, server := senderOf(ctx, time.Minute)
		start := time.Now()
		var sent error
		err := out.during(func() error {
			time.Sleep(time.Hour) // silence is no fault of the reader
			sent = out.send(new(domtapv1.WatchDomResponse))
			return sent
		})
		wantCode(t, err, codes.DeadlineExceeded, "SLOW_READER")
		if took := time.Since(start); took != time.Hour+time.Minute {
			t.Errorf("it gave up after %v", took)
		}
		cancel() // as gRPC does when the handler has returned
		server.running.Wait()
		if !errors.Is(sent, context.Canceled) {
			t.Errorf("the send ended with %v", sent)
		}
	})
}

// A panic of the work comes out where the interceptor that recovers waits for it.
func TestSenderHandsPanicsOn(t *testing.T) {
	out, _ := senderOf(t.Context(), time.Minute)
	defer func() {
		if thrown := recover(); thrown != "a fault" {
			t.Errorf("recovered %v", thrown)
		}
	}()
	err := out.during(func() error { panic("a fault") })
	t.Errorf("it returned %v", err)
}
