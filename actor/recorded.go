package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/dom"
)

// Moment identifies a point in a recording. The zero value is the recording's current position.
type Moment struct {
	// Time is a time by the clock of the recording daemon.
	Time time.Time
	// Revision, if not 0, selects a revision of the tab. Epoch is its epoch; if empty, the newest epoch with this revision is used.
	Revision uint64
	Epoch    string
}

// RecordedStates provides the states of a tab from a recording. Its methods are safe for concurrent use.
type RecordedStates interface {
	// State returns the state at a moment. It fails with an *apierr.Error of kind NotFound for a moment outside the recording.
	State(at Moment) (Published, error)
	// Snapshot returns the snapshot of a revision, or nil if there is none.
	Snapshot(epoch string, revision uint64) *dom.Snapshot
}

// NewRecorded creates a tab from a recording. It can be read and followed at any moment; all other calls fail with an *apierr.Error of kind
// ReadOnly. It has no page, and ends at the latest when ctx ends.
func NewRecorded(ctx context.Context, first Published, past RecordedStates, o Options, owner Owner) *Control {
	o.ID, o.Session = first.Info.ID, first.Info.Session
	c := newTab(ctx, new(absent), o.withDefaults(), first.Refs, owner)
	c.loop = nil
	c.tab.past = past
	c.SetCurrent(first)
	c.Show()
	return c
}

// SetCurrent sets the current state of a recorded tab.
func (c *Control) SetCurrent(at Published) {
	old := c.tab.head.Swap(recorded{c.tab}.headOf(at))
	close(old.next)
}

// recorded implements the calls of a recorded tab.
type recorded struct{ *Tab }

// headOf returns a head for a state.
func (t recorded) headOf(s Published) *Head {
	h := &Head{Snapshot: s.Snapshot, Info: s.Info, next: make(chan struct{}), refs: s.Refs, past: t.past}
	h.notices = appendNotices(nil, s.Notices)
	return h
}

// runRecorded implements Run for a recorded tab.
func (c *Control) runRecorded() {
	t := c.tab
	<-t.ctx.Done()
	if cause := context.Cause(t.ctx); cause != ErrClosed {
		t.err = t.ended()
	}
	last := *t.head.Load()
	last.Info.Status, last.next = StatusClosed, make(chan struct{})
	close(last.next)
	old := t.head.Swap(&last)
	close(t.done)
	close(old.next)
	t.owner.Report(TabEvent{Kind: TabClosed, Info: last.Info, At: time.Now()})
}

// read implements Tab.Read.
func (t recorded) read(o ReadOptions) (Reading, error) {
	if t.ctx.Err() != nil {
		return Reading{}, t.ended()
	}
	head := t.head.Load()
	if o.At != (Moment{}) {
		state, err := t.past.State(o.At)
		if err != nil {
			return Reading{}, err
		}
		head = t.headOf(state)
	}
	return Reading{Head: head, Structural: true}, nil
}

// rejectPast returns an error for calls that need a page on a recorded tab, and for past moments on a live tab.
func rejectPast(t *Tab, at Moment) error {
	switch {
	case t.past != nil:
		return ReadOnly("tab " + t.id)
	case at != (Moment{}):
		return apierr.Errorf(apierr.NoReplay, "tab %s is live and has no past states: leave out at, or record the tab and replay the recording (domtap record, domtap replay)", t.id)
	}
	return nil
}

// ReadOnly returns the error for calls that need a page when there is only a recording.
func ReadOnly(what string) error {
	return apierr.Errorf(apierr.ReadOnly, "%s is a recording and can only be read: open the page in a daemon with a browser (domtap open URL)", what)
}

// follow implements Tab.Follow. The heads of a recorded tab need no page.
func (t recorded) follow(o WatchOptions) *Following {
	return &Following{tab: t.Tab, watch: observation.NewWatch(o)}
}
