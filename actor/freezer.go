package actor

import (
	"context"
	"time"
)

// freezeLimit bounds how long the browser may take to freeze or thaw a page. That involves no renderer.
const freezeLimit = 5 * time.Second

// freezer freezes the page while the tab's owner wants that, and thaws it before every call. Only the tab's goroutine uses it.
type freezer struct {
	t *loop
	// frozen reports whether the page is frozen, or may be.
	frozen bool
}

// apply freezes or thaws the page between calls, as the owner wants. A busy page is frozen when it is no longer busy.
func (f *freezer) apply() {
	t := f.t
	switch asked := t.freeze.Load(); {
	case t.ctx.Err() != nil:
	case asked && !f.frozen && !f.busy():
		t.exclusively(func(*Exclusive) { f.freeze() })
	case !asked && f.frozen:
		t.exclusively(func(*Exclusive) {}) // thaws the page
	}
}

// busy reports whether the page is loading or downloading, is blocked by a dialog, or is missing.
func (f *freezer) busy() bool {
	t := f.t
	return t.nav.Loading() || t.downloads.Running() || t.dialogs.Open() != nil || t.health.Crashed() || t.recovery.Away()
}

// freeze freezes the page. If that fails, the page stays thawed until the owner calls Freeze again.
func (f *freezer) freeze() {
	f.frozen = true
	if err := f.set(true); err != nil {
		f.t.log.Warn("the page could not be frozen", "err", err)
		f.t.freeze.Store(false)
		f.thaw()
		return
	}
	f.t.log.Debug("the page of an idle tab was frozen")
}

// thaw thaws the page if it is frozen. If that fails, the next call tries again.
func (f *freezer) thaw() {
	if !f.frozen {
		return
	}
	if err := f.set(false); err != nil {
		f.t.log.Warn("the page could not be thawed", "err", err)
		return
	}
	f.frozen = false
	f.t.log.Debug("the page was thawed")
}

func (f *freezer) set(frozen bool) error {
	ctx, cancel := context.WithTimeout(f.t.ctx, freezeLimit)
	defer cancel()
	return f.t.pump.call(ctx, nil, func(ctx context.Context) error { return f.t.page().SetFrozen(ctx, frozen) })
}
