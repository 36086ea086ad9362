// Package revisions keeps the way back from a tab's snapshot to earlier ones of the same document.
//
// A Log is immutable and safe for concurrent use; what it costs follows the changes, not the page. Callers owe snapshots that nobody
// writes to.
package revisions

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
)

// Log leads from a head's snapshot back to earlier ones of the same document, one step a revision. It is
// immutable: the next head's is a longer one, cut at its old end by count and by bytes. What it costs follows
// the changes, not the page.
type Log struct {
	steps []*step // oldest first
	bytes int
	// rebuilt remembers snapshots that were asked for, so that many readers who come back to one revision
	// share it.
	rebuilt *rebuilt
}

// step leads from a snapshot to the one before it.
type step struct {
	// before is that one, without its elements.
	before  dom.Snapshot
	splices []splice
	bytes   int
}

// splice says that `now` elements of the newer list at position `at` stand where the older list has `old`.
type splice struct {
	at, now int
	old     []*dom.Element
}

// Costs of what a log holds, in bytes: about what Go takes for them, as a heap profile shows it.
const (
	stepBytes    = 430
	spliceBytes  = 60
	elementBytes = 8 + 410 // a pointer, and an element that only the log holds, with its strings
)

// shortLog is how many bytes a log may always have. Beyond that it may take as much as the elements of its
// snapshot twice: who comes back after more has changed than that is served better by all of them (issue 7: a tab
// that never rests is to take less than 300 KB beside its DOM).
const shortLog = 96 << 10

// stepBack returns the step from a newer snapshot to an older one.
func stepBack(newer, older *dom.Snapshot) *step {
	s := &step{before: *older, splices: splices(newer.Elements, older.Elements), bytes: stepBytes}
	s.before.Elements = dom.List{}
	for _, one := range s.splices {
		s.bytes += spliceBytes + elementBytes*len(one.old)
	}
	return s
}

// splices compares two lists by the identity of their elements.
func splices(now, old dom.List) []splice {
	var out []splice
	for _, g := range dom.Gaps(old, now) {
		c := comparison{now: g.Now, old: g.Old}
		for i, j := 0, 0; i < len(c.now) || j < len(c.old); {
			if i < len(c.now) && j < len(c.old) && c.now[i] == c.old[j] {
				i, j = i+1, j+1
				continue
			}
			a, b := c.meet(i, j)
			out = append(out, splice{at: g.NowAt + i, now: a - i, old: slices.Clone(c.old[j:b])})
			i, j = a, b
		}
	}
	return out
}

// lookAhead is how far a comparison searches before it makes an index.
const lookAhead = 32

// comparison finds where two lists go on alike.
type comparison struct {
	now, old []*dom.Element
	// places is where the elements of old stand; made when looking ahead did not help.
	places map[*dom.Element]int
}

// meet returns the first places from i and j on where the lists go on alike, or their ends. It passes as few
// elements as it can see.
func (c *comparison) meet(i, j int) (int, int) {
	for n := 1; n <= lookAhead; n++ {
		switch { // n replaced, n inserted, n taken out
		case c.alike(i+n, j+n):
			return i + n, j + n
		case c.alike(i+n, j):
			return i + n, j
		case c.alike(i, j+n):
			return i, j + n
		}
	}
	if c.places == nil {
		c.places = make(map[*dom.Element]int, len(c.old))
		for at, e := range c.old {
			c.places[e] = at
		}
	}
	for a := i; a < len(c.now); a++ {
		if b, ok := c.places[c.now[a]]; ok && b >= j {
			return a, b
		}
	}
	return len(c.now), len(c.old)
}

// alike reports whether both lists have the same element at these places, or end there.
func (c *comparison) alike(i, j int) bool {
	if i < len(c.now) && j < len(c.old) {
		return c.now[i] == c.old[j]
	}
	return i == len(c.now) && j == len(c.old)
}

// back returns the elements before the step; it does not change those it is given.
func (s *step) back(elements []*dom.Element) []*dom.Element {
	if len(s.splices) == 0 {
		return elements
	}
	out := make([]*dom.Element, 0, len(elements)+len(s.splices))
	at := 0
	for _, one := range s.splices {
		out = append(out, elements[at:one.at]...)
		out = append(out, one.old...)
		at = one.at + one.now
	}
	return append(out, elements[at:]...)
}

// Limits bound a log: by revisions, and by bytes of what has changed since.
type Limits struct{ Count, Bytes int }

// Bytes is what the log counts against its bound.
func (l Log) Bytes() int { return l.bytes }

// With returns the log of the head that follows one of the snapshot older with that of newer.
func (l Log) With(newer, older *dom.Snapshot, lim Limits) Log {
	s := stepBack(newer, older)
	n := Log{steps: appended(l.steps, s), bytes: l.bytes + s.bytes, rebuilt: new(rebuilt)}
	most := min(lim.Bytes, max(shortLog, 2*elementBytes*newer.Elements.Len()))
	for len(n.steps) > 0 && (len(n.steps) > lim.Count || n.bytes > most) {
		n.bytes -= n.steps[0].bytes
		n.steps = n.steps[1:]
	}
	return n
}

// appended is append for the steps of the newest log: only that is ever made longer, so others see nothing of it. The array grows by an
// eighth at a time, because it holds the steps before the first one, too, until the next array.
func appended(steps []*step, s *step) []*step {
	if len(steps) == cap(steps) {
		steps = append(make([]*step, 0, len(steps)+len(steps)/8+2), steps...)
	}
	return append(steps, s)
}

// At returns the snapshot of an earlier revision than now's, nil when the log does not reach it.
func (l Log) At(now *dom.Snapshot, revision uint64) *dom.Snapshot {
	if len(l.steps) == 0 || revision < l.steps[0].before.Revision || revision >= now.Revision {
		return nil
	}
	return l.rebuilt.get(revision, func() *dom.Snapshot {
		elements := now.Elements.Slice()
		for _, s := range slices.Backward(l.steps) {
			elements = s.back(elements)
			if s.before.Revision == revision {
				found := s.before
				found.Elements = dom.ListOf(elements)
				return &found
			}
		}
		return nil
	})
}

// Last returns the newest earlier state of an element that is gone, nil when the log does not know it.
func (l Log) Last(ref dom.Ref) *dom.Element {
	for _, s := range slices.Backward(l.steps) {
		for _, one := range s.splices {
			for _, el := range one.old {
				if el.Ref == ref {
					return el
				}
			}
		}
	}
	return nil
}

// LastSeen returns the newest earlier state of an element that is gone, and the snapshot that had it; nil when the
// log does not know it.
func (l Log) LastSeen(now *dom.Snapshot, ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	el := l.Last(ref)
	if el == nil {
		return nil, nil
	}
	for _, s := range slices.Backward(l.steps) {
		for _, one := range s.splices {
			if slices.Contains(one.old, el) {
				return el, l.At(now, s.before.Revision)
			}
		}
	}
	return nil, nil
}

// maxRebuilt is how many rebuilt snapshots a head keeps.
const maxRebuilt = 4

// rebuilt is the one part of a head that grows; it may be used from any goroutine.
type rebuilt struct {
	mu    sync.Mutex
	known []*dom.Snapshot
}

func (r *rebuilt) get(revision uint64, build func() *dom.Snapshot) *dom.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.known {
		if s.Revision == revision {
			return s
		}
	}
	s := build()
	if len(r.known) == maxRebuilt {
		r.known = r.known[1:]
	}
	r.known = append(r.known, s)
	return s
}

// OneChange is what a log takes for a revision in which one element changed, in bytes.
const OneChange = stepBytes + spliceBytes + elementBytes
