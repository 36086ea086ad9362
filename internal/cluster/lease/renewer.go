package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/internal/retry"
)

// Store stores the lease of a Renewer. Its methods return when their context ends.
type Store interface {
	// Renew replaces the revision that the attempt names and returns the new revision. An error that wraps ErrRefused reports that the
	// store has another revision. After any other error the renewal may or may not have been stored.
	Renew(ctx context.Context, a Attempt) (revision uint64, err error)
	// Read reads the lease. The result may be out of date.
	Read(ctx context.Context) (ReadResult, error)
}

// ErrRefused is returned by a Store whose revision differs from the one that the attempt names.
var ErrRefused = errors.New("the lease has another revision")

// Renewer holds a lease and renews it until renewals have failed for too long. Its methods are safe for concurrent use.
type Renewer struct {
	timing Timing
	store  Store
	// base is the time that until is relative to, because an atomic value cannot hold a time.Time.
	base time.Time
	// until is the expiry of the lease in nanoseconds after base. It is negative while the lease is not held.
	until atomic.Int64
	done  chan struct{}
	// renewNow receives a request to renew before the next tick.
	renewNow chan struct{}
	// running is closed when the goroutine has ended; stop ends it.
	running chan struct{}
	stop    context.CancelFunc

	mu     sync.Mutex
	holder *Holder
	// timer ends the lease when it expires, even if the store does not return.
	timer *time.Timer
}

// Start acquires a lease and keeps renewing it. It retries until ctx ends. The caller must call Release.
func Start(ctx context.Context, t Timing, store Store) (*Renewer, error) {
	k := &Renewer{timing: t, store: store, base: time.Now(), done: make(chan struct{}), renewNow: make(chan struct{}, 1), running: make(chan struct{}), holder: NewHolder(t)}
	k.until.Store(-1)
	for {
		err := k.renew(ctx)
		if k.Check() == nil {
			break
		}
		if cause := context.Cause(ctx); cause != nil || k.Err() != nil {
			err = errors.Join(cause, k.Err(), err)
			k.end(ErrReleased)
			return nil, fmt.Errorf("acquire the lease: %w", err)
		}
		_ = retry.Pause(ctx, t.RenewEvery/20) // the loop checks ctx
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	go func() {
		defer close(k.running)
		k.run(running)
	}()
	return k, nil
}

// Check returns an error unless the lease is held now. It only reads the clock, so callers can use it before each action that requires the
// lease.
func (k *Renewer) Check() error {
	if int64(time.Since(k.base)) < k.until.Load() {
		return nil
	}
	if err := k.Err(); err != nil {
		return err
	}
	return ErrLapsed // the timer is about to report the same
}

// RenewNow requests a renewal before the next one is due, for example because the data stored with the lease has changed.
func (k *Renewer) RenewNow() {
	select {
	case k.renewNow <- struct{}{}:
	default:
	}
}

// Done is closed when the lease has ended.
func (k *Renewer) Done() <-chan struct{} { return k.done }

// During returns a context that also ends with the lease; its cause is then the reason for the end of the lease. The caller must call end,
// which returns when all goroutines of the context have ended.
func (k *Renewer) During(ctx context.Context) (during context.Context, end context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-k.done:
			cancel(k.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

// Err returns why the lease has ended, or nil while it is held.
func (k *Renewer) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.holder.ended
}

// Release ends the lease, waits for the goroutine, and returns the last known revision. The caller may replace that revision with the end
// of the lease, so that other nodes need not wait for its expiry. If the lease had already ended, Release returns the reason.
func (k *Renewer) Release() (revision uint64, err error) {
	k.end(ErrReleased)
	k.stop()
	<-k.running
	k.mu.Lock()
	defer k.mu.Unlock()
	if errors.Is(k.holder.ended, ErrReleased) {
		return k.holder.Revision(), nil
	}
	return 0, k.holder.ended
}

// run renews the lease until it has ended.
func (k *Renewer) run(ctx context.Context) {
	tick := time.NewTicker(k.timing.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = k.renew(ctx) // if renewals fail for too long, the lease ends
		case <-k.renewNow:
			_ = k.renew(ctx) // the next tick retries a failure
		case <-k.done:
			return
		}
	}
}

// renew renews the lease once. If the store has another revision, renew reads it and retries once.
func (k *Renewer) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.timing.RenewEvery)
	defer cancel()
	err := k.attempt(ctx)
	if !errors.Is(err, ErrRefused) {
		return err
	}
	found, err := k.store.Read(ctx)
	if err != nil {
		return err
	}
	if err := k.report(found); err != nil {
		return err
	}
	return k.attempt(ctx)
}

// attempt stores one renewal.
func (k *Renewer) attempt(ctx context.Context) error {
	k.mu.Lock()
	a, err := k.holder.Begin(time.Now())
	k.mu.Unlock()
	if err != nil {
		return err
	}
	revision, err := k.store.Renew(ctx, a)
	if err != nil {
		return err
	}
	return k.report(ReadResult{Attempt: Attempt{Number: a.Number, Revision: revision}})
}

// report passes the stored lease to the holder and updates the expiry.
func (k *Renewer) report(f ReadResult) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.holder.Read(time.Now(), f)
	k.follow()
	return err
}

// end ends the lease, unless it has ended.
func (k *Renewer) end(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holder.End(why)
	k.follow()
}

// expire ends the lease if it has expired.
func (k *Renewer) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.holder.Check(time.Now()) // the holder remembers an end
	k.follow()
}

// follow applies the holder's state. The caller must hold the lock.
func (k *Renewer) follow() {
	if k.holder.ended == nil {
		if k.holder.stored.Number == 0 {
			return
		}
		until := k.holder.Until()
		k.until.Store(int64(until.Sub(k.base)))
		if k.timer == nil {
			k.timer = time.AfterFunc(time.Until(until), k.expire)
		} else {
			k.timer.Reset(time.Until(until))
		}
		return
	}
	k.until.Store(-1)
	if k.timer != nil {
		k.timer.Stop()
	}
	select {
	case <-k.done:
	default:
		close(k.done)
	}
}
