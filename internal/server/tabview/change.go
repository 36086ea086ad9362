package tabview

import (
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
)

// The reasons for a whole view instead of a diff, named as in the API.
const (
	FirstCall     = "first_call"
	TooOld        = "revision_too_old"
	Unknown       = "revision_unknown"
	EpochChanged  = "epoch_changed"
	ViewChanged   = "view_changed"
	MostlyChanged = "mostly_changed"
	Navigated     = "navigated"
)

const (
	// maxChanges limits the changes to one view that are kept for sharing.
	maxChanges = 16
	// smallView is the number of elements below which a diff is always used.
	smallView = 10
)

// Change is the change from one view to another of the same selection.
type Change struct {
	// Diff is the difference between the revisions of the two views.
	Diff diff.Diff
	// MostlyChanged reports that more than 70% differs, so that the diff is no better than the whole view.
	MostlyChanged bool

	once    sync.Once
	message *domtapv1.Diff

	print, printDense sync.Once
	lines, dense      string

	encoded encodings
}

// Since returns the change from an earlier view of the same selection to this one.
func (v *View) Since(from *View) *Change {
	c := v.changeFrom(from.Point())
	c.once.Do(func() {
		c.Diff = messages.Visible(diff.Between(from.view.Elements, v.view.Elements))
		c.Diff.From, c.Diff.To = from.Snapshot.Revision, v.Snapshot.Revision
		c.message = messages.Diff(c.Diff, 0)
		messages.DiffWithin(c.message, v.contexts.in(c.Diff))
		c.MostlyChanged = mostlyChanged(c.Diff, from.view.Elements.Len(), v.view.Elements.Len())
	})
	return c
}

// changeFrom returns the Change from a point. Callers with the same point share it, so that it is computed once.
func (v *View) changeFrom(from Point) *Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c := v.changes[from]; c != nil {
		return c
	}
	if v.changes == nil || len(v.changes) >= maxChanges {
		v.changes = map[Point]*Change{}
	}
	c := new(Change)
	v.changes[from] = c
	return c
}

// Message returns the diff with the caller's revision numbers.
func (c *Change) Message(from, to uint64) *domtapv1.Diff {
	m := c.message
	return &domtapv1.Diff{
		FromRevision: from, ToRevision: to,
		Added: m.Added, Removed: m.Removed, Changed: m.Changed, Moved: m.Moved,
		AddedCount: m.AddedCount, RemovedCount: m.RemovedCount, ChangedCount: m.ChangedCount,
	}
}

// Text returns the diff in the format DIFF.
func (c *Change) Text() string {
	c.print.Do(func() { c.lines = compact.Diff(c.Diff) })
	return c.lines
}

// Dense returns the diff in the format DENSE_DIFF. The two views must be those that were compared.
func (c *Change) Dense(from, to *View) string {
	c.printDense.Do(func() { c.dense = dense.Changes{From: from.denseSide(), To: to.denseSide(), Diff: c.Diff}.Text() })
	return c.dense
}

// mostlyChanged reports whether more than 70% of two views differ. It returns false for small views, whose diffs are always cheap.
func mostlyChanged(d diff.Diff, old, now int) bool {
	if max(old, now) < smallView {
		return false
	}
	differ := len(d.Added) + len(d.Removed) + 2*len(d.Changed)
	return 10*differ > 7*(old+now)
}

// ViewAt returns the view of an earlier revision, or the reason why there is none.
func (t *Tab) ViewAt(head *actor.Head, sel Selection, to Point) (from *View, resync string) {
	switch now := head.Snapshot; {
	case to.Epoch != now.Epoch:
		return nil, EpochChanged
	case to.Revision > now.Revision:
		return nil, Unknown
	}
	s := head.At(to.Revision)
	if s == nil {
		return nil, TooOld
	}
	from, err := t.At(head, s, sel)
	if err != nil {
		// The root or the frame did not exist yet: there is no view to compare with.
		return nil, ViewChanged
	}
	return from, ""
}
