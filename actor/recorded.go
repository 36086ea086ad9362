package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/dom"
)

// Moment is a time of a recording. The zero value is the time that the recording stands at.
type Moment struct {
	// Time is when, by the clock of the daemon that recorded.
	Time time.Time
	// Revision, if not 0, is a revision of the tab; Epoch is its epoch, or empty for the newest one that has it.
	Revision uint64
	Epoch    string
}

// Past has the states of a tab that is read from a recording. Its methods are safe for concurrent use.
type Past interface {
	// State returns the state of a moment. It fails with an *apierr.Error of kind NotFound for one that the recording does not have.
	State(at Moment) (Published, error)
	// Snapshot returns the snapshot of a revision; nil: there is none.
	Snapshot(epoch string, revision uint64) *dom.Snapshot
}

// NewRecorded makes a tab of a recording: it can be read and followed at any moment, and fails everything else with an *apierr.Error of
// kind ReadOnly. It has no page. It ends at the latest when ctx does.
func NewRecorded(ctx context.Context, first Published, past Past, o Options, owner Owner) *Control {
	o.ID, o.Session = first.Info.ID, first.Info.Session
	c := newTab(ctx, new(absent), o.withDefaults(), first.Refs, owner)
	c.loop = nil
	c.tab.past = past
	c.Stand(first)
	c.Show()
	return c
}

// Stand makes a state of a recorded tab the one that it stands at.
func (c *Control) Stand(at Published) {
	old := c.tab.head.Swap(recorded{c.tab}.headOf(at))
	close(old.next)
}

// recorded is a tab as one of a recording.
type recorded struct{ *Tab }

// headOf makes the head of a state.
func (t recorded) headOf(s Published) *Head {
	h := &Head{Snapshot: s.Snapshot, Info: s.Info, next: make(chan struct{}), refs: s.Refs, past: t.past}
	h.noticed = noticed(nil, s.Noticed)
	return h
}

// runRecorded is Run for a recorded tab.
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

// read is Tab.Read.
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

// refusePast fails what needs a page on a recorded tab, and moments of the past on any other.
func refusePast(t *Tab, at Moment) error {
	switch {
	case t.past != nil:
		return ReadOnly("tab " + t.id)
	case at != (Moment{}):
		return apierr.Errorf(apierr.NoReplay, "tab %s is a live one, and shows what is now: leave out at, or record the tab and replay it (domtap record, domtap replay)", t.id)
	}
	return nil
}

// ReadOnly is the error of what needs a page, where there is only a recording.
func ReadOnly(what string) error {
	return apierr.Errorf(apierr.ReadOnly, "%s is a recording, which can only be read: open the page in a daemon with a browser (domtap open URL)", what)
}

// follow is Tab.Follow: the heads are what they are.
func (t recorded) follow(o WatchOptions) *Following {
	return &Following{tab: t.Tab, watch: observation.NewWatch(o)}
}
