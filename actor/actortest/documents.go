package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// documents are the page's documents as the driver reads and observes them.
type documents struct {
	*Page
	main   *Frame
	frames map[dom.FrameID]*Frame
	// order lists the frames in document order, main first.
	order   []*Frame
	made    int
	options options
	reports reports
	// busy is what the page does before each read, as BusyWith says.
	busy func(main *Frame)
}

// Update changes the page's documents; what changed is pushed when the page is observed. It may not
// call methods of the page.
func (p *documents) Update(change func(main *Frame)) { p.locked(func() { p.change(change) }) }

// change is Update; the caller holds the lock.
func (p *documents) change(change func(main *Frame)) {
	change(p.main)
	p.syncFrames()
	p.flush()
}

// BusyWith lets the page change, and push what changed, each time when it is about to be read. It may not call methods of the page.
func (p *documents) BusyWith(change func(main *Frame)) { p.locked(func() { p.busy = change }) }

// Refresh lets a frame's document start anew with a full patch, as after a return from the
// back/forward cache.
func (p *documents) Refresh(frame dom.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[frame]; f != nil {
		f.restart()
		p.flush()
	}
}

// Observed says whether the page pushes, and whether it pushes geometry.
func (p *documents) Observed() (push, geometry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports.Push, p.reports.Geometry
}

// Read asks every document for what changed.
func (p *documents) Read(ctx context.Context, req driver.ReadRequest) (driver.Readout, error) {
	p.count("Read")
	if err := p.thread(ctx); err != nil {
		return driver.Readout{}, err
	}
	defer p.mu.Unlock()
	p.options.structural = p.options.structural || req.Structural
	for _, name := range req.Attributes {
		if !slices.Contains(p.options.attributes, name) {
			p.options.attributes = append(p.options.attributes, name)
		}
	}
	if p.busy != nil {
		p.change(p.busy)
	}
	p.syncFrames()
	for _, a := range req.Acks {
		p.acknowledge(a)
	}
	var out driver.Readout
	for _, f := range p.order {
		if f.waiting {
			out.Unacknowledged = append(out.Unacknowledged, f.ID)
			continue
		}
		if patch, ok := f.patch(p.options, req.Geometry); ok {
			out.Patches = append(out.Patches, patch)
		} else {
			p.reportSelected(f) // which waited for an acknowledgement that came with the read
		}
	}
	return out, nil
}

// Acknowledge tells a document the refs of its last patch.
func (p *documents) Acknowledge(a driver.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acknowledge(a)
	p.flush()
}
