package actor

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// reader synchronizes the tab's DOM with the page, and the page's subscription with the watches.
type reader struct {
	t *loop
	// mark is the mark of the last read; see driver.ReadRequest.
	mark uint64
	// hold keeps acknowledgements back for the next request.
	hold bool
	// due reports whether a document has pushed a patch since the last acknowledgement.
	due bool
}

func (r *reader) read(ctx context.Context, o ReadOptions) (Reading, error) {
	t := r.t
	if err := t.readyErr(); err != nil {
		return Reading{}, err
	}
	held := t.watches.Subscription()
	req := driver.ReadRequest{
		Structural: o.Structural || held.Structural, Contexts: o.Contexts, Geometry: o.Geometry || held.Geometry,
		Attributes: slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Attributes, held.Attributes)))),
	}
	at := time.Now()
	r.mark++
	req.Mark = r.mark
	late, err := r.update(ctx, req)
	if err != nil {
		return Reading{}, err
	}
	read := Reading{Head: t.head.Load(), Late: late, Structural: r.structural(), Mark: req.Mark}
	if o.Geometry {
		read.Layout = t.doc.Layout()
	}
	options := ReadOptions{Structural: req.Structural, Geometry: o.Geometry, Attributes: req.Attributes}
	t.lastRead.Store(&lastRead{reading: read, options: options, at: at})
	return read, nil
}

// update reads the page until every document was read, and returns the frames that did not answer. It holds acknowledgements back and sends
// them with the next request, so that an acknowledged document cannot push again before it is read. A document that was read may push while
// another is being read; such a push is newer than the call.
func (r *reader) update(ctx context.Context, req driver.ReadRequest) (late []dom.FrameID, err error) {
	r.hold = true
	defer func() {
		r.hold = false
		if r.t.obs.Pushes() {
			r.flush()
		}
	}()
	var unread []dom.FrameID // documents that were pushing in all rounds so far; nil if no round counted yet
	for range readRounds {
		main := r.t.nav.Main()
		out, err := r.round(ctx, req)
		if err != nil {
			return nil, err
		}
		switch {
		case r.t.nav.Main() != main && main != "", // the patches belong to a document that is gone
			len(r.t.doc.Broken()) > 0: // a patch was rejected, so the document sends all elements again
			unread = nil
		default:
			if unread = pushing(unread, out.Unacknowledged); len(unread) == 0 {
				return out.Late, nil
			}
		}
		late = out.Late
	}
	if r.t.doc.MainBroken() {
		return nil, apierr.Errorf(apierr.Aborted, "the main document of tab %s reports invalid changes: reload the tab", r.t.id)
	}
	if len(r.t.doc.Broken()) > 0 {
		return late, nil // the rest of the page is correct
	}
	return nil, apierr.Errorf(apierr.Aborted, "tab %s changes faster than it can be read: try again", r.t.id)
}

// round reads all documents once and publishes their answers.
func (r *reader) round(ctx context.Context, req driver.ReadRequest) (out driver.ReadResult, err error) {
	t := r.t
	main := t.nav.Main()
	req.Acks, req.Restart = t.doc.Pending(), t.doc.Broken()
	err = t.pump.query(ctx, func(ctx context.Context) (err error) {
		out, err = t.page().Read(ctx, req)
		return err
	})
	if err != nil {
		return out, err
	}
	t.doc.Delivered(req.Acks)
	t.alive()
	t.liveness.read = slowestPatch(out.Patches)
	t.drain()
	if (req.Structural || out.Structural) && t.nav.Main() == main {
		t.doc.AskStructure()
	}
	t.apply(out.Patches...)
	t.publisher.publish()
	return out, nil
}

// acknowledge sends the page the pending refs, unless a read is about to send them. It runs after the pushed changes were published, so
// that watchers do not wait for this write.
func (r *reader) acknowledge() {
	if r.due && !r.hold {
		r.flush()
	}
	r.due = false
}

// slowestPatch returns the duration of the slowest patch.
func slowestPatch(patches []dom.Patch) (took time.Duration) {
	for _, p := range patches {
		took = max(took, p.Took)
	}
	return took
}

// pushing returns the frames of earlier that are also in current. If earlier is nil, it stands for all frames.
func pushing(earlier, current []dom.FrameID) []dom.FrameID {
	if earlier == nil {
		return current
	}
	return slices.DeleteFunc(earlier, func(f dom.FrameID) bool { return !slices.Contains(current, f) })
}

// flush sends the page all pending refs, so that its documents know them and may push again.
func (r *reader) flush() {
	acks := r.t.doc.Pending()
	for _, a := range acks {
		r.t.page().Acknowledge(a)
	}
	r.t.doc.Delivered(acks)
}

// readRounds limits how often a read is repeated because documents were pushing, were replaced or were read anew. On a busy machine several
// of these coincide.
const readRounds = 8

// structural reports whether the stored DOM has headings, landmarks, text and images.
func (r *reader) structural() bool { return r.t.obs.Structural() || r.t.doc.Structural() }

// subscribe updates the page's subscription to what the watches need, if that has changed.
func (r *reader) subscribe(ctx context.Context) error {
	t := r.t
	if err := t.readyErr(); err != nil {
		return err
	}
	want := t.watches.Subscription()
	if !t.obs.Needs(want, time.Now()) {
		return nil
	}
	err := t.pump.query(ctx, func(ctx context.Context) error { return t.page().Subscribe(ctx, want) })
	if t.obs.Asked(want, err) {
		t.doc.AskStructure()
	}
	if err == nil && want.Push {
		r.flush()
	}
	return err
}

// follow updates the head for new followers. If there are none, it lowers the page's subscription. If the page cannot be read, its next
// sign of life triggers follow again.
func (r *reader) follow() {
	t := r.t
	last := t.watches.Last()
	if last == t.obs.CaughtUp() {
		r.lowerSubscription()
		return
	}
	if t.health.Crashed() || t.health.Probing() || t.dialogs.Open() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, followBound)
	defer cancel()
	err := r.subscribe(ctx)
	if err == nil {
		_, err = r.read(ctx, ReadOptions{})
	}
	if err != nil {
		t.log.Debug("the page could not be read for its watchers", "err", err)
		return
	}
	t.obs.SetCaughtUp(last)
}

// lowerSubscription lowers the page's subscription after a watch was released. If that fails, the page harmlessly continues to push, and
// the next change of the watches tries again.
func (r *reader) lowerSubscription() {
	if r.t.health.Unresponsive() {
		r.t.obs.Invalidate()
		return
	}
	ctx, cancel := context.WithTimeout(r.t.ctx, probeBound)
	defer cancel()
	if err := r.subscribe(ctx); err != nil {
		r.t.obs.Invalidate()
		r.t.log.Debug("the page still pushes its changes", "err", err)
	}
}

// retryFollowers triggers another look at the watches while followers still wait for a read. It is called after signs of life.
func (r *reader) retryFollowers() {
	if r.t.obs.CaughtUp() != r.t.watches.Last() {
		r.t.watches.Notify()
	}
}
