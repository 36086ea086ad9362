// Package revisions reconstructs earlier snapshots of a document from the current snapshot of a tab.
//
// A Log is immutable and safe for concurrent use. Its cost depends on the size of the changes, not of the page. Callers must not modify the
// snapshots that they pass.
package revisions

import (
	"slices"
	"sync"

	"github.com/domtap/domtap/dom"
)

// Log leads from a head's snapshot back to earlier snapshots of the same document, with one step per revision. It is immutable: the log of
// the next head has an additional step, and drops the oldest steps that exceed its limits on count and bytes.
type Log struct {
	steps []*step // oldest first
	bytes int
	// rebuilt caches reconstructed snapshots, so that several readers of one revision share it.
	rebuilt *rebuilt
}

// step leads from a snapshot to the previous one.
type step struct {
	// before is the previous snapshot without its elements.
	before  dom.Snapshot
	splices []splice
	bytes   int
}

// splice records that the `now` elements at position `at` of the newer list correspond to the elements `old` of the older list.
type splice struct {
	at, now int
	old     []*dom.Element
}

// Approximate costs of the parts of a log in bytes, as seen in heap profiles.
const (
	stepBytes    = 430
	spliceBytes  = 60
	elementBytes = 8 + 410 // a pointer, and an element with its strings that only the log references
)

// shortLog is the number of bytes that a log may always use. Beyond that it may use twice the size of the elements of its snapshot: a
// reader that has missed more changes than that is better served by the full list of elements (issue 7: a constantly changing tab must use
// less than 300 KB beside its DOM).
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

// lookAhead limits how far a comparison searches before it creates an index.
const lookAhead = 32

// comparison finds where two lists continue with the same elements.
type comparison struct {
	now, old []*dom.Element
	// places maps the elements of old to their positions. It is created when looking ahead fails.
	places map[*dom.Element]int
}

// meet returns the first positions at or after i and j where the lists continue with the same elements, or their ends. It skips as few
// elements as it can see.
func (c *comparison) meet(i, j int) (int, int) {
	for n := 1; n <= lookAhead; n++ {
		switch { // n replaced, n inserted, n removed
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

// alike reports whether both lists have the same element at these positions, or both end there.
func (c *comparison) alike(i, j int) bool {
	if i < len(c.now) && j < len(c.old) {
		return c.now[i] == c.old[j]
	}
	return i == len(c.now) && j == len(c.old)
}

// back returns the elements before the step. It does not modify its argument.
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

// Limits bounds a log by the number of revisions and by the bytes of their changes.
type Limits struct{ Count, Bytes int }

// Bytes returns the size of the log, as counted against its limit.
func (l Log) Bytes() int { return l.bytes }

// With returns the log of the head with the snapshot newer, which follows the head with the snapshot older.
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

// appended appends a step to the newest log. Older logs share the array, but do not see the new step, because only the newest log is ever
// extended. The array grows by only an eighth at a time, because it also retains the dropped steps until it is replaced.
func appended(steps []*step, s *step) []*step {
	if len(steps) == cap(steps) {
		steps = append(make([]*step, 0, len(steps)+len(steps)/8+2), steps...)
	}
	return append(steps, s)
}

// At returns the snapshot of a revision before current, or nil if the log does not reach that far.
func (l Log) At(current *dom.Snapshot, revision uint64) *dom.Snapshot {
	if len(l.steps) == 0 || revision < l.steps[0].before.Revision || revision >= current.Revision {
		return nil
	}
	return l.rebuilt.get(revision, func() *dom.Snapshot {
		elements := current.Elements.Slice()
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

// Last returns the last state of an element that is gone, or nil if the log does not have it.
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

// LastSeen returns the last state of an element that is gone, and the snapshot that contained it. It returns nil if the log does not have
// the element.
func (l Log) LastSeen(current *dom.Snapshot, ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	el := l.Last(ref)
	if el == nil {
		return nil, nil
	}
	for _, s := range slices.Backward(l.steps) {
		for _, one := range s.splices {
			if slices.Contains(one.old, el) {
				return el, l.At(current, s.before.Revision)
			}
		}
	}
	return nil, nil
}

// maxRebuilt limits how many reconstructed snapshots a head keeps.
const maxRebuilt = 4

// rebuilt is the only mutable part of a head. It is safe for concurrent use.
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

// OneChange is the size of a revision in which one element changed, in bytes.
const OneChange = stepBytes + spliceBytes + elementBytes
