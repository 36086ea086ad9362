package logs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// interest prefixes the subjects on which nodes answer requests about their tabs.
	interest = "domtap.interest."
	// maxAnswers limits how many requests a node answers concurrently, and answerTimeout bounds one answer.
	maxAnswers    = 256
	answerTimeout = 10 * time.Second
)

// Ask sends a request to a node and returns the answer. It fails when ctx ends, or immediately if no node listens.
func (l *Log) Ask(ctx context.Context, node string, request []byte) ([]byte, error) {
	m, err := l.conn.RequestWithContext(ctx, interest+node, request)
	if err != nil {
		return nil, fmt.Errorf("ask node %s: %w", node, err)
	}
	return m.Data, nil
}

// flush returns when the server has received everything that was sent before the call.
func (l *Log) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.conn.FlushWithContext(ctx)
}

// Answer answers requests to a node until ctx ends or stop is called. stop waits for running answers. At most maxAnswers run concurrently;
// further requests wait.
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
		if err = l.flush(ctx); err != nil { // requests sent from now on are answered
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
			<-ended // no further callback starts
		}
		work.Wait()
	}, nil
}
