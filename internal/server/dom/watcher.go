package dom

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/server/tabview/wire"
	"github.com/domtap/domtap/internal/tokens"
)

// watcher is one WatchDom stream. It is a cursor, not a queue. It holds the reader's current view, waits for a newer head, and sends the
// difference in one message. So a slow reader causes no cost for others and catches up in one step.
type watcher struct {
	cfg       streaming.Config
	tab       tabview.Source
	views     *tabview.Tab
	selection tabview.Selection
	request   *domtapv1.WatchDomRequest
	out       *streaming.Sender
	note      *metering.Call

	sequence uint64
	// shown is the reader's current view. last identifies the last message, which may be older than shown if the view has not changed
	// since.
	shown *tabview.View
	last  tabview.Point
	// status and dialog were reported last.
	status actor.Status
	dialog *driver.Dialog
	// noticed is the number of the newest notice that the reader has received or that preceded the stream.
	noticed uint64
	// sentAt is the time of the last message, and contentAt the time of the last message with content.
	sentAt, contentAt time.Time
}

// watch streams the changes of a view to a reader until the tab, the reader or the server ends. The error gives the reason.
func (s *Service) watch(tab tabview.Source, shared *tabview.Tab, r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) error {
	w := &watcher{
		cfg: s.Streams.Config(), tab: tab, views: shared, selection: tabview.SelectionOf(r), request: r,
		out: s.Streams.Sender(stream), note: metering.FromContext(stream.Context()), sentAt: time.Now(),
	}
	return w.out.Run(func() error { return w.run(stream.Context()) })
}

func (w *watcher) run(ctx context.Context) error {
	if m := w.cfg.Metrics; m != nil {
		m.Watching(1)
		defer m.Watching(-1)
	}
	early, stop := deadline.Before(ctx)
	starting, cancel := context.WithTimeout(early, w.cfg.StartTimeout)
	head, release, err := w.start(starting)
	cancel()
	stop()
	if err != nil {
		return err
	}
	defer release()
	w.noticed = head.Notices().Last()
	if err := w.begin(head); err != nil {
		return err
	}
	if err := w.out.Accept(); err != nil {
		return err
	}
	return w.follow(ctx, head)
}

// start makes the page report its changes. If several elements share role and name, it also requests their surroundings. The current head
// usually shows in advance whether that is needed.
func (w *watcher) start(ctx context.Context) (head *actor.Head, release func(), err error) {
	wanted := w.selection.Watch()
	wanted.Notices = w.request.GetIncludeOutcome()
	wanted.Structural = wanted.Structural || w.isAmbiguous(w.tab.Head())
	if release, err = w.tab.Watch(ctx, wanted); err != nil {
		return nil, nil, err
	}
	head = w.tab.Head()
	if wanted.Structural || !w.isAmbiguous(head) {
		return head, release, nil
	}
	wanted.Structural = true
	more, err := w.tab.Watch(ctx, wanted)
	release()
	if err != nil {
		return nil, nil, err
	}
	return w.tab.Head(), more, nil
}

// isAmbiguous reports whether elements of the view share role and name.
func (w *watcher) isAmbiguous(head *actor.Head) bool {
	now, err := w.views.At(head, head.Snapshot, w.selection)
	return err == nil && tabview.Ambiguous(now) // begin returns the same error
}

// follow sends every change after head.
func (w *watcher) follow(ctx context.Context, head *actor.Head) error {
	// Resetting a timer for each message would cost more than the message itself. When this timer fires, the loop checks how long ago the
	// last message was sent.
	silent := make(chan struct{}, 1)
	silence := time.AfterFunc(w.cfg.Heartbeat, func() { silent <- struct{}{} })
	defer silence.Stop()
	var due <-chan time.Time
	for done := ctx.Done(); ; {
		// Advance first, because the first head may also be the last one, for example if the renderer has just crashed.
		over, err := w.advance(head, &due)
		if over || err != nil {
			return err
		}
		select {
		case <-done:
			return ctx.Err()
		case <-head.Next():
			head = w.tab.Head()
		case <-due:
		case <-silent:
			left := w.cfg.Heartbeat - time.Since(w.sentAt)
			if left <= 0 {
				if err := w.heartbeat(); err != nil {
					return err
				}
				left = w.cfg.Heartbeat
			}
			silence.Reset(left)
		}
	}
}

// advance brings the reader up to date with a head. over reports that the stream has ended. Content that must wait for min_interval is sent
// when due fires.
func (w *watcher) advance(head *actor.Head, due *<-chan time.Time) (over bool, err error) {
	ending := head.Info.Status == actor.StatusClosed || head.Info.Status == actor.StatusCrashed || head.Info.Status == actor.StatusRestoring
	if head.Snapshot == w.shown.Snapshot {
		*due = nil
	} else if wait := w.request.GetMinInterval().AsDuration() - time.Since(w.contentAt); wait <= 0 || ending {
		*due = nil
		if err := w.content(head); err != nil {
			return true, err
		}
	} else if *due == nil {
		*due = time.After(wait)
	}
	if err := w.outcome(head.Notices()); err != nil {
		return true, err
	}
	if ending {
		return true, w.end(head)
	}
	return false, w.statusChange(head.Info)
}

// outcome sends the notices since the last message, if the reader requested them.
func (w *watcher) outcome(noticed *actor.Notices) error {
	if !w.request.GetIncludeOutcome() || noticed.Last() == w.noticed {
		return nil
	}
	news := noticed.Changed(w.noticed)
	w.noticed = noticed.Last()
	for _, one := range outcome.Of(news) {
		m := message(w.last)
		m.Event = &domtapv1.WatchDomResponse_Outcome{Outcome: one}
		if err := w.send(m); err != nil {
			return err
		}
	}
	return nil
}

// end returns the reason why the stream has ended.
func (w *watcher) end(head *actor.Head) error {
	if gone := head.Info.Unavailable("watch"); gone != nil {
		if err := w.sendStatus(head.Info); err != nil {
			return err
		}
		return gone
	}
	<-w.tab.Done() // closes immediately after that head
	if err := w.tab.Err(); err != nil {
		return err
	}
	return w.sendStatus(head.Info)
}

// begin sends the first message, if the request requires one.
func (w *watcher) begin(head *actor.Head) error {
	now, err := w.views.At(head, head.Snapshot, w.selection)
	if err != nil {
		return err
	}
	w.status, w.dialog = head.Info.Status, head.Info.Dialog
	if w.request.FromRevision != nil {
		return w.resume(head, now)
	}
	w.shown, w.last = now, now.Point()
	if w.request.GetOmitInitial() {
		return nil
	}
	return w.share(now.Encoded(tabview.Sending{}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, 1)
		m.Event = &domtapv1.WatchDomResponse_Snapshot{Snapshot: snapshotMessage(now)}
		return m
	}))
}

// resume continues from the revision that the reader has, or sends the whole view.
func (w *watcher) resume(head *actor.Head, now *tabview.View) error {
	at := tabview.Point{Epoch: w.request.GetEpoch(), Revision: w.request.GetFromRevision()}
	from, resync := w.views.ViewAt(head, w.selection, at)
	if resync != "" {
		return w.resync(now, resync, 1)
	}
	w.shown, w.last = from, at
	return w.content(head)
}

// content sends the changes of the page.
func (w *watcher) content(head *actor.Head) error {
	was, s := w.shown.Snapshot, head.Snapshot
	elsewhere := was.Document != s.Document || was.Epoch != s.Epoch
	if elsewhere || was.URL != s.URL {
		m := message(w.last)
		m.Event = &domtapv1.WatchDomResponse_Navigated{Navigated: &domtapv1.Navigated{
			Url: s.URL, Title: s.Title, SameDocument: !elsewhere,
		}}
		if err := w.send(m); err != nil {
			return err
		}
	}
	now, err := w.views.At(head, s, w.selection)
	if err != nil {
		return err
	}
	switch {
	case was.Epoch != s.Epoch:
		return w.resync(now, tabview.EpochChanged, w.revisionsSinceLast(now))
	case elsewhere:
		return w.resync(now, tabview.Navigated, w.revisionsSinceLast(now))
	}
	return w.difference(now)
}

// difference sends the diff to a newer view of the same document, unless it is empty.
func (w *watcher) difference(now *tabview.View) error {
	was := w.shown
	c := now.Since(was)
	if c.Diff.Empty() {
		w.shown = now
		return nil
	}
	if c.MostlyChanged {
		return w.resync(now, tabview.MostlyChanged, w.revisionsSinceLast(now))
	}
	w.shown = now
	format := w.request.GetFormat()
	return w.share(c.Encoded(tabview.Sending{Last: w.last.Revision, Text: format}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, w.revisionsSinceLast(now))
		m.Event = &domtapv1.WatchDomResponse_Diff{Diff: c.Message(w.last.Revision, now.Snapshot.Revision)}
		switch format {
		case domtapv1.Format_FORMAT_DIFF:
			m.Text = c.Text()
		case domtapv1.Format_FORMAT_DENSE_DIFF:
			m.Text = c.Dense(was, now)
		}
		return m
	}))
}

// resync sends the whole view instead of a diff.
func (w *watcher) resync(now *tabview.View, reason string, folds int32) error {
	w.shown = now
	return w.share(now.Encoded(tabview.Sending{Last: uint64(folds), Reason: reason}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, folds)
		m.Event = &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{
			Reason: reason, Snapshot: snapshotMessage(now),
		}}
		return m
	}))
}

// revisionsSinceLast counts the revisions between the last message and a view.
func (w *watcher) revisionsSinceLast(now *tabview.View) int32 {
	if w.last.Epoch != now.Snapshot.Epoch {
		return 1
	}
	return int32(now.Snapshot.Revision - w.last.Revision)
}

// statusChange sends the status and the dialog of the tab if one of them has changed.
func (w *watcher) statusChange(i actor.Info) error {
	if i.Status == w.status && i.Dialog == w.dialog {
		return nil
	}
	return w.sendStatus(i)
}

func (w *watcher) sendStatus(i actor.Info) error {
	w.status, w.dialog = i.Status, i.Dialog
	m := message(w.last)
	m.Event = &domtapv1.WatchDomResponse_TabStatus{TabStatus: &domtapv1.TabStatusChange{
		Status: messages.Status(i.Status), Detail: statusDetail(i), Dialog: messages.Dialog(i.Dialog),
	}}
	return w.send(m)
}

// statusDetail returns a hint for the client about a status, or "" if there is none.
func statusDetail(i actor.Info) string {
	switch {
	case i.Dialog != nil:
		return "a dialog blocks the page until it is answered"
	case i.Status == actor.StatusRestoring:
		return "the page was lost and the tab is being restored: start the watch again in a moment"
	case i.Status == actor.StatusCrashed && i.Why != "":
		return i.Why
	case i.Status == actor.StatusCrashed:
		return "the renderer crashed: Reload or Navigate restores the tab"
	case i.Status == actor.StatusUnresponsive:
		return "the page does not answer: Navigate elsewhere, or close the tab"
	}
	return ""
}

// heartbeat reports to the reader that the stream is alive. The message has the revision of the newest computed view, so the revision may
// advance.
func (w *watcher) heartbeat() error {
	m := message(w.shown.Point())
	m.Event = &domtapv1.WatchDomResponse_Heartbeat{Heartbeat: new(domtapv1.Heartbeat)}
	return w.send(m)
}

// message returns a message that brings the reader to a point.
func message(at tabview.Point) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Revision: at.Revision, Epoch: at.Epoch, ObservedAt: timestamppb.Now()}
}

// contentMessage returns a message that brings the reader to a view.
func contentMessage(now *tabview.View, folds int32) *domtapv1.WatchDomResponse {
	m := message(now.Point())
	m.Coalesced = folds
	m.ObservedAt = timestamppb.New(now.Snapshot.ObservedAt)
	if t := now.Snapshot.PageTime; !t.IsZero() {
		m.PageTime = timestamppb.New(t)
	}
	return m
}

// share sends a message with content, which may be shared with other readers.
func (w *watcher) share(m *wire.Shared, err error) error {
	if err != nil {
		return err
	}
	w.contentAt = time.Now()
	err = w.sendNext(m.Head, m.Number(w.sequence+1))
	if err == nil {
		w.measure(m.Head)
	}
	return err
}

// send sends a message to only this reader.
func (w *watcher) send(m *domtapv1.WatchDomResponse) error {
	m.Sequence = w.sequence + 1
	return w.sendNext(m, m)
}

// sendNext sends the next message. head identifies the point that the reader reaches.
func (w *watcher) sendNext(head *domtapv1.WatchDomResponse, message any) error {
	w.sequence++
	w.last = tabview.Point{Epoch: head.GetEpoch(), Revision: head.GetRevision()}
	err := w.out.Send(message)
	w.sentAt = time.Now()
	return err
}

func snapshotMessage(s *tabview.View) *domtapv1.Snapshot {
	metadata := messages.Metadata(s.Settled(true), tokens.Name)
	metadata.PageLimited = s.Snapshot.Limited
	elements := messages.Elements(s.Elements(), nil)
	messages.Within(elements, tabview.Contexts(s))
	return &domtapv1.Snapshot{
		Elements: elements, Metadata: metadata,
		Url: s.Snapshot.URL, Title: s.Snapshot.Title,
	}
}

// maxSkew is the maximum difference, delays included, by which a usable page clock may lag behind the daemon's.
const maxSkew = 10 * time.Second

// measure counts a message that was sent. The first message of a stream counts no delay, because changes that a resuming reader missed are
// not the stream's delay.
func (w *watcher) measure(m *domtapv1.WatchDomResponse) {
	metrics, diff := w.cfg.Metrics, m.GetDiff() != nil
	if diff && w.sequence > 1 {
		w.note.Sent(time.Since(changedAt(m)))
	}
	if metrics == nil {
		return
	}
	if r := m.GetResync(); r != nil {
		metrics.Resynced(r.GetReason())
	}
	if diff || m.GetResync() != nil {
		metrics.Sent(time.Since(changedAt(m)), int(m.GetCoalesced()))
	}
}

// changedAt returns the time of the change in a message. It uses the page's clock, unless that is skewed.
func changedAt(m *domtapv1.WatchDomResponse) time.Time {
	observed := m.GetObservedAt().AsTime()
	if m.GetPageTime() == nil {
		return observed
	}
	page := m.GetPageTime().AsTime()
	if lag := observed.Sub(page); lag < 0 || lag > maxSkew {
		return observed
	}
	return page
}
