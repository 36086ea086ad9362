package actor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// readRounds is how often a read is repeated for documents that were just pushing.
const readRounds = 4

// ReadOptions says what a Read needs beyond the interactive elements.
type ReadOptions struct {
	// Structural adds headings, landmarks, text and images.
	Structural bool
	// Attributes adds HTML attributes by name.
	Attributes []string
	// Geometry asks for the boxes, and brings Element.InViewport up to date.
	Geometry bool
	// MaxAge is how old the answer may be; 0: the page is asked. What lies ready is older than nothing that a call on
	// the tab did.
	MaxAge time.Duration
}

// Reading is the state of a tab right after a Read.
type Reading struct {
	Head *Head
	// Layout stands parallel to Head.Snapshot.Elements; nil unless Geometry was asked for.
	Layout *dom.Layout
	// Late names the frames that did not answer: of them the head shows what was last known.
	Late []dom.FrameID
	// Mark is that of ReadRequest. A head that came by itself since has the mark of the read before it.
	Mark uint64
}

// Read brings the DOM up to date with the page. What was once asked for by Structural and Attributes
// stays part of the stored DOM. It fails with an *Error: DialogOpen while a dialog blocks the page,
// Lost after a crash.
//
// Reads that wait for their turn share it: however many callers there are, the page is asked by one of them at a time,
// and each gets an answer that is younger than its call.
func (t *Tab) Read(ctx context.Context, o ReadOptions) (Reading, error) {
	if r, ok := t.ready(o); ok {
		return r, nil
	}
	r, err := together(ctx, t, "read", &t.reads, o, func(ctx context.Context, all []ReadOptions) (Reading, error) {
		return t.read(ctx, union(all))
	})
	return r.of(o), err
}

// union is what reads ask for together.
func union(all []ReadOptions) (o ReadOptions) {
	for _, one := range all {
		o.Structural = o.Structural || one.Structural
		o.Geometry = o.Geometry || one.Geometry
		o.Attributes = append(o.Attributes, one.Attributes...)
	}
	return o
}

// of is the reading for one of those who shared it.
func (r Reading) of(o ReadOptions) Reading {
	if !o.Geometry {
		r.Layout = nil
	}
	return r
}

func (t *Tab) read(ctx context.Context, o ReadOptions) (Reading, error) {
	if t.crashed {
		return Reading{}, t.crash()
	}
	if err := t.blocked(); err != nil {
		return Reading{}, err
	}
	_, held := t.watches.union()
	req := driver.ReadRequest{
		Structural: o.Structural || held.Structural, Geometry: o.Geometry || held.Geometry,
		Attributes: slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Attributes, held.Attributes)))),
	}
	at := time.Now()
	t.lastMark++
	req.Mark = t.lastMark
	late, err := t.update(ctx, req)
	if err != nil {
		return Reading{}, err
	}
	r := Reading{Head: t.head.Load(), Late: late, Mark: req.Mark}
	if o.Geometry {
		r.Layout = t.model.Layout()
	}
	t.keepRead(r, ReadOptions{Structural: req.Structural, Geometry: o.Geometry, Attributes: req.Attributes}, at)
	return r, nil
}

// update reads the page until every document was read, and returns the frames that did not answer. Acknowledgements are held back meanwhile and
// travel with the next request: so a document that is acknowledged cannot push again before it is read. One that was read need not be quiet
// while another is: what it pushes since is younger than the call.
func (t *Tab) update(ctx context.Context, req driver.ReadRequest) (late []dom.FrameID, err error) {
	t.hold = true
	defer func() {
		t.hold = false
		if t.observed.push {
			t.flush()
		}
	}()
	var unread []dom.FrameID // those that were pushing in all rounds so far; nil: there was no round that counts
	for range readRounds {
		main := t.main
		due := t.model.Pending()
		req.Acks, req.Restart = nil, t.model.BrokenFrames()
		for _, a := range due {
			req.Acks = append(req.Acks, driver.Ack(a))
		}
		var out driver.Readout
		err := t.query(ctx, func(ctx context.Context) (err error) {
			out, err = t.page().Read(ctx, req)
			return err
		})
		if err != nil {
			return nil, err
		}
		t.model.Delivered(due)
		t.alive()
		t.liveness.read = longest(out.Patches)
		t.drain()
		if req.Structural && t.main == main {
			t.structural = t.document
		}
		t.apply(out.Patches...)
		t.publish()
		switch {
		case t.main != main && main != "", // the patches were those of a document that is gone
			len(t.model.BrokenFrames()) > 0: // a patch was refused: the next ones start over
			unread = nil
		default:
			if unread = pushing(unread, out.Unacknowledged); len(unread) == 0 {
				return out.Late, nil
			}
		}
		late = out.Late
	}
	if t.model.Broken("") {
		return nil, apierr.Errorf(apierr.Aborted, "the main document of tab %s reports changes that make no sense: reload it", t.id)
	}
	if len(t.model.BrokenFrames()) > 0 {
		return late, nil // the rest of the page is as it should be
	}
	return nil, apierr.Errorf(apierr.Aborted, "tab %s changes faster than it can be read: try again", t.id)
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

// isStructural reports whether the stored DOM has headings, landmarks, text and images.
func (t *Tab) isStructural() bool {
	return t.heeded.Structural || t.structural == t.document
}

// flush tells the page of all refs that are due, so that its documents may push on and know them.
func (t *Tab) flush() {
	acks := t.model.Pending()
	for _, a := range acks {
		t.page().Acknowledge(driver.Ack(a))
	}
	t.model.Delivered(acks)
}

// WatchOptions says what a watch needs to be told of.
type WatchOptions struct {
	// Structural and Attributes are as in ReadOptions.
	Structural bool
	Attributes []string
	// Geometry keeps Element.InViewport up to date.
	Geometry bool
	// Selectors keeps Head.Selected up to date, for as many as the page evaluates at once.
	Selectors []dom.Selector
	// Network keeps Head.Network up to date.
	Network bool
}

// watch is one Watch.
type watch struct {
	options  WatchOptions
	released bool
}

// watches is the set of watches that are held. It has a lock of its own, so that releasing never waits
// for the tab.
type watches struct {
	mu      sync.Mutex
	held    map[*watch]struct{}
	changed chan struct{}
	// asked counts those that were added by follow.
	asked uint64
}

// add holds watches, but for those that were released already.
func (w *watches) add(all ...*watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range all {
		if !one.released {
			w.held[one] = struct{}{}
		}
	}
}

func (w *watches) release(one *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.released {
		return
	}
	one.released = true
	delete(w.held, one)
	w.nudge()
}

// union returns how many watches are held and what they need together.
func (w *watches) union() (int, WatchOptions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all WatchOptions
	for one := range w.held {
		all.Structural = all.Structural || one.options.Structural
		all.Geometry = all.Geometry || one.options.Geometry
		all.Attributes = append(all.Attributes, one.options.Attributes...)
		all.Selectors = append(all.Selectors, one.options.Selectors...)
		all.Network = all.Network || one.options.Network
	}
	return len(w.held), all
}

// observation is what a page is told to push.
type observation struct {
	push, geometry bool
}

// Watch lets the page push its changes, so that the head follows them, until release is called. It
// returns when the head is up to date. Release may be called more than once and never blocks. Errors
// are those of Read.
func (t *Tab) Watch(ctx context.Context, o WatchOptions) (release func(), err error) {
	one := &watch{options: o.clone()}
	release = func() { t.watches.release(one) }
	if err := t.begin(ctx, one); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// begin takes the turn that a watch begins with, which those share that wait for theirs.
func (t *Tab) begin(ctx context.Context, one *watch) error {
	_, err := together(ctx, t, "watch", &t.beginnings, one, func(ctx context.Context, all []*watch) (struct{}, error) {
		t.watches.add(all...)
		err := t.observe(ctx)
		if err == nil {
			_, err = t.read(ctx, ReadOptions{})
		}
		return struct{}{}, err
	})
	return err
}

// observe tells the page what to push, when that is something else than before.
func (t *Tab) observe(ctx context.Context) error {
	if t.crashed {
		return t.crash()
	}
	if err := t.blocked(); err != nil {
		return err
	}
	n, all := t.watches.union()
	want := observation{push: n > 0, geometry: all.Geometry}
	if t.known && t.observed == want {
		return t.heed(ctx, all.heed())
	}
	err := t.query(ctx, func(ctx context.Context) error {
		return t.page().Observe(ctx, want.push, want.geometry)
	})
	t.known = err == nil
	if err != nil {
		return err
	}
	t.observed = want
	if want.push {
		t.flush()
	}
	return t.heed(ctx, all.heed())
}

// relax lowers the observation after a watch was released. When that fails the page pushes on, which
// does no harm; the next change of the watches tries again.
func (t *Tab) relax() {
	if t.unresponsive {
		t.known = false
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, probeBound)
	defer cancel()
	if err := t.observe(ctx); err != nil {
		t.known = false
		t.log.Debug("the page still pushes its changes", "err", err)
	}
}
