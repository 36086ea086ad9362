package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/accounts"
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/accounting"
	"github.com/domtap/domtap/rpc/connections"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/rpc/views"
	"github.com/domtap/domtap/tokens"
	"github.com/domtap/domtap/view"
)

type domService struct {
	domtapv1.UnimplementedDomServiceServer
	server *Server
}

// GetDom answers with the elements of a page.
func (s *domService) GetDom(ctx context.Context, r *domtapv1.GetDomRequest) (*domtapv1.GetDomResponse, error) {
	l, err := s.look(ctx, r, r.SinceRevision, true)
	if err != nil {
		return nil, err
	}
	accounting.Of(ctx).Changed(l.change != nil, l.resync)
	history := r.IncludeHistory == nil || r.GetIncludeHistory()
	now := l.now.Snapshot
	resp := &domtapv1.GetDomResponse{
		TabId: l.tab.ID(), Url: now.URL, Title: now.Title, Revision: now.Revision, Epoch: now.Epoch,
		Elements: l.placed.Messages,
		Metadata: l.metadata(l.now.Settled(history)),
		Diff:     l.diff(r.GetIncludeGeometry()),
		Resync:   l.resyncMessage(),
	}
	if history {
		resp.History = convert.History(now.History)
	}
	return resp, nil
}

// GetCompact answers the same view as text.
func (s *domService) GetCompact(ctx context.Context, r *domtapv1.GetCompactRequest) (*domtapv1.GetCompactResponse, error) {
	l, err := s.look(ctx, r, r.SinceRevision, false)
	if err != nil {
		return nil, err
	}
	history := r.IncludeHistory == nil || r.GetIncludeHistory()
	settled := l.now.Settled(history)
	resp := &domtapv1.GetCompactResponse{Revision: l.now.Snapshot.Revision, Epoch: l.now.Snapshot.Epoch}
	if r.GetFormat() == domtapv1.Format_FORMAT_DIFF {
		resp.Text, settled.Tokens = l.diffText()
		resp.Resync = l.resyncMessage()
		accounting.Of(ctx).Changed(resp.Text != "", l.resync)
	}
	if resp.Text == "" {
		settled.Tokens = l.now.Settled(history).Tokens
		header := l.now.Header(history)
		header.Next = l.next
		resp.Text = l.now.Print(header, settled)
	}
	resp.Metadata = l.metadata(settled)
	return resp, nil
}

// WatchDom streams the changes of a view.
func (s *domService) WatchDom(r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	tab, err := s.server.gate.Tab(stream.Context(), r.GetTabId())
	if err != nil {
		return err
	}
	defer s.server.views.Of(tab).Streams(connections.Caller(stream.Context(), r.GetClientId()))()
	w := newWatcher(s.server, tab, r, stream)
	return w.out.during(func() error { return w.run(stream.Context()) })
}

// snapshotRequest is what GetDom and GetCompact have in common.
type snapshotRequest interface {
	views.Request
	GetTabId() string
	GetClientId() string
	GetIncremental() bool
	GetEpoch() string
	GetCursor() string
	GetIncludeGeometry() bool
	GetMaxAge() *durationpb.Duration
}

// look is what a caller sees of a tab in one call, and what that is compared with.
type look struct {
	tab    *actor.Tab
	now    *views.View
	placed *views.Placed // nil without boxes
	next   string        // the cursor that goes on from here; empty: there is none
	late   []dom.FrameID // frames that did not answer
	// change leads here from an earlier view; nil when none was asked for, or resync says why not.
	change *views.Change
	from   views.Seen
	resync string
}

// look reads the tab and makes the view that the request selects. Since is the request's
// since_revision.
func (s *domService) look(ctx context.Context, r snapshotRequest, since *uint64, boxes bool) (*look, error) {
	tab, err := s.server.gate.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	sel := views.SelectionOf(r)
	wanted := sel.Read(boxes)
	wanted.MaxAge = r.GetMaxAge().AsDuration()
	reading, err := tab.Read(ctx, wanted)
	if err != nil {
		return nil, err
	}
	shared := s.server.views.Of(tab)
	var now *views.View
	if name := r.GetCursor(); name != "" {
		now, err = shared.Continue(reading.Head, sel, name)
	} else {
		now, err = shared.Tree(reading.Head, sel, connections.Named(ctx, r.GetClientId()))
	}
	if err != nil {
		return nil, err
	}
	l := &look{tab: tab, now: now, next: shared.Next(now), late: reading.Late}
	shared.Sent(now, connections.Named(ctx, r.GetClientId()))
	defer l.account(ctx, shared, r.GetCursor() != "")
	seen := views.Seen{View: now, Mark: reading.Mark}
	if boxes {
		l.placed = now.Placed(reading.Layout)
		seen.Boxes = l.placed.Boxes
	}
	if r.GetCursor() != "" {
		// It holds a part of the view, which is nothing for a later diff to start from.
		return l, nil
	}
	last, resync := shared.Swap(connections.Caller(ctx, r.GetClientId()), seen)
	if r.GetClientId() != "" {
		shared.Tell(connections.Caller(ctx, ""), views.Told{Snapshot: now.Snapshot, Mark: reading.Mark}) // who acts may not name itself
	}
	switch {
	case since != nil:
		from, resync := shared.Back(reading.Head, sel, views.Point{Epoch: r.GetEpoch(), Revision: *since})
		l.compare(views.Seen{View: from}, resync)
	case r.GetIncremental() && resync == "" && r.GetIncludeGeometry() && last.Boxes == nil:
		l.compare(last, views.ViewChanged)
	case r.GetIncremental():
		l.compare(last, resync)
	}
	return l, nil
}

// account notes how the page was read.
func (l *look) account(ctx context.Context, shared *views.Tab, part bool) {
	note := accounting.Of(ctx)
	if note == nil {
		return
	}
	reads := accounts.Reads{Pages: 1}
	if shared.Seen(l.now.Snapshot) {
		reads.HeadHits = 1
	}
	if l.now.Given() {
		reads.ViewHits = 1
	}
	landmarks, elements := l.now.Folded()
	reads.Landmarks, reads.Elements = int64(landmarks), int64(elements)
	note.Reads(reads)
	note.Whole(shared.Whole(l.now.Snapshot), part)
}

// compare finds the change from an earlier view, unless there is none or it is not worth it.
func (l *look) compare(from views.Seen, resync string) {
	if l.resync = resync; resync != "" {
		return
	}
	c := l.now.Since(from.View)
	if c.Mostly {
		l.resync = views.MostlyChanged
		return
	}
	l.change, l.from = c, from
}

// metadata says what the answer holds, and how to go on.
func (l *look) metadata(v view.View) *domtapv1.ViewMetadata {
	m := convert.Metadata(v, tokens.Name)
	m.NextCursor, m.PageLimited, m.Signals = l.next, l.now.Snapshot.Limited, convert.Signals(l.now.Signals())
	for _, frame := range l.late {
		m.LateFrames = append(m.LateFrames, string(frame))
	}
	return m
}

// diff returns the diff message, or nil.
func (l *look) diff(geometry bool) *domtapv1.Diff {
	if l.change == nil {
		return nil
	}
	d := l.change.Message(l.change.Diff.From, l.change.Diff.To)
	if geometry {
		d.Changed = convert.WithBoxes(d.Changed,
			convert.Boxed{Elements: l.from.View.Elements(), Boxes: l.from.Boxes},
			convert.Boxed{Elements: l.now.Elements(), Boxes: l.placed.Boxes})
		d.ChangedCount = int32(len(d.Changed))
	}
	return d
}

// diffText returns the diff as text with what it costs, or "" when the whole view must be sent instead:
// also when the diff costs more than the caller allows.
func (l *look) diffText() (text string, cost int) {
	if l.change == nil {
		return "", 0
	}
	text = l.change.Text()
	budget := l.now.Selection.Budget()
	if budget == 0 {
		return text, 0
	}
	if cost = tokens.Count(text); cost > budget {
		l.resync = views.MostlyChanged
		return "", 0
	}
	return text, cost
}

func (l *look) resyncMessage() *domtapv1.Resync {
	if l.resync == "" {
		return nil
	}
	return &domtapv1.Resync{Reason: l.resync}
}
