package pagelog

import (
	"slices"
	"time"
)

// maxFailed bounds the requests that ended badly and wait to be read as problems.
const maxFailed = 100

// problems are what Problems reads beside the rings. The log's lock guards it.
type problems struct {
	// failed holds the last requests that ended badly, as they ended; count is how many there were.
	failed []Entry
	count  uint64
	// told is called when there may be a problem; nil: nobody waits.
	told func()
}

// note keeps a request that ended badly.
func (p *problems) note(e *Entry) {
	if e.Kind = Network; !e.Problem() {
		return
	}
	if p.count++; len(p.failed) == maxFailed {
		p.failed = slices.Delete(p.failed, 0, maxFailed/2)
	}
	kept := *e
	kept.Source = nil // the details are the ring's
	p.failed = append(p.failed, kept)
	p.tell()
}

func (p *problems) tell() {
	if p.told != nil {
		p.told()
	}
}

// Cursor says which problems of a log were read. The zero value: none.
type Cursor struct{ sequence, count uint64 }

// Problems returns the problems since a cursor in the order in which they showed, and the next cursor. Of what a page floods it
// returns what the log still holds. Unlike Read it leaves requests where they are in the log.
func (l *Log) Problems(after Cursor) ([]Entry, Cursor) {
	l.mu.Lock()
	next := Cursor{l.last, l.problems.count}
	var lines []frozen
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
	for i := range lines { // formatted without the lock
		if e := lines[i].entry(); e.Problem() {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return showed(a).Compare(showed(b)) })
	return out, next
}

// showed is when a problem showed: a request fails when it ends.
func showed(e Entry) time.Time { return e.At.Add(e.Took) }

// OnProblem has a function called when there may be a problem that Problems returns, with the log's lock held. It must not wait, nor
// call the log. There is one at a time; nil: none.
func (l *Log) OnProblem(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems.told = f
}
