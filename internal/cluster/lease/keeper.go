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

// Store is where the lease of a Keeper is kept. Its methods return when their context ends.
type Store interface {
	// Renew stores a renewal in place of the revision that the attempt names, and returns the new revision. An error that wraps
	// ErrRefused says that the revision is another one; after any other, the renewal may be stored or not.
	Renew(ctx context.Context, a Attempt) (revision uint64, err error)
	// Read reads the lease. What it says may be out of date.
	Read(ctx context.Context) (Found, error)
}

// ErrRefused is an error of a Store: the revision is not the one that the attempt named.
var ErrRefused = errors.New("the lease has another revision")

// Keeper keeps a lease: it renews it until that fails for too long. Its methods are safe for concurrent use.
type Keeper struct {
	timing Timing
	store  Store
	// base is what until counts from, since an atomic value holds no time.
	base time.Time
	// until is when the lease ends, in nanoseconds after base; negative: it is not held.
	until atomic.Int64
	done  chan struct{}
	// soon holds a request to renew before the next tick.
	soon chan struct{}
	// running is closed when the goroutine has ended; stop ends it.
	running chan struct{}
	stop    context.CancelFunc

	mu     sync.Mutex
	holder *Holder
	// timer ends the lease at its end, also when the store does not return.
	timer *time.Timer
}

// Start acquires a lease and keeps it from then on. It tries until ctx ends. The caller owes Release.
func Start(ctx context.Context, t Timing, store Store) (*Keeper, error) {
	k := &Keeper{timing: t, store: store, base: time.Now(), done: make(chan struct{}), soon: make(chan struct{}, 1), running: make(chan struct{}), holder: NewHolder(t)}
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
		_ = retry.Pause(ctx, t.Every/20) // the loop looks at ctx
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	go func() {
		defer close(k.running)
		k.run(running)
	}()
	return k, nil
}

// Check fails unless the lease is held now. It costs one look at the clock, and is made before each action that only the holder may do.
func (k *Keeper) Check() error {
	if int64(time.Since(k.base)) < k.until.Load() {
		return nil
	}
	if err := k.Err(); err != nil {
		return err
	}
	return ErrLapsed // the timer will say so, too
}

// Soon asks for a renewal before the next one is due, as when what is stored with it has changed.
func (k *Keeper) Soon() {
	select {
	case k.soon <- struct{}{}:
	default:
	}
}

// Done is closed when the lease has ended.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// During returns a context that ends with the lease, too, whose end is its cause then. The caller owes end, which returns when nothing of
// it runs any more.
func (k *Keeper) During(ctx context.Context) (during context.Context, end context.CancelFunc) {
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

// Err is why the lease has ended; nil before.
func (k *Keeper) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.holder.ended
}

// Release ends the lease, and returns when nothing runs any more, with the last revision that is known. The caller may replace that by
// the end of the lease, so that others need not wait. When the lease has ended otherwise, Release returns why.
func (k *Keeper) Release() (revision uint64, err error) {
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
func (k *Keeper) run(ctx context.Context) {
	tick := time.NewTicker(k.timing.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = k.renew(ctx) // if it fails for too long, the lease ends
		case <-k.soon:
			_ = k.renew(ctx) // the tick will come, too
		case <-k.done:
			return
		}
	}
}

// renew renews the lease once. When the store has another revision, renew reads which one, and tries once more.
func (k *Keeper) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, k.timing.Every)
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
func (k *Keeper) attempt(ctx context.Context) error {
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
	return k.report(Found{Attempt: Attempt{Number: a.Number, Revision: revision}})
}

// report tells the holder what is stored, and moves the end of the lease.
func (k *Keeper) report(f Found) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.holder.Read(time.Now(), f)
	k.follow()
	return err
}

// end ends the lease, unless it has ended.
func (k *Keeper) end(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holder.End(why)
	k.follow()
}

// expire ends the lease if its time is over.
func (k *Keeper) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.holder.Check(time.Now()) // an end is kept
	k.follow()
}

// follow does what the holder's state asks for; the caller holds the lock.
func (k *Keeper) follow() {
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
