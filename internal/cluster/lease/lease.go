// Package lease decides how long a node may act for its sessions, and when others may take them over.
//
// A lease is a value in a store with compare-and-set. Its holder replaces the value every Timing.RenewEvery. Holder implements the holder's side
// and Observer the side of the other nodes. Both are plain values without a clock, goroutine or store. Renewer runs a Holder.
//
// The package guarantees the following, as long as the clocks of all machines run at the same rate within 10 %:
//
//   - A Holder is valid only until Timing.TTL - Timing.HolderMargin after the start of the last renewal known to be stored.
//   - An Observer reports a lease as lapsed only after it has seen the same revision for Timing.TTL + Timing.TakeoverMargin. A node that then
//     replaces exactly this revision with the end of the lease knows that no later renewal was stored, so the holder has stopped. Reads alone
//     decide nothing and may be out of date.
//   - A lease that has ended never starts again. The node joins as a new incarnation.
//   - Only monotonic clock readings are used, so setting a clock has no effect.
//
// Callers pass times from time.Now, which have a monotonic reading, provide a store with linearizable compare-and-set, and call
// Renewer.Check before each action, because the process may have been suspended since the last one.
package lease

import (
	"errors"
	"fmt"
	"time"
)

// Timing is the timing of leases, the same on all nodes.
type Timing struct {
	// TTL is how long a lease lasts from the start of its last renewal.
	TTL time.Duration
	// HolderMargin is how long before the expiry the holder stops, and TakeoverMargin how long after it other nodes take over. Together they allow for
	// clocks that run at different rates and for actions in progress.
	HolderMargin, TakeoverMargin time.Duration
	// RenewEvery is the interval of renewals and of the observers' checks.
	RenewEvery time.Duration
}

// Standard is the timing of nodes. The store may be without a leader for 8 seconds before a lease ends, and a dead node is detected after
// 17 to 19 seconds.
var Standard = Timing{TTL: 15 * time.Second, HolderMargin: 2 * time.Second, TakeoverMargin: 2 * time.Second, RenewEvery: 2 * time.Second}

// Reasons why a lease has ended. Each error of this package wraps one of them.
var (
	// ErrLapsed reports that no renewal was stored in time.
	ErrLapsed = errors.New("the lease was not renewed in time")
	// ErrTaken reports that another node ended the lease.
	ErrTaken = errors.New("another node ended the lease")
	// ErrReleased reports that the holder released the lease.
	ErrReleased = errors.New("the lease was given back")
	// ErrNotHeld reports that the lease has not started.
	ErrNotHeld = errors.New("the lease has not begun")
)

// Attempt is a renewal that replaces a revision. Revision 0 creates the lease.
type Attempt struct {
	Number, Revision uint64
}

// ReadResult is the result of reading a lease.
type ReadResult struct {
	Attempt
	// Gone reports that the lease was ended.
	Gone bool
}

// Holder is the holder's side of a lease. The lease starts with the first stored renewal. One goroutine uses a Holder.
type Holder struct {
	timing Timing
	// stored is the last renewal known to be stored.
	stored Attempt
	// number is the number of the last attempt. begun holds the attempts after stored, whose outcomes are unknown.
	number uint64
	begun  map[uint64]time.Time
	// until is the time when the lease expires unless it is renewed.
	until time.Time
	// ended is the reason why the lease has ended.
	ended error
}

// NewHolder returns the holder of a lease that has not started.
func NewHolder(t Timing) *Holder {
	return &Holder{timing: t, begun: map[uint64]time.Time{}}
}

// Begin starts a renewal. The caller stores it and reports the outcome to Stored or Read. A renewal that failed, or may have failed, need
// not be reported.
func (h *Holder) Begin(now time.Time) (Attempt, error) {
	if err := h.over(now); err != nil {
		return Attempt{}, err
	}
	h.number++
	h.begun[h.number] = now
	return Attempt{Number: h.number, Revision: h.stored.Revision}, nil
}

// Stored reports that a renewal was stored with a revision.
func (h *Holder) Stored(now time.Time, a Attempt) error {
	return h.Read(now, ReadResult{Attempt: a})
}

// Read reports the result of reading the lease. The caller reads the lease when the store refuses a renewal, because an earlier renewal
// with an unknown outcome may have been stored. Read ignores results that are out of date.
func (h *Holder) Read(now time.Time, f ReadResult) error {
	if f.Gone && h.ended == nil {
		h.ended = ErrTaken
	}
	if err := h.over(now); err != nil {
		return err
	}
	start, ok := h.begun[f.Number]
	if !ok {
		return nil
	}
	h.stored, h.until = f.Attempt, start.Add(h.timing.TTL-h.timing.HolderMargin)
	for n := range h.begun {
		if n <= f.Number {
			delete(h.begun, n)
		}
	}
	return h.over(now)
}

// over ends an expired lease and returns the reason why the lease has ended.
func (h *Holder) over(now time.Time) error {
	if h.ended == nil && h.stored.Number > 0 && !now.Before(h.until) {
		h.ended = ErrLapsed
	}
	return h.ended
}

// Check returns an error unless the lease is held.
func (h *Holder) Check(now time.Time) error {
	if err := h.over(now); err != nil {
		return err
	}
	if h.stored.Number == 0 {
		return ErrNotHeld
	}
	return nil
}

// End ends the lease, unless it has already ended. A holder that stops voluntarily passes ErrReleased.
func (h *Holder) End(why error) {
	if h.ended == nil {
		h.ended = why
	}
}

// Until returns the time when the lease expires unless it is renewed. It is zero before the lease has started.
func (h *Holder) Until() time.Time { return h.until }

// Revision returns the revision of the last renewal known to be stored.
func (h *Holder) Revision() uint64 { return h.stored.Revision }

// String describes the holder, for tests and logs.
func (h *Holder) String() string {
	return fmt.Sprintf("renewal %d, revision %d, %d under way, ended: %v", h.stored.Number, h.stored.Revision, len(h.begun), h.ended)
}
