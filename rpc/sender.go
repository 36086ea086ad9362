package rpc

import (
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// sender sends the messages of one stream, each within a time limit. gRPC blocks a send for as long as
// the reader takes nothing and offers no way to give up, so each runs beside its stream: when the limit
// passes, the stream's handler returns, which ends the stream's context and with it the send.
type sender[M any] struct {
	stream  grpc.ServerStreamingServer[M]
	limit   time.Duration
	running *sync.WaitGroup
}

func newSender[M any](s *Server, stream grpc.ServerStreamingServer[M]) *sender[M] {
	return &sender[M]{stream: stream, limit: s.cfg.SendTimeout, running: &s.running}
}

// send returns when gRPC has taken the message. After an error the stream is over.
func (s *sender[M]) send(m *M) error {
	sent := make(chan error, 1)
	s.running.Go(func() { sent <- s.stream.Send(m) })
	timer := time.NewTimer(s.limit)
	defer timer.Stop()
	select {
	case err := <-sent:
		return err
	case <-timer.C:
		return newStatus(codes.DeadlineExceeded, "the reader took no message for "+s.limit.String()+
			": watch again, from the last revision that was applied", info("SLOW_READER", nil))
	}
}
