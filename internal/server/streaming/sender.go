package streaming

import (
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/server/rpcstatus"
)

// Sender sends the messages of one stream, each within a time limit. gRPC blocks a send for as long as
// the reader takes nothing and offers no way to give up, so the work of a stream runs beside its handler: when
// the limit passes, the handler returns, which ends the stream's context and with it the send. A send costs
// no switch between goroutines and sets no timer, which matters to a thousand readers of one change.
type Sender struct {
	stream  grpc.ServerStream
	limit   time.Duration
	running *sync.WaitGroup
	// start is what since counts from; since is when the send that is under way began, 0 when none is.
	start time.Time
	since atomic.Int64
	// begun says that the answer's headers went out. Only the work of the stream uses it.
	begun bool
}

// Sender makes the sender of a stream.
func (s *Streams) Sender(stream grpc.ServerStream) *Sender {
	return &Sender{stream: stream, limit: s.cfg.SendTimeout, running: &s.running, start: time.Now()}
}

// Run runs the work of the stream, which may send, and returns its error, or SLOW_READER when the reader
// takes nothing for too long. After that the work must end with the stream's context. Run panics when the
// work does.
func (s *Sender) Run(work func() error) error {
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
	watchdog := time.NewTimer(s.limit)
	defer watchdog.Stop()
	for {
		select {
		case e := <-ended:
			if e.thrown != nil {
				panic(e.thrown)
			}
			return e.err
		case <-watchdog.C:
			left := s.left()
			if left <= 0 {
				return rpcstatus.New(codes.DeadlineExceeded, "the reader took no message for "+s.limit.String()+
					": watch again, from the last revision that was applied", rpcstatus.Info("SLOW_READER", nil))
			}
			watchdog.Reset(left)
		}
	}
}

// left is how long the send that is under way, or one that begins now, may still take.
func (s *Sender) left() time.Duration {
	since := s.since.Load()
	if since == 0 {
		return s.limit
	}
	return s.limit - (time.Since(s.start) - time.Duration(since))
}

// Accept tells the reader that the stream covers everything from now on: it sends the answer's headers,
// unless a message did. Clients wait for them through what their library calls the header of a stream; a
// browser takes a request for unanswered until then. After an error the stream is over.
func (s *Sender) Accept() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.stream.SendHeader(nil)
}

// Send returns when gRPC has taken the message: one of the stream's type, or a *wire.Message. After an error
// the stream is over.
func (s *Sender) Send(m any) error {
	s.begun = true
	s.since.Store(max(1, int64(time.Since(s.start))))
	err := s.stream.SendMsg(m)
	s.since.Store(0)
	return err
}
