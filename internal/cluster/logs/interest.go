package logs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// interest are the subjects on which nodes are asked about tabs that they own.
	interest = "domtap.interest."
	// maxAnswers is how many questions a node answers at once, and answerTimeout how long one may take.
	maxAnswers    = 256
	answerTimeout = 10 * time.Second
)

// Ask asks a node, and returns its answer. It fails when ctx ends first, and at once when nobody is there to answer.
func (l *Log) Ask(ctx context.Context, node string, request []byte) ([]byte, error) {
	m, err := l.conn.RequestWithContext(ctx, interest+node, request)
	if err != nil {
		return nil, fmt.Errorf("ask node %s: %w", node, err)
	}
	return m.Data, nil
}

// flush returns when the server has what was sent before.
func (l *Log) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.conn.FlushWithContext(ctx)
}

// Answer answers what a node is asked, until ctx ends or stop is called, which waits for the answers under way. At most maxAnswers are; further
// questions wait.
func (l *Log) Answer(ctx context.Context, node string, answer func(ctx context.Context, request []byte) []byte) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	places := make(chan struct{}, maxAnswers)
	var work sync.WaitGroup
	sub, err := l.conn.Subscribe(interest+node, func(m *nats.Msg) {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		work.Go(func() {
			defer func() { <-places }()
			bounded, cancel := context.WithTimeout(ctx, answerTimeout)
			defer cancel()
			if err := m.Respond(answer(bounded, m.Data)); err != nil {
				l.logger.Debug("an answer is lost", "error", err)
			}
		})
	})
	if err == nil {
		if err = l.flush(ctx); err != nil { // with it, somebody answers from now on
			_ = sub.Unsubscribe()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("answer for node %s: %w", node, err)
	}
	return func() {
		ended := make(chan struct{})
		sub.SetClosedHandler(func(string) { close(ended) })
		cancel()
		if sub.Unsubscribe() == nil {
			<-ended // no callback begins any more
		}
		work.Wait()
	}, nil
}
