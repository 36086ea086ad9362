// Package monitor is the one lock of a page, and the one way to wait for what it guards.
//
// The parts of a page (frames, dialogs, requests, navigation) are plain values behind a Monitor, because a wait often
// concerns several of them: a navigation ends with a commit, a dialog or a download. Await evaluates its condition with
// the lock held, and again after every Notify.
//
// Callers owe a Notify, with the lock held, after each change that somebody may wait for, and no call to the browser while
// they hold the lock.
package monitor

import (
	"context"
	"sync"
	"time"
)

// Monitor is a lock with a condition.
type Monitor struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced by Notify
	done    <-chan struct{}
	gone    func() error
}

// New makes a monitor whose waits end when done is closed; gone is the error of such a wait.
func New(done <-chan struct{}, gone func() error) *Monitor {
	return &Monitor{changed: make(chan struct{}), done: done, gone: gone}
}

// Lock locks the monitor.
func (m *Monitor) Lock() { m.mu.Lock() }

// Unlock unlocks the monitor.
func (m *Monitor) Unlock() { m.mu.Unlock() }

// Notify wakes all waits. The caller holds the lock.
func (m *Monitor) Notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Await waits until ready, which is called with the lock held, returns true.
func (m *Monitor) Await(ctx context.Context, ready func() bool) error {
	return m.AwaitTimed(ctx, func() time.Duration {
		if ready() {
			return 0
		}
		return forever
	})
}

// forever is longer than any wait.
const forever = time.Duration(1<<63 - 1)

// AwaitTimed waits until left, which is called with the lock held, returns 0 or less. A positive value says when left is to
// be called again even if nothing changes.
func (m *Monitor) AwaitTimed(ctx context.Context, left func() time.Duration) error {
	for {
		m.mu.Lock()
		remaining, changed := left(), m.changed
		m.mu.Unlock()
		if remaining <= 0 {
			return nil
		}
		if err := m.wait(ctx, remaining, changed); err != nil {
			return err
		}
	}
}

// wait waits for a change, or until the time has passed.
func (m *Monitor) wait(ctx context.Context, remaining time.Duration, changed <-chan struct{}) error {
	var passed <-chan time.Time
	if remaining < forever {
		timer := time.NewTimer(remaining)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-changed:
		return nil
	case <-passed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.done:
		return m.gone()
	}
}
