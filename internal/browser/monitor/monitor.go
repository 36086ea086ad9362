// Package monitor provides the single lock of a page, and a way to wait for changes of the state that it guards.
//
// The parts of a page (frames, dialogs, requests, navigation) are plain values behind one Monitor, because a wait often concerns several of
// them: a navigation ends with a commit, a dialog or a download. Await evaluates its condition with the lock held, and again after every
// Notify.
//
// Callers must call Notify, with the lock held, after each change that a waiter may depend on. They must not call the browser while they
// hold the lock.
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

// New returns a monitor whose waits end when done is closed. gone returns the error of such a wait.
func New(done <-chan struct{}, gone func() error) *Monitor {
	return &Monitor{changed: make(chan struct{}), done: done, gone: gone}
}

// Lock locks the monitor.
func (m *Monitor) Lock() { m.mu.Lock() }

// Unlock unlocks the monitor.
func (m *Monitor) Unlock() { m.mu.Unlock() }

// Notify wakes all waiters. The caller holds the lock.
func (m *Monitor) Notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Await waits until ready returns true. It calls ready with the lock held.
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

// AwaitTimed waits until timeLeft returns 0 or less. It calls timeLeft with the lock held. A positive result is the time after which
// timeLeft is called again even if nothing has changed.
func (m *Monitor) AwaitTimed(ctx context.Context, timeLeft func() time.Duration) error {
	for {
		m.mu.Lock()
		remaining, changed := timeLeft(), m.changed
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
