package actor

import (
	"slices"
	"time"
)

// lastRead is what the last read found, for callers to whom that is young enough (ReadOptions.MaxAge).
type lastRead struct {
	reading Reading
	// options is what was read; at is when the page was asked, so that the answer is younger.
	options ReadOptions
	at      time.Time
}

// keepRead keeps a reading. Only the tab's goroutine calls it.
func (t *Tab) keepRead(r Reading, options ReadOptions, at time.Time) {
	t.lastRead.Store(&lastRead{reading: r, options: options, at: at})
}

// ready returns what the last read found when that is enough: no older than MaxAge, of the document that the tab shows,
// and all that is asked for. It says nothing for a tab that has crashed, ended, or is behind a dialog.
func (t *Tab) ready(o ReadOptions) (Reading, bool) {
	if o.MaxAge <= 0 || t.ctx.Err() != nil || t.back.away() {
		return Reading{}, false
	}
	r, head := t.lastRead.Load(), t.head.Load()
	switch {
	case r == nil || time.Since(r.at) > o.MaxAge || !r.options.covers(o):
		return Reading{}, false
	case head.Info.Status == StatusCrashed || head.Info.Dialog != nil:
		return Reading{}, false
	case head.Snapshot.Epoch != r.reading.Head.Snapshot.Epoch || head.Snapshot.Document != r.reading.Head.Snapshot.Document:
		return Reading{}, false
	}
	if !o.Geometry { // boxes go with one snapshot; without them the newest serves, which a watched page keeps up to date
		return Reading{Head: head, Late: r.reading.Late, Mark: r.reading.Mark}, true
	}
	return r.reading, true
}

// covers reports whether who asked for o has what other asks for.
func (o ReadOptions) covers(other ReadOptions) bool {
	for _, name := range other.Attributes {
		if !slices.Contains(o.Attributes, name) {
			return false
		}
	}
	return (o.Structural || !other.Structural) && (o.Geometry || !other.Geometry)
}
