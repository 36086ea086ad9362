package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
)

// renderer is the page's main thread, which hangs and crashes.
type renderer struct {
	*Page
	hung    chan struct{}
	hangOn  []string
	crashed bool
	// sticky says that the page does not close.
	sticky bool
	// frozen is what SetFrozen said last.
	frozen bool
	// notFreezing is why the page cannot be frozen; nil: it can.
	notFreezing error
}

// Hang lets the page run a script that does not end: what needs its main thread waits until Resume,
// Interrupt or a navigation.
func (p *renderer) Hang() { p.locked(func() { p.hang() }) }

// hang is Hang; the caller holds the lock.
func (p *renderer) hang() {
	if p.hung == nil {
		p.hung = make(chan struct{})
	}
}

// HangOn lets the page hang from when methods of it have been called, one after the other, before the last one is answered.
func (p *renderer) HangOn(methods ...string) { p.locked(func() { p.hangOn = methods }) }

// Resume ends what Hang began.
func (p *renderer) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume()
	p.flush()
}

func (p *renderer) resume() {
	if p.hung != nil {
		close(p.hung)
		p.hung = nil
	}
}

// Crash ends the page's renderer; a navigation brings it back.
func (p *renderer) Crash(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashed = true
	p.resume()
	p.emit(driver.Crashed{Reason: reason})
}

// Ping returns when the main thread is free.
func (p *renderer) Ping(ctx context.Context) error { return p.call(ctx, "Ping", func() {}) }

// HoldClose lets Close wait until its context ends, as with a browser that does not answer. The page
// is gone only when the browser dies.
func (p *renderer) HoldClose() { p.locked(func() { p.sticky = true }) }

// SetFrozen freezes the page: it goes on as before, and Frozen says so.
func (p *renderer) SetFrozen(_ context.Context, frozen bool) error {
	p.count("SetFrozen")
	p.mu.Lock()
	defer p.mu.Unlock()
	if frozen && p.notFreezing != nil {
		return p.notFreezing
	}
	p.frozen = frozen
	return nil
}

// RefuseFreezing lets SetFrozen fail to freeze the page; nil: not any more.
func (p *renderer) RefuseFreezing(err error) { p.locked(func() { p.notFreezing = err }) }

// Frozen reports whether the page is frozen.
func (p *renderer) Frozen() (frozen bool) {
	p.locked(func() { frozen = p.frozen })
	return frozen
}
