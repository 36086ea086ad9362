package actortest

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
)

// renderer simulates the page's main thread, which can hang and crash.
type renderer struct {
	*Page
	hung    chan struct{}
	hangOn  []string
	crashed bool
	// sticky reports whether the page refuses to close.
	sticky bool
	// frozen is the value of the last SetFrozen.
	frozen bool
	// notFreezing is the error of SetFrozen, or nil if the page can be frozen.
	notFreezing error
}

// Hang simulates a script that does not end. Calls that need the main thread wait until Resume, Interrupt or a navigation.
func (p *renderer) Hang() { p.locked(func() { p.hang() }) }

// hang implements Hang. The caller holds the lock.
func (p *renderer) hang() {
	if p.hung == nil {
		p.hung = make(chan struct{})
	}
}

// HangOn makes the page hang once the given methods have been called one after the other, before the last call is answered.
func (p *renderer) HangOn(methods ...string) { p.locked(func() { p.hangOn = methods }) }

// Resume ends a hang.
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

// Crash crashes the page's renderer. A navigation starts a new one.
func (p *renderer) Crash(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashed = true
	p.resume()
	p.emit(driver.Crashed{Reason: reason})
}

// Ping returns when the main thread is free.
func (p *renderer) Ping(ctx context.Context) error { return p.call(ctx, "Ping", func() {}) }

// HoldClose makes Close wait until its context ends, as with a browser that does not answer. The page is then gone only when the browser
// dies.
func (p *renderer) HoldClose() { p.locked(func() { p.sticky = true }) }

// SetFrozen only records the value for Frozen. The page continues to run.
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

// RefuseFreezing makes SetFrozen fail to freeze the page with err. Nil ends that.
func (p *renderer) RefuseFreezing(err error) { p.locked(func() { p.notFreezing = err }) }

// Frozen reports whether the page is frozen.
func (p *renderer) Frozen() (frozen bool) {
	p.locked(func() { frozen = p.frozen })
	return frozen
}
