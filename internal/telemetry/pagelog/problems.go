package pagelog

import (
	"slices"
	"time"
)

// maxFailed limits the failed requests that wait to be read as problems.
const maxFailed = 100

// problems holds data for Problems in addition to the rings. The log's lock guards it.
type problems struct {
	// failed holds the last failed requests in their final state. count is the total number of failed requests.
	failed []Entry
	count  uint64
	// told, if not nil, is called when there may be a new problem.
	told func()
}

// note stores a request that failed.
func (p *problems) note(e *Entry) {
	if e.Kind = Network; !e.Problem() {
		return
	}
	if p.count++; len(p.failed) == maxFailed {
		p.failed = slices.Delete(p.failed, 0, maxFailed/2)
	}
	kept := *e
	kept.Source = nil // only the ring keeps details
	p.failed = append(p.failed, kept)
	p.notify()
}

func (p *problems) notify() {
	if p.told != nil {
		p.told()
	}
}

// Cursor is a position in the problems of a log. The zero value is the start.
type Cursor struct{ sequence, count uint64 }

// Problems returns the problems since a cursor, in the order in which they appeared, and the next cursor. If a page floods its log,
// Problems returns only the entries that the log still holds. Unlike Read, it does not move requests in the log.
func (l *Log) Problems(after Cursor) ([]Entry, Cursor) {
	l.mu.Lock()
	next := Cursor{l.last, l.problems.count}
	var lines []itemCopy
	for _, kind := range []Kind{Console, Failure} {
		items := l.rings[kind].items
		first := len(items)
		for first > 0 && items[first-1].sequence > after.sequence {
			first--
		}
		for _, it := range items[first:] {
			lines = append(lines, it.freeze(kind))
		}
	}
	fresh := min(next.count-min(after.count, next.count), uint64(len(l.problems.failed)))
	out := slices.Clone(l.problems.failed[uint64(len(l.problems.failed))-fresh:])
	l.mu.Unlock()
	for i := range lines { // entries are formatted without the lock
		if e := lines[i].entry(); e.Problem() {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return problemTime(a).Compare(problemTime(b)) })
	return out, next
}

// problemTime returns the time at which a problem appeared. A request fails when it ends.
func problemTime(e Entry) time.Time { return e.At.Add(e.Took) }

// OnProblem sets a function that is called when there may be a new result of Problems. It is called with the log's lock held, so it must
// not block or call the log. Only one function is set at a time; nil removes it.
func (l *Log) OnProblem(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems.told = f
}
