package streaming

import (
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// Sender sends the messages of one stream, each within a time limit. A gRPC send blocks while the reader reads nothing, and cannot be
// canceled separately. So the work of a stream runs in its own goroutine. If a send exceeds the limit, the handler returns, which ends the
// stream's context and with it the send. A send requires no goroutine switch and sets no timer, which matters when a thousand readers watch
// one change.
type Sender struct {
	stream  grpc.ServerStream
	limit   time.Duration
	running *sync.WaitGroup
	// start is the time that since is relative to. since is the start of the current send, or 0 if there is none.
	start time.Time
	since atomic.Int64
	// begun reports that the answer's headers were sent. Only the work of the stream uses it.
	begun bool
}

// Sender returns a sender for a stream.
func (s *Streams) Sender(stream grpc.ServerStream) *Sender {
	return &Sender{stream: stream, limit: s.cfg.SendTimeout, running: &s.running, start: time.Now()}
}

// Run runs the work of the stream, which may send, and returns its error. If a send exceeds the time limit, Run returns SLOW_READER; the
// work must then end with the stream's context. If the work panics, so does Run.
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
			left := s.remaining()
			if left <= 0 {
				return rpcstatus.New(codes.DeadlineExceeded, "the reader took no message for "+s.limit.String()+
					": start the watch again from the last revision that was applied", rpcstatus.Info("SLOW_READER", nil))
			}
			watchdog.Reset(left)
		}
	}
}

// remaining returns the remaining time of the current send, or of one that would start now.
func (s *Sender) remaining() time.Duration {
	since := s.since.Load()
	if since == 0 {
		return s.limit
	}
	return s.limit - (time.Since(s.start) - time.Duration(since))
}

// Accept informs the reader that the stream covers all later changes. It sends the answer's headers, unless a message was sent already.
// Clients wait for the headers by reading the stream's header; a browser treats the request as unanswered until they arrive. After an
// error, the stream has ended.
func (s *Sender) Accept() error {
	if s.begun {
		return nil
	}
	s.begun = true
	return s.stream.SendHeader(nil)
}

// Send sends a message of the stream's type or a *wire.Message. It returns when gRPC has accepted the message. After an error, the stream
// has ended.
func (s *Sender) Send(m any) error {
	s.begun = true
	s.since.Store(max(1, int64(time.Since(s.start))))
	err := s.stream.SendMsg(m)
	s.since.Store(0)
	return err
}
