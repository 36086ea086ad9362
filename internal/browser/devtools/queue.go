package devtools

import (
	"context"
	"sync"
)

// QueueLimit limits the length of a queue. A page that exceeds it floods us on purpose and is closed.
const QueueLimit = 1 << 14

// Queue passes values, in order, to a consumer from goroutines that must not block.
type Queue[T any] struct {
	mu    sync.Mutex
	items []T
	full  bool
	wake  chan struct{}
}

// NewQueue returns an empty queue.
func NewQueue[T any]() *Queue[T] {
	return &Queue[T]{wake: make(chan struct{}, 1)}
}

// Push appends a value without blocking. If the queue is full, it drops the value, and Take reports an overflow.
func (q *Queue[T]) Push(v T) {
	q.mu.Lock()
	if len(q.items) >= QueueLimit {
		q.full = true
	} else {
		q.items = append(q.items, v)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Offer appends a value without blocking, but only while the queue is less than half full, which leaves room for Push. ok is false if the
// value was dropped.
func (q *Queue[T]) Offer(v T) (ok bool) {
	q.mu.Lock()
	if ok = len(q.items) < QueueLimit/2; ok {
		q.items = append(q.items, v)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return ok
}

// Take waits for values and returns all that are queued. overflow reports that values were dropped.
func (q *Queue[T]) Take(ctx context.Context) (items []T, overflow bool, err error) {
	for {
		q.mu.Lock()
		items, overflow = q.items, q.full
		q.items = nil
		q.mu.Unlock()
		if len(items) > 0 || overflow {
			return items, overflow, nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}
