package rpc

import (
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// sender sends the messages of one stream, each within a time limit. gRPC blocks a send for as long as
// the reader takes nothing and offers no way to give up, so the work of a stream runs beside its handler: when
// the limit passes, the handler returns, which ends the stream's context and with it the send. A send itself
// costs no switch between goroutines, which a thousand readers of one change would feel.
type sender[M any] struct {
	stream  grpc.ServerStreamingServer[M]
	limit   time.Duration
	running *sync.WaitGroup
	// watchdog closes late when a send takes too long.
	watchdog *time.Timer
	late     chan struct{}
}

func newSender[M any](s *Server, stream grpc.ServerStreamingServer[M]) *sender[M] {
	out := &sender[M]{stream: stream, limit: s.cfg.SendTimeout, running: &s.running, late: make(chan struct{})}
	out.watchdog = time.AfterFunc(out.limit, sync.OnceFunc(func() { close(out.late) }))
	out.watchdog.Stop()
	return out
}

// during runs the work of the stream, which may send, and returns what it does, or the reader's fault. After
// that the work must end with the stream's context. A panic of the work is the caller's.
func (s *sender[M]) during(work func() error) error {
	type end struct {
		err    error
		thrown any
	}
	ended := make(chan end, 1)
	s.running.Go(func() {
		var e end
		defer func() {
			e.thrown = recover()
			ended <- e
		}()
		e.err = work()
	})
	defer s.watchdog.Stop()
	select {
	case e := <-ended:
		if e.thrown != nil {
			panic(e.thrown)
		}
		return e.err
	case <-s.late:
		return newStatus(codes.DeadlineExceeded, "the reader took no message for "+s.limit.String()+
			": watch again, from the last revision that was applied", info("SLOW_READER", nil))
	}
}

// send returns when gRPC has taken the message. After an error the stream is over.
func (s *sender[M]) send(m *M) error {
	s.watchdog.Reset(s.limit)
	err := s.stream.Send(m)
	s.watchdog.Stop()
	return err
}
