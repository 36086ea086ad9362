// Package lease decides how long a node may act for its sessions, and when others may take them over.
//
// A lease is a value in a store with compare-and-set, which its holder replaces every Timing.Every. Holder is the holder's side, Observer
// that of the others: both are plain values without clock, goroutine and store. Keeper runs a Holder.
//
// What the package guarantees, as long as clocks of different machines run at the same rate within a tenth:
//
//   - A Holder is valid only until Timing.TTL - Timing.Early after it began the last renewal that it knows to be stored.
//   - An Observer calls a lease lapsed only when it saw the same revision for Timing.TTL + Timing.Late. Whoever then replaces that very
//     revision by the end of the lease, knows that no renewal was stored after it: so the holder has stopped. Reads decide nothing, and
//     may be out of date.
//   - A lease that has ended never begins again: the node joins as another incarnation.
//   - Only monotonic clocks count. Setting a clock changes nothing.
//
// What callers owe: times that are those of time.Now, so that they have a monotonic reading; a store whose compare-and-set is
// linearizable; and Keeper.Check before each action, because a process may have been stopped since the last one.
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
	// Early is how long before its end the holder stops, and Late how long after it others take over. Together they are for clocks that
	// do not run at the same rate, and for what was already under way.
	Early, Late time.Duration
	// Every is how often the lease is renewed, and how often others look.
	Every time.Duration
}

// Standard is what nodes use. A leader of the store may be away for 8 seconds without the end of a lease, and a dead node is noticed after
// 17 to 19.
var Standard = Timing{TTL: 15 * time.Second, Early: 2 * time.Second, Late: 2 * time.Second, Every: 2 * time.Second}

// The reasons why a lease ended. Errors of this package wrap one of them.
var (
	// ErrLapsed: no renewal was stored in time.
	ErrLapsed = errors.New("the lease was not renewed in time")
	// ErrTaken: another node ended the lease.
	ErrTaken = errors.New("another node ended the lease")
	// ErrReleased: the node gave the lease back.
	ErrReleased = errors.New("the lease was given back")
	// ErrNotHeld: the lease has not begun.
	ErrNotHeld = errors.New("the lease has not begun")
)

// Attempt is a renewal that is to be stored in place of a revision; 0: where there is none.
type Attempt struct {
	Number, Revision uint64
}

// Found is what a read says of the lease.
type Found struct {
	Attempt
	// Gone: the lease was ended.
	Gone bool
}

// Holder is the holder's side of a lease, which begins with the first renewal that is stored. It belongs to one goroutine.
type Holder struct {
	timing Timing
	// stored is the last renewal that is known to be stored.
	stored Attempt
	// number is that of the last attempt; begun has the attempts later than stored, whose outcome is not known.
	number uint64
	begun  map[uint64]time.Time
	// until is when the lease ends, unless it is renewed.
	until time.Time
	// ended is why the lease is over.
	ended error
}

// NewHolder makes the holder of a lease that has not begun.
func NewHolder(t Timing) *Holder {
	return &Holder{timing: t, begun: map[uint64]time.Time{}}
}

// Begin begins a renewal. The caller stores it, and reports the outcome to Stored or Read; nothing needs to be reported of one that
// failed, or may have failed.
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
	return h.Read(now, Found{Attempt: a})
}

// Read reports what a read of the lease said, which is needed when the store refused a renewal: an earlier one, whose outcome was not
// known, may have been stored. What is out of date is ignored.
func (h *Holder) Read(now time.Time, f Found) error {
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
	h.stored, h.until = f.Attempt, start.Add(h.timing.TTL-h.timing.Early)
	for n := range h.begun {
		if n <= f.Number {
			delete(h.begun, n)
		}
	}
	return h.over(now)
}

// over ends a lease whose time is over, and says why it is over.
func (h *Holder) over(now time.Time) error {
	if h.ended == nil && h.stored.Number > 0 && !now.Before(h.until) {
		h.ended = ErrLapsed
	}
	return h.ended
}

// Check fails unless the lease is held.
func (h *Holder) Check(now time.Time) error {
	if err := h.over(now); err != nil {
		return err
	}
	if h.stored.Number == 0 {
		return ErrNotHeld
	}
	return nil
}

// End ends the lease, unless it has ended. ErrReleased is for a holder who stops by itself.
func (h *Holder) End(why error) {
	if h.ended == nil {
		h.ended = why
	}
}

// Until is when the lease ends, unless it is renewed; zero before it has begun.
func (h *Holder) Until() time.Time { return h.until }

// Revision is that of the last renewal that is known to be stored.
func (h *Holder) Revision() uint64 { return h.stored.Revision }

// String describes the holder, for tests and logs.
func (h *Holder) String() string {
	return fmt.Sprintf("renewal %d, revision %d, %d under way, ended: %v", h.stored.Number, h.stored.Revision, len(h.begun), h.ended)
}
