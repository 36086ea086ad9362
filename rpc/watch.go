package rpc

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/accounting"
	"github.com/domtap/domtap/rpc/convert"
	"github.com/domtap/domtap/rpc/deadline"
	"github.com/domtap/domtap/rpc/views"
	"github.com/domtap/domtap/rpc/wire"
	"github.com/domtap/domtap/tokens"
)

// watcher is one WatchDom stream. It is a cursor, not a queue: it holds the view that its reader has,
// waits for a newer head, and sends what lies between in one message, so a slow reader costs nobody
// anything and catches up in one step.
type watcher struct {
	server    *Server
	tab       *actor.Tab
	views     *views.Tab
	selection views.Selection
	request   *domtapv1.WatchDomRequest
	out       *sender
	note      *accounting.Note

	sequence uint64
	// shown is the view that the reader has; told is the revision and epoch of the last message, which
	// may be older when the view did not change since.
	shown *views.View
	told  views.Point
	// status and dialog are what the reader knows of the tab.
	status actor.Status
	dialog *actor.Dialog
	// spoke is when the last message was sent, quiet when the last one with content was.
	spoke, quiet time.Time
}

func newWatcher(s *Server, tab *actor.Tab, r *domtapv1.WatchDomRequest, stream domtapv1.DomService_WatchDomServer) *watcher {
	return &watcher{
		server: s, tab: tab, views: s.views.Of(tab), selection: views.SelectionOf(r), request: r,
		out: newSender(s, stream), note: accounting.Of(stream.Context()), spoke: time.Now(),
	}
}

// run streams until the tab, the reader or the server ends; the error says why.
func (w *watcher) run(ctx context.Context) error {
	if m := w.server.cfg.Metrics; m != nil {
		m.Watching(1)
		defer m.Watching(-1)
	}
	early, stop := deadline.Before(ctx)
	starting, cancel := context.WithTimeout(early, w.server.cfg.CallTimeout)
	release, err := w.tab.Watch(starting, w.selection.Watch())
	cancel()
	stop()
	if err != nil {
		return err
	}
	defer release()
	head := w.tab.Head()
	if err := w.begin(head); err != nil {
		return err
	}
	if err := w.out.accept(); err != nil {
		return err
	}
	return w.follow(ctx, head)
}

// follow sends what happens from head on.
func (w *watcher) follow(ctx context.Context, head *actor.Head) error {
	// A timer that is set anew for each message would cost more than the message; this one looks, when it
	// goes off, how long the silence has really lasted.
	silent := make(chan struct{}, 1)
	silence := time.AfterFunc(w.server.cfg.Heartbeat, func() { silent <- struct{}{} })
	defer silence.Stop()
	var due <-chan time.Time
	for done := ctx.Done(); ; {
		// First of all, because the very first head may be the last: the renderer crashed a moment ago.
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
			left := w.server.cfg.Heartbeat - time.Since(w.spoke)
			if left <= 0 {
				if err := w.heartbeat(); err != nil {
					return err
				}
				left = w.server.cfg.Heartbeat
			}
			silence.Reset(left)
		}
	}
}

// advance brings the reader to a head; over says that the stream has come to its end. Content that
// must wait for min_interval is left until due.
func (w *watcher) advance(head *actor.Head, due *<-chan time.Time) (over bool, err error) {
	ending := head.Info.Status == actor.StatusClosed || head.Info.Status == actor.StatusCrashed || head.Info.Status == actor.StatusRestoring
	if head.Snapshot == w.shown.Snapshot {
		*due = nil
	} else if wait := w.request.GetMinInterval().AsDuration() - time.Since(w.quiet); wait <= 0 || ending {
		*due = nil
		if err := w.content(head); err != nil {
			return true, err
		}
	} else if *due == nil {
		*due = time.After(wait)
	}
	if ending {
		return true, w.end(head)
	}
	return false, w.statusChange(head.Info)
}

// end tells why the stream is over.
func (w *watcher) end(head *actor.Head) error {
	if gone := head.Info.Gone("watch"); gone != nil {
		if err := w.sendStatus(head.Info); err != nil {
			return err
		}
		return gone
	}
	<-w.tab.Done() // follows at once on the head that says so
	if err := w.tab.Err(); err != nil {
		return err
	}
	return w.sendStatus(head.Info)
}

// begin sends the first message, if there is one to send.
func (w *watcher) begin(head *actor.Head) error {
	now, err := w.views.At(head, head.Snapshot, w.selection)
	if err != nil {
		return err
	}
	w.status, w.dialog = head.Info.Status, head.Info.Dialog
	if w.request.FromRevision != nil {
		return w.resume(head, now)
	}
	w.shown, w.told = now, now.Point()
	if w.request.GetOmitInitial() {
		return nil
	}
	return w.share(now.Encoded(views.Sending{}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, 1)
		m.Event = &domtapv1.WatchDomResponse_Snapshot{Snapshot: snapshotMessage(now)}
		return m
	}))
}

// resume goes on from the revision that the reader has, or tells it to start over.
func (w *watcher) resume(head *actor.Head, now *views.View) error {
	at := views.Point{Epoch: w.request.GetEpoch(), Revision: w.request.GetFromRevision()}
	from, resync := w.views.Back(head, w.selection, at)
	if resync != "" {
		return w.resync(now, resync, 1)
	}
	w.shown, w.told = from, at
	return w.content(head)
}

// content sends what happened to the page.
func (w *watcher) content(head *actor.Head) error {
	was, s := w.shown.Snapshot, head.Snapshot
	elsewhere := was.Document != s.Document || was.Epoch != s.Epoch
	if elsewhere || was.URL != s.URL {
		m := message(w.told)
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
		return w.resync(now, views.EpochChanged, w.folds(now))
	case elsewhere:
		return w.resync(now, views.Navigated, w.folds(now))
	}
	return w.difference(now)
}

// difference sends the diff to a newer view of the same document, unless it is empty.
func (w *watcher) difference(now *views.View) error {
	c := now.Since(w.shown)
	if c.Diff.Empty() {
		w.shown = now
		return nil
	}
	if c.Mostly {
		return w.resync(now, views.MostlyChanged, w.folds(now))
	}
	w.shown = now
	text := w.request.GetFormat() == domtapv1.Format_FORMAT_DIFF
	return w.share(c.Encoded(views.Sending{Told: w.told.Revision, Text: text}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, w.folds(now))
		m.Event = &domtapv1.WatchDomResponse_Diff{Diff: c.Message(w.told.Revision, now.Snapshot.Revision)}
		if text {
			m.Text = c.Text()
		}
		return m
	}))
}

// resync sends the whole view instead of a diff.
func (w *watcher) resync(now *views.View, reason string, folds int32) error {
	w.shown = now
	return w.share(now.Encoded(views.Sending{Told: uint64(folds), Reason: reason}, func() *domtapv1.WatchDomResponse {
		m := contentMessage(now, folds)
		m.Event = &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{
			Reason: reason, Snapshot: snapshotMessage(now),
		}}
		return m
	}))
}

// folds counts the revisions between the last message and a view.
func (w *watcher) folds(now *views.View) int32 {
	if w.told.Epoch != now.Snapshot.Epoch {
		return 1
	}
	return int32(now.Snapshot.Revision - w.told.Revision)
}

// statusChange tells the reader when the tab's status or dialog is another.
func (w *watcher) statusChange(i actor.Info) error {
	if i.Status == w.status && i.Dialog == w.dialog {
		return nil
	}
	return w.sendStatus(i)
}

func (w *watcher) sendStatus(i actor.Info) error {
	w.status, w.dialog = i.Status, i.Dialog
	m := message(w.told)
	m.Event = &domtapv1.WatchDomResponse_TabStatus{TabStatus: &domtapv1.TabStatusChange{
		Status: convert.Status(i.Status), Detail: statusDetail(i), Dialog: convert.Dialog(i.Dialog),
	}}
	return w.send(m)
}

// statusDetail says what a client can do about a status.
func statusDetail(i actor.Info) string {
	switch {
	case i.Dialog != nil:
		return "the page waits until its dialog is answered"
	case i.Status == actor.StatusRestoring:
		return "the page is lost, and the tab is being brought back: watch it again in a moment"
	case i.Status == actor.StatusCrashed && i.Why != "":
		return i.Why
	case i.Status == actor.StatusCrashed:
		return "the renderer crashed: Reload or Navigate brings the tab back"
	case i.Status == actor.StatusUnresponsive:
		return "the page does not answer: Navigate elsewhere, or close the tab"
	}
	return ""
}

// heartbeat says that the stream is alive. The reader's state is that of the newest view that was
// computed, so the revision may go on.
func (w *watcher) heartbeat() error {
	m := message(w.shown.Point())
	m.Event = &domtapv1.WatchDomResponse_Heartbeat{Heartbeat: new(domtapv1.Heartbeat)}
	return w.send(m)
}

// message makes a message that leaves the reader at a point.
func message(at views.Point) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Revision: at.Revision, Epoch: at.Epoch, ObservedAt: timestamppb.Now()}
}

// contentMessage makes a message that brings the reader to a view.
func contentMessage(now *views.View, folds int32) *domtapv1.WatchDomResponse {
	m := message(now.Point())
	m.Coalesced = folds
	m.ObservedAt = timestamppb.New(now.Snapshot.ObservedAt)
	if t := now.Snapshot.PageTime; !t.IsZero() {
		m.PageTime = timestamppb.New(t)
	}
	return m
}

// share sends a message with content, which other readers may get, too.
func (w *watcher) share(m *wire.Shared, err error) error {
	if err != nil {
		return err
	}
	w.quiet = time.Now()
	err = w.put(m.Head, m.Number(w.sequence+1))
	if err == nil {
		w.measure(m.Head)
	}
	return err
}

// send sends a message of this reader's own.
func (w *watcher) send(m *domtapv1.WatchDomResponse) error {
	m.Sequence = w.sequence + 1
	return w.put(m, m)
}

// put sends the next message, of which head tells where it leaves the reader.
func (w *watcher) put(head *domtapv1.WatchDomResponse, message any) error {
	w.sequence++
	w.told = views.Point{Epoch: head.GetEpoch(), Revision: head.GetRevision()}
	err := w.out.send(message)
	w.spoke = time.Now()
	return err
}

func snapshotMessage(s *views.View) *domtapv1.Snapshot {
	metadata := convert.Metadata(s.Settled(true), tokens.Name)
	metadata.PageLimited = s.Snapshot.Limited
	return &domtapv1.Snapshot{
		Elements: convert.Elements(s.Elements(), nil), Metadata: metadata,
		Url: s.Snapshot.URL, Title: s.Snapshot.Title,
	}
}
