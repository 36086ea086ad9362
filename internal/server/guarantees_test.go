package server

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/domtap/domtap/internal/streamcheck"
)

// The six guarantees of WatchDom (dom.proto), each tested on the same recorded histories of random schedules.

// schedules is the number of random schedules to play. For a longer search, run: go test ./internal/server -run Guarantee -schedules 500.
var schedules = flag.Int("schedules", usualSchedules(), "how many random schedules the guarantees of WatchDom are tested on")

// usualSchedules returns the default number of schedules, which is larger in make test-long. Package testenv cannot be used here, because
// it imports this package.
func usualSchedules() int {
	if os.Getenv("DOMTAP_LONG") != "" {
		return 40
	}
	return 6
}

// logged is the number of revisions that the log of every other schedule keeps. It is small, so that many readers resume too late.
const logged = 24

var played struct {
	sync.Mutex
	histories []*streamcheck.History
}

// eachHistory judges every recorded history. The first call records them.
func eachHistory(t *testing.T, judge func(*streamcheck.History) []error) {
	t.Helper()
	played.Lock()
	defer played.Unlock()
	for len(played.histories) < *schedules {
		playNext(t)
	}
	for seed, h := range played.histories {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { wantNone(t, judge(h)) })
	}
}

// playNext records one more history. The caller holds played.
func playNext(t *testing.T) *streamcheck.History {
	n := len(played.histories)
	log := 1024
	if n%2 == 1 {
		log = logged
	}
	h := play(t, uint64(n), stepsOf(), log)
	played.histories = append(played.histories, h)
	return h
}

func stepsOf() int {
	if testing.Short() {
		return 50
	}
	return 200
}

func TestGuarantee1Converges(t *testing.T) { eachHistory(t, (*streamcheck.History).Converges) }

func TestGuarantee2OrderedWithoutGaps(t *testing.T) { eachHistory(t, (*streamcheck.History).Ordered) }

func TestGuarantee3Atomic(t *testing.T) {
	eachHistory(t, func(h *streamcheck.History) []error { return h.Atomic(pair) })
}

func TestGuarantee4NeverDropsNeverBlocks(t *testing.T) {
	eachHistory(t, (*streamcheck.History).NeverDropsNeverBlocks)
}

func TestGuarantee5Resumable(t *testing.T) { eachHistory(t, (*streamcheck.History).Resumable) }

func TestGuarantee6EndsWithAReason(t *testing.T) {
	eachHistory(t, (*streamcheck.History).EndsWithAReason)
}

// census counts events in the histories, to ensure that the guarantees are tested in all situations.
type census struct {
	states, messages, folds, missed int
	events, resyncs, endings        map[string]int
}

func (c *census) count(h *streamcheck.History) {
	c.states += len(h.States)
	for _, r := range h.Readers {
		for _, m := range r.Messages {
			c.messages++
			if h.Missed(m.Point()) {
				c.missed++
			}
			if m.GetCoalesced() > 1 {
				c.folds++
			}
			if resync := m.GetResync(); resync != nil {
				c.resyncs[resync.GetReason()]++
			}
			c.events[fmt.Sprintf("%T", m.GetEvent())]++
		}
		end := r.End.Code + " " + r.End.Reason
		if r.End.Cut {
			end = "cut"
		}
		if r.From != nil {
			c.events["resumed"]++
		}
		c.endings[end]++
	}
}

// absent lists the events that did not occur in the histories so far.
func (c *census) absent() []string {
	var out []string
	for what, ok := range map[string]bool{
		"states": c.states > 1000, "messages": c.messages > 3000, "folds": c.folds > 300, "all are verified": c.missed*100 < c.messages,
		"every event": len(c.events) == 7,
	} {
		if !ok {
			out = append(out, what)
		}
	}
	for _, reason := range []string{"navigated", "epoch_changed", "mostly_changed", "revision_too_old"} {
		if c.resyncs[reason] == 0 {
			out = append(out, "a resync because of "+reason)
		}
	}
	for _, end := range []string{"cut", "OK ", "Unavailable PAGE_LOST", "DeadlineExceeded SLOW_READER", "FailedPrecondition STALE_REF", "NotFound NOT_FOUND"} {
		if c.endings[end] == 0 {
			out = append(out, "a stream that ends with "+end)
		}
	}
	slices.Sort(out)
	return out
}

// The schedules must cause every event that the guarantees mention. The events of a seed also depend on the order in which goroutines run.
// If the usual schedules miss a rare event, more schedules are played and judged.
func TestSchedulesAreNotTame(t *testing.T) {
	if testing.Short() {
		t.Skip("short schedules need not meet everything")
	}
	c := census{events: map[string]int{}, resyncs: map[string]int{}, endings: map[string]int{}}
	eachHistory(t, func(h *streamcheck.History) []error { c.count(h); return nil })
	played.Lock()
	defer played.Unlock()
	for n := 0; n < 50 && len(c.absent()) > 0; n++ {
		t.Logf("one more schedule, for %q", c.absent())
		h := playNext(t)
		c.count(h)
		wantNone(t, judgeAll(h))
	}
	t.Logf("%+v", c)
	for _, what := range c.absent() {
		t.Errorf("no schedule brought about: %s", what)
	}
}

// judgeAll judges a history by all six guarantees.
func judgeAll(h *streamcheck.History) []error {
	return slices.Concat(h.Converges(), h.Ordered(), h.Atomic(pair), h.NeverDropsNeverBlocks(), h.Resumable(), h.EndsWithAReason())
}
