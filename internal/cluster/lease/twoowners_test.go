package lease_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
)

// world is a simulated cluster: one holder, some observers, and a store with compare-and-set. Messages take any time or are lost, reads may
// be stale, clocks run at different rates, and the holder is stopped now and then. Times are true times, in seconds.
type world struct {
	rand   *rand.Rand
	now    float64
	events []event
	// past contains all stored values, the newest last.
	past []value
	// died is the time at which the holder's process ended. ended is the time at which another node ended the lease.
	died, ended float64

	holder *lease.Holder
	// rate is the rate of the holder's clock.
	rate float64
	log  []string
}

type event struct {
	at float64
	do func()
}

type value struct {
	at               float64
	number, revision uint64
	gone             bool
}

func (w *world) after(seconds float64, do func()) {
	w.events = append(w.events, event{w.now + seconds, do})
}

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%8.3f ", w.now)+fmt.Sprintf(format, args...))
}

// delay returns how long a message takes. Some messages take very long, and some never arrive.
func (w *world) delay() float64 {
	switch n := w.rand.IntN(20); {
	case n == 0:
		return 1e9
	case n < 4:
		return 8 * w.rand.Float64()
	}
	return 0.05 * w.rand.Float64()
}

func (w *world) last() value { return w.past[len(w.past)-1] }

// put is the store's compare-and-set.
func (w *world) put(v value, revision uint64) (uint64, bool) {
	if w.last().revision != revision {
		return 0, false
	}
	v.at, v.revision = w.now, uint64(len(w.past))
	w.past = append(w.past, v)
	return v.revision, true
}

// read returns the value at a server, which may have been cut off for up to 11 seconds.
func (w *world) read() value {
	then := w.now
	if w.rand.IntN(3) == 0 {
		then -= 11 * w.rand.Float64()
	}
	i := len(w.past) - 1
	for i > 0 && w.past[i].at > then {
		i--
	}
	return w.past[i]
}

// clock returns the time on a clock with the given rate.
func (w *world) clock(rate float64) time.Time { return at(1000 + w.now*rate) }

// renew does what Renewer does every other second, under the worst circumstances.
func (w *world) renew() {
	if w.died > 0 {
		return
	}
	w.after(2/w.rate+stopped(w.rand), w.renew)
	a, err := w.holder.Begin(w.clock(w.rate))
	if err != nil {
		return
	}
	w.after(w.delay(), func() {
		revision, ok := w.put(value{number: a.Number}, a.Revision)
		w.logf("renewal %+v stored: %v", a, ok)
		w.after(w.delay(), func() {
			if ok {
				_ = w.holder.Stored(w.clock(w.rate), lease.Attempt{Number: a.Number, Revision: revision})
				return
			}
			v := w.read()
			_ = w.holder.Read(w.clock(w.rate), lease.ReadResult{Attempt: lease.Attempt{Number: v.number, Revision: v.revision}, Gone: v.gone})
		})
	})
}

// stopped returns how long a process is not scheduled.
func stopped(r *rand.Rand) float64 {
	if r.IntN(10) == 0 {
		return 20 * r.Float64()
	}
	return 0
}

// observe acts as a node that polls the lease and ends it when it has lapsed.
func (w *world) observe(o *lease.Observer, rate float64) {
	if w.ended > 0 {
		return
	}
	w.after(2/rate, func() { w.observe(o, rate) })
	if w.rand.IntN(8) > 0 { // now and then there is no answer
		v := w.read()
		w.after(w.delay(), func() { o.Observe("n", v.revision, w.clock(rate)) })
	}
	for _, s := range o.Silent(w.clock(rate), lease.Standard.Lapsed()) {
		w.after(w.delay(), func() {
			number := w.last().number
			if _, ok := w.put(value{number: number, gone: true}, s.Revision); ok {
				w.ended = w.now
				w.logf("revision %d, silent for %v, was the last one: the lease is ended", s.Revision, s.For)
			}
		})
	}
}

// run runs the world until the time end, and calls check after each event.
func (w *world) run(end float64, check func()) {
	for len(w.events) > 0 && w.now < end {
		next := slices.MinFunc(w.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		i := slices.IndexFunc(w.events, func(e event) bool { return e.at == next.at })
		w.events = slices.Delete(w.events, i, i+1)
		w.now = next.at
		next.do()
		check()
	}
}

// newWorld creates a world with clocks that are off by up to a twentieth.
func newWorld(seed uint64, observers int) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 1)), past: []value{{}}, holder: lease.NewHolder(lease.Standard)}
	w.rate = 0.95 + 0.1*w.rand.Float64()
	w.renew()
	for range observers {
		rate := 0.95 + 0.1*w.rand.Float64()
		o := &lease.Observer{Timing: lease.Standard}
		w.after(5*w.rand.Float64(), func() { w.observe(o, rate) })
	}
	return w
}

// When a lease has ended in the store, its holder is never valid again. So there are never two owners.
func TestThereAreNeverTwoOwners(t *testing.T) {
	ended, lived := 0, 0
	for seed := range uint64(3000) {
		w := newWorld(seed, 3)
		w.run(300, func() {
			if w.ended > 0 && w.holder.Check(w.clock(w.rate)) == nil {
				t.Fatalf("seed %d: the holder is valid after the end of its lease: %v\n%v", seed, w.holder, w.log)
			}
		})
		if w.ended > 0 {
			ended++
		}
		if len(w.past) > 30 {
			lived++
		}
	}
	if ended < 300 || lived < 300 {
		t.Errorf("of 3000 leases, %d were ended, and %d were renewed 30 times: the worlds are too easy, or too hard", ended, lived)
	}
}

// The lease of a dead holder is ended soon, once messages arrive.
func TestADeadHolderIsNoticed(t *testing.T) {
	for seed := range uint64(300) {
		w := newWorld(seed, 3)
		w.after(60*w.rand.Float64(), func() { w.died = w.now })
		w.run(300, func() {})
		if stored := w.last().at; w.ended == 0 || w.died > stored && w.ended-w.died > 80 {
			t.Errorf("seed %d: died at %.1f, ended at %.1f\n%v", seed, w.died, w.ended, w.log)
		}
	}
}
