package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// documents holds the page's documents and implements driver.Observer.
type documents struct {
	*Page
	main   *Frame
	frames map[dom.FrameID]*Frame
	// order lists the frames in document order, main first.
	order   []*Frame
	made    int
	options options
	reports reports
	// busy changes the page before each read; see BusyWith.
	busy func(main *Frame)
}

// Update changes the page's documents. If the page is observed, the changes are pushed. The function must not call methods of the page.
func (p *documents) Update(change func(main *Frame)) { p.locked(func() { p.change(change) }) }

// change implements Update. The caller holds the lock.
func (p *documents) change(change func(main *Frame)) {
	change(p.main)
	p.syncFrames()
	p.flush()
}

// BusyWith makes the page change and push its changes each time before it is read. The function must not call methods of the page.
func (p *documents) BusyWith(change func(main *Frame)) { p.locked(func() { p.busy = change }) }

// Refresh makes a frame's document start over with a full patch, as after a return from the back/forward cache.
func (p *documents) Refresh(frame dom.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[frame]; f != nil {
		f.restart()
		p.flush()
	}
}

// Observed reports whether the page pushes its changes, and whether it pushes geometry.
func (p *documents) Observed() (push, geometry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reports.Push, p.reports.Geometry
}

// Read reads the changes of every document.
func (p *documents) Read(ctx context.Context, req driver.ReadRequest) (driver.ReadResult, error) {
	p.count("Read")
	if err := p.thread(ctx); err != nil {
		return driver.ReadResult{}, err
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
	var out driver.ReadResult
	for _, f := range p.order {
		if f.waiting {
			out.Unacknowledged = append(out.Unacknowledged, f.ID)
			continue
		}
		if patch, ok := f.patch(p.options, req.Geometry); ok {
			out.Patches = append(out.Patches, patch)
		} else {
			p.reportSelected(f) // was waiting for an acknowledgement that came with the read
		}
	}
	return out, nil
}

// Acknowledge assigns the refs of a document's last patch.
func (p *documents) Acknowledge(a driver.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acknowledge(a)
	p.flush()
}
