package lease_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
)

var zero = time.Now()

// at returns the time a number of seconds after the start of a test.
func at(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }

// begin starts a renewal and requires that it equals expected.
func begin(t *testing.T, h *lease.Holder, seconds float64, expected lease.Attempt) {
	t.Helper()
	if a, err := h.Begin(at(seconds)); err != nil || a != expected {
		t.Fatalf("at %v: got %+v, %v; want %+v", seconds, a, err, expected)
	}
}

func check(t *testing.T, h *lease.Holder, seconds float64, want error) {
	t.Helper()
	if err := h.Check(at(seconds)); !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("at %v: %v, want %v (%v)", seconds, err, want, h)
	}
}

func stored(number, revision uint64) lease.ReadResult {
	return lease.ReadResult{Attempt: lease.Attempt{Number: number, Revision: revision}}
}

// held returns a holder whose first renewal started at 0 and was stored with revision 10.
func held(t *testing.T) *lease.Holder {
	t.Helper()
	h := lease.NewHolder(lease.Standard)
	begin(t, h, 0, lease.Attempt{Number: 1})
	if err := h.Read(at(1), stored(1, 10)); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestALeaseBeginsWithItsFirstStoredRenewal(t *testing.T) {
	h := lease.NewHolder(lease.Standard)
	check(t, h, 0, lease.ErrNotHeld)
	begin(t, h, 0, lease.Attempt{Number: 1})
	check(t, h, 1, lease.ErrNotHeld)
	if err := h.Stored(at(1), lease.Attempt{Number: 1, Revision: 10}); err != nil {
		t.Fatal(err)
	}
	check(t, h, 1, nil)
	if h.Revision() != 10 || !h.Until().Equal(at(13)) {
		t.Errorf("revision %d until %v: %v", h.Revision(), h.Until().Sub(zero), h)
	}
}

func TestALeaseCountsFromTheStartOfItsRenewal(t *testing.T) {
	h := held(t)
	begin(t, h, 2, lease.Attempt{Number: 2, Revision: 10})
	if err := h.Read(at(9), stored(2, 11)); err != nil { // seven seconds in flight
		t.Fatal(err)
	}
	check(t, h, 14.999, nil)
	check(t, h, 15, lease.ErrLapsed)
}

func TestALeaseThatLapsedIsNotRenewed(t *testing.T) {
	h := held(t)
	begin(t, h, 12, lease.Attempt{Number: 2, Revision: 10})
	if err := h.Read(at(13), stored(2, 11)); !errors.Is(err, lease.ErrLapsed) { // too late, although the renewal was stored
		t.Errorf("got %v", err)
	}
	check(t, h, 13, lease.ErrLapsed)
	check(t, h, 12, lease.ErrLapsed) // an expired lease stays expired
	if a, err := h.Begin(at(14)); !errors.Is(err, lease.ErrLapsed) {
		t.Errorf("it began renewal %+v, %v", a, err)
	}
}

// The first renewal may take so long that the lease has expired when its holder learns of it.
func TestALeaseMayBeOverBeforeItsHolderHasIt(t *testing.T) {
	h := lease.NewHolder(lease.Standard)
	begin(t, h, 0, lease.Attempt{Number: 1})
	if err := h.Read(at(13), stored(1, 10)); !errors.Is(err, lease.ErrLapsed) {
		t.Errorf("got %v", err)
	}
}

// A read finds a renewal with an unknown outcome after the store has refused the next renewal.
func TestARenewalThatWasStoredWithoutAnAnswer(t *testing.T) {
	h := held(t)
	begin(t, h, 2, lease.Attempt{Number: 2, Revision: 10}) // no answer
	begin(t, h, 4, lease.Attempt{Number: 3, Revision: 10}) // refused
	if err := h.Read(at(5), stored(2, 11)); err != nil {
		t.Fatal(err)
	}
	check(t, h, 14.9, nil) // counted from the start of renewal 2
	begin(t, h, 5, lease.Attempt{Number: 4, Revision: 11})
	if err := h.Read(at(6), stored(4, 12)); err != nil {
		t.Fatal(err)
	}
	check(t, h, 17.9, nil)
	check(t, h, 18, lease.ErrLapsed)
}

func TestWhatIsOutOfDateIsIgnored(t *testing.T) {
	h := held(t)
	begin(t, h, 2, lease.Attempt{Number: 2, Revision: 10})
	begin(t, h, 4, lease.Attempt{Number: 3, Revision: 10})
	if err := h.Read(at(5), stored(3, 12)); err != nil {
		t.Fatal(err)
	}
	for _, old := range []lease.ReadResult{stored(1, 10), stored(2, 11), {}, stored(77, 5)} {
		if err := h.Read(at(6), old); err != nil || h.Revision() != 12 || !h.Until().Equal(at(17)) {
			t.Errorf("after %+v: %v, %v", old, err, h)
		}
	}
}

func TestALeaseThatAnotherNodeEndedIsOver(t *testing.T) {
	h := held(t)
	begin(t, h, 2, lease.Attempt{Number: 2, Revision: 10})
	if err := h.Read(at(3), lease.ReadResult{Attempt: lease.Attempt{Number: 1, Revision: 12}, Gone: true}); !errors.Is(err, lease.ErrTaken) {
		t.Errorf("got %v", err)
	}
	check(t, h, 3, lease.ErrTaken)
	h.End(lease.ErrReleased)
	check(t, h, 3, lease.ErrTaken)
}

func TestAReleasedLeaseIsOver(t *testing.T) {
	h := held(t)
	h.End(lease.ErrReleased)
	check(t, h, 1, lease.ErrReleased)
	if err := h.Read(at(2), lease.ReadResult{Gone: true}); !errors.Is(err, lease.ErrReleased) {
		t.Errorf("got %v", err)
	}
}

func TestAnObserverCountsFromTheFirstSightOfARevision(t *testing.T) {
	o := lease.Observer{Timing: lease.Standard}
	o.Observe("a", 10, at(0))
	o.Observe("b", 11, at(1))
	o.Observe("a", 10, at(5))
	o.Observe("b", 12, at(6))
	silent := func(seconds float64, least time.Duration) []lease.Silent { return o.Silent(at(seconds), least) }
	if got := silent(16.9, lease.Standard.Lapsed()); got != nil {
		t.Errorf("too early: %v", got)
	}
	if got, want := silent(17, lease.Standard.Lapsed()), []lease.Silent{{Key: "a", Revision: 10, For: 17 * time.Second}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := silent(17, lease.Standard.SuspectAfter()); len(got) != 2 || got[0].Key != "a" || got[1].Revision != 12 {
		t.Errorf("suspects are %v", got)
	}
	o.Observe("a", 0, at(17)) // the entry has been removed, which is a change
	o.Forget("b")
	if got := silent(30, lease.Standard.Lapsed()); got != nil {
		t.Errorf("after changes: %v", got)
	}
	if got, want := silent(34, 0), []lease.Silent{{Key: "a", Revision: 0, For: 17 * time.Second}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
