package reading

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/telemetry/usage"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

// Request is implemented by GetDomRequest and GetCompactRequest.
type Request interface {
	tabview.Request
	GetTabId() string
	GetClientId() string
	GetIncremental() bool
	GetEpoch() string
	GetCursor() string
	GetIncludeGeometry() bool
	GetMaxAge() *durationpb.Duration
	GetAt() *domtapv1.Moment
	GetObserveOnly() bool
}

// Snapshot is the state of a tab for one call, and the change since the caller's previous read.
type Snapshot struct {
	tab  tabview.Page
	head *actor.Head
	sel  tabview.Selection
	// View is the selected view. Next is the cursor of the rest, or empty if nothing is left.
	View  *tabview.View
	Next  string
	boxes *tabview.BoxedView // nil if the request wants none
	late  []dom.FrameID      // frames that did not answer in time
	// change leads from an earlier view to View. It is nil if the request wants no changes, or if resync gives the reason why there is no
	// diff.
	change *tabview.Change
	from   tabview.Seen
	resync string
	// byCost reports that a diff is sent whenever it costs less than the view, regardless of how much has changed.
	byCost bool
}

// isDenseDiff reports whether the format of a request is DENSE_DIFF.
func isDenseDiff(r Request) bool {
	compact, ok := r.(*domtapv1.GetCompactRequest)
	return ok && compact.GetFormat() == domtapv1.Format_FORMAT_DENSE_DIFF
}

// Snapshot reads the tab and computes the selected view. since is the request's since_revision.
func (c *Reader) Snapshot(ctx context.Context, r Request, since *uint64, boxes bool) (*Snapshot, error) {
	if r.GetObserveOnly() {
		return c.observe(ctx, r)
	}
	tab, err := c.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	sel := tabview.SelectionOf(r)
	wanted := sel.Read(boxes)
	wanted.MaxAge, wanted.At = r.GetMaxAge().AsDuration(), c.Moment(r.GetAt())
	shared := c.Views.Of(tab)
	reading, now, err := c.look(ctx, tab, r, wanted)
	if err == nil && !reading.Structural {
		if r.GetIncremental() || since != nil {
			shared.Followed.Record(shared.LastState(connections.Caller(ctx, r.GetClientId())).Snapshot, now.Snapshot)
		}
		if tabview.Ambiguous(now) && !shared.Followed.Follows(now.Snapshot) {
			wanted.Structural = true // the contexts that distinguish elements come from structural elements
			reading, now, err = c.look(ctx, tab, r, wanted)
		}
	}
	if err != nil {
		return nil, err
	}
	s := &Snapshot{tab: tab, head: reading.Head, sel: sel, View: now, Next: shared.Next(now), late: reading.Late}
	shared.Sent(now, connections.Named(ctx, r.GetClientId()))
	defer s.account(ctx, shared, r.GetCursor() != "")
	seen := tabview.Seen{View: now, Mark: reading.Mark}
	if boxes {
		s.boxes = now.WithBoxes(reading.Layout)
		seen.Boxes = s.boxes.Boxes
	}
	if r.GetCursor() != "" {
		// A part of a view is not a baseline for later diffs.
		return s, nil
	}
	s.compareWithBaseline(ctx, r, since, shared, seen)
	return s, nil
}

// observe reads a tab, or its local copy, for a caller that must leave no trace. It records only the cost of the call.
func (c *Reader) observe(ctx context.Context, r Request) (*Snapshot, error) {
	source, err := c.Source(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	sel := tabview.SelectionOf(r)
	s := &Snapshot{tab: source, head: source.Head(), sel: sel}
	if tab, here := source.(*actor.Tab); here {
		wanted := sel.Read(false)
		wanted.MaxAge, wanted.At = r.GetMaxAge().AsDuration(), c.Moment(r.GetAt())
		reading, err := tab.Read(ctx, wanted)
		if err != nil {
			return nil, err
		}
		s.head, s.late = reading.Head, reading.Late
	}
	shared := c.Views.Of(source)
	if s.View, err = shared.At(s.head, s.head.Snapshot, sel); err != nil {
		return nil, err
	}
	s.boxes = s.View.WithBoxes(nil)
	s.account(ctx, shared, false)
	return s, nil
}

// look reads the tab once and computes the selected view.
func (c *Reader) look(ctx context.Context, tab *actor.Tab, r Request, wanted actor.ReadOptions) (reading actor.Reading, now *tabview.View, err error) {
	if reading, err = tab.Read(ctx, wanted); err != nil {
		return reading, nil, err
	}
	shared, sel := c.Views.Of(tab), tabview.SelectionOf(r)
	if name := r.GetCursor(); name != "" {
		now, err = shared.Continue(reading.Head, sel, name)
	} else {
		now, err = shared.Tree(reading.Head, sel, connections.Named(ctx, r.GetClientId()))
	}
	return reading, now, err
}

// compareWithBaseline makes the view the caller's baseline. If the request wants changes, it also computes them from the previous baseline.
func (s *Snapshot) compareWithBaseline(ctx context.Context, r Request, since *uint64, shared *tabview.Tab, seen tabview.Seen) {
	who, unnamed := connections.Caller(ctx, r.GetClientId()), connections.Caller(ctx, "")
	shown := shared.LastShown(who, s.View.Snapshot)
	last, resync := shared.Swap(who, seen)
	uncovers := last.View != nil && last.View.LeftOutBehindModal() > s.View.BehindModal()
	shared.RecordRead(who, r, s.View.Snapshot)
	if who != unnamed { // the caller's turns may omit the client ID
		shared.SetState(unnamed, tabview.State{Snapshot: s.View.Snapshot, Mark: seen.Mark})
	}
	if who != unnamed && r.GetClientId() != ForReadPage {
		shared.RecordRead(unnamed, r, s.View.Snapshot)
	}
	s.byCost = isDenseDiff(r)
	if s.byCost && shown != nil && (resync != "" || shown.Revision > last.View.Snapshot.Revision) {
		if from, err := shared.At(s.head, shown, s.sel); err == nil { // an action has shown a newer state than the last read
			last, resync = tabview.Seen{View: from}, ""
		}
	}
	if uncovers {
		resync = tabview.MostlyChanged
	}
	switch {
	case since != nil:
		from, resync := shared.ViewAt(s.head, s.sel, tabview.Point{Epoch: r.GetEpoch(), Revision: *since})
		s.compare(tabview.Seen{View: from}, resync)
	case r.GetIncremental() && resync == "" && r.GetIncludeGeometry() && last.Boxes == nil:
		s.compare(last, tabview.ViewChanged)
	case r.GetIncremental():
		s.compare(last, resync)
	}
}

// account records the read in the usage figures.
func (s *Snapshot) account(ctx context.Context, shared *tabview.Tab, part bool) {
	note := metering.FromContext(ctx)
	if note == nil {
		return
	}
	reads := usage.Reads{Pages: 1}
	if shared.Seen(s.View.Snapshot) {
		reads.HeadHits = 1
	}
	if s.View.MarkSent() {
		reads.ViewHits = 1
	}
	landmarks, elements := s.View.Folded()
	reads.Landmarks, reads.Elements = int64(landmarks), int64(elements)
	note.Reads(reads)
	note.SetPageCost(shared.Whole(s.View.Snapshot), part)
}

// compare computes the change from an earlier view, unless resync gives a reason why there is none.
func (s *Snapshot) compare(from tabview.Seen, resync string) {
	if s.resync = resync; resync != "" {
		return
	}
	c := s.View.Since(from.View)
	if c.MostlyChanged && !s.byCost {
		s.resync = tabview.MostlyChanged
		return
	}
	s.change, s.from = c, from
}

// Metadata describes the contents of the answer and the cursor to the rest.
func (s *Snapshot) Metadata(v view.View) *domtapv1.ViewMetadata {
	m := messages.Metadata(v, tokens.Name)
	m.NextCursor, m.PageLimited, m.Signals = s.Next, s.View.Snapshot.Limited, messages.Signals(s.View.Signals())
	for _, frame := range s.late {
		m.LateFrames = append(m.LateFrames, string(frame))
	}
	return m
}

// diff returns the diff message, or nil if there is no change to report.
func (s *Snapshot) diff(geometry bool) *domtapv1.Diff {
	if s.change == nil {
		return nil
	}
	d := s.change.Message(s.change.Diff.From, s.change.Diff.To)
	if geometry {
		d.Changed = messages.WithBoxes(d.Changed,
			messages.Boxed{Elements: s.from.View.Elements(), Boxes: s.from.Boxes},
			messages.Boxed{Elements: s.View.Elements(), Boxes: s.boxes.Boxes})
		d.ChangedCount = int32(len(d.Changed))
	}
	return d
}

func (s *Snapshot) resyncMessage() *domtapv1.Resync {
	if s.resync == "" {
		return nil
	}
	return &domtapv1.Resync{Reason: s.resync}
}
