package adapters

import (
	"context"
	"sync/atomic"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/emulate"
)

// Freezer implements driver.Freezer. The browser freezes only hidden pages, and focus emulation keeps a page visible. So SetFrozen turns
// focus emulation off before it freezes a page, and on again after it resumes the page.
type Freezer struct {
	Page devtools.Session
	// Targets holds the page and its frames in other processes. Each has focus emulation.
	Targets *emulate.Targets
	// Front knows which page of each window is in front. SetFrozen resets it when it hides a page.
	Front  *capture.Front
	frozen atomic.Bool
}

// Frozen reports whether the page was frozen last.
func (f *Freezer) Frozen() bool { return f.frozen.Load() }

// SetFrozen implements driver.Freezer.
func (f *Freezer) SetFrozen(ctx context.Context, frozen bool) error {
	f.frozen.Store(frozen)
	state := cdppage.SetWebLifecycleStateStateActive
	if frozen {
		state = cdppage.SetWebLifecycleStateStateFrozen
		f.Targets.Post(ctx, []devtools.Step{f.Focus()})
	}
	_, err := cdp.Call(ctx, f.Page, cdppage.SetWebLifecycleState, cdppage.SetWebLifecycleStateParams{State: state})
	if !frozen {
		f.Targets.Post(ctx, []devtools.Step{f.Focus()})
	}
	f.Front.Reset()
	return err
}

// Focus returns the command that makes a page believe that it is focused and visible, unless it is frozen.
func (f *Freezer) Focus() devtools.Step {
	params := emulation.SetFocusEmulationEnabledParams{Enabled: !f.frozen.Load()}
	return devtools.Step{Method: emulation.CommandSetFocusEmulationEnabled, Params: params, Optional: true}
}
