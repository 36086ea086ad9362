package actor

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// reader brings the tab's DOM up to date with the page, and the page with those who follow it.
type reader struct {
	t *loop
	// mark is the mark of the last read; see driver.ReadRequest.
	mark uint64
	// hold keeps acknowledgements back for the next request.
	hold bool
	// due says that a document pushed a patch since the last acknowledgement.
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

// update reads the page until every document was read, and returns the frames that did not answer. Acknowledgements are held back meanwhile and
// travel with the next request: so a document that is acknowledged cannot push again before it is read. One that was read need not be quiet
// while another is: what it pushes since is younger than the call.
func (r *reader) update(ctx context.Context, req driver.ReadRequest) (late []dom.FrameID, err error) {
	r.hold = true
	defer func() {
		r.hold = false
		if r.t.obs.Pushes() {
			r.flush()
		}
	}()
	var unread []dom.FrameID // those that were pushing in all rounds so far; nil: there was no round that counts
	for range readRounds {
		main := r.t.nav.Main()
		out, err := r.round(ctx, req)
		if err != nil {
			return nil, err
		}
		switch {
		case r.t.nav.Main() != main && main != "", // the patches were those of a document that is gone
			len(r.t.doc.Broken()) > 0: // a patch was refused: the next ones start over
			unread = nil
		default:
			if unread = pushing(unread, out.Unacknowledged); len(unread) == 0 {
				return out.Late, nil
			}
		}
		late = out.Late
	}
	if r.t.doc.MainBroken() {
		return nil, apierr.Errorf(apierr.Aborted, "the main document of tab %s reports changes that make no sense: reload it", r.t.id)
	}
	if len(r.t.doc.Broken()) > 0 {
		return late, nil // the rest of the page is as it should be
	}
	return nil, apierr.Errorf(apierr.Aborted, "tab %s changes faster than it can be read: try again", r.t.id)
}

// round asks the documents once, and publishes what they answer.
func (r *reader) round(ctx context.Context, req driver.ReadRequest) (out driver.Readout, err error) {
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
	t.liveness.read = longest(out.Patches)
	t.drain()
	if (req.Structural || out.Structural) && t.nav.Main() == main {
		t.doc.AskStructure()
	}
	t.apply(out.Patches...)
	t.publisher.publish()
	return out, nil
}

// acknowledge sends the page the refs that are due, unless a read is about to. It follows the publishing of what the page
// pushed: those who wait for that need not wait for the page to be written to.
func (r *reader) acknowledge() {
	if r.due && !r.hold {
		r.flush()
	}
	r.due = false
}

// longest is how long the page took for the patch that took longest.
func longest(patches []dom.Patch) (took time.Duration) {
	for _, p := range patches {
		took = max(took, p.Took)
	}
	return took
}

// pushing returns those of the frames that were pushing now, too; nil stands for all frames.
func pushing(before, now []dom.FrameID) []dom.FrameID {
	if before == nil {
		return now
	}
	return slices.DeleteFunc(before, func(f dom.FrameID) bool { return !slices.Contains(now, f) })
}

// flush sends the page all refs that are due, so that its documents may push on and know them.
func (r *reader) flush() {
	acks := r.t.doc.Pending()
	for _, a := range acks {
		r.t.page().Acknowledge(a)
	}
	r.t.doc.Delivered(acks)
}

// readRounds is how often a read is repeated for documents that were just pushing, or were replaced or read anew meanwhile:
// on a busy machine several of these come together.
const readRounds = 8

// structural reports whether the stored DOM has headings, landmarks, text and images.
func (r *reader) structural() bool { return r.t.obs.Structural() || r.t.doc.Structural() }

// subscribe asks the page for what those need who watch it, when that is something else than before.
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

// follow brings the head up to date for those who follow, or lowers what the page is asked for when nobody is new. When the
// page cannot be read, its next sign of life brings the tab here again.
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
		t.log.Debug("the page could not be read for those who follow it", "err", err)
		return
	}
	t.obs.SetCaughtUp(last)
}

// lowerSubscription lowers what the page is asked for after a watch was released. When that fails the page pushes on, which
// does no harm; the next change of the watches tries again.
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

// retryFollowers looks at the watches again when somebody still waits for a read. It is called after signs of life.
func (r *reader) retryFollowers() {
	if r.t.obs.CaughtUp() != r.t.watches.Last() {
		r.t.watches.Notify()
	}
}
