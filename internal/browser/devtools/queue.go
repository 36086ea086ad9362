package devtools

import (
	"context"
	"sync"
)

// QueueLimit bounds what waits in a queue. A page that outruns its reader by this much floods us on
// purpose, and is closed.
const QueueLimit = 1 << 14

// Queue hands values from a goroutine that must not block to one that works on them, in order.
type Queue[T any] struct {
	mu    sync.Mutex
	items []T
	full  bool
	wake  chan struct{}
}

// NewQueue makes an empty queue.
func NewQueue[T any]() *Queue[T] {
	return &Queue[T]{wake: make(chan struct{}, 1)}
}

// Push appends without blocking. Above the limit it drops, and Take reports it.
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

// Offer appends without blocking, but leaves half of the queue to what is pushed; ok is false when there was no
// room.
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

// Take waits for values and takes all there are. overflow says that some were dropped.
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
