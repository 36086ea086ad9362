package facets

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

// Freezer implements driver.Freezer. The browser freezes pages that are hidden, and one with the focus emulation is not: so that goes
// first, and brings the page back in the end.
type Freezer struct {
	Page devtools.Session
	// Targets are the page and its frames in other processes, each with the focus emulation.
	Targets *emulate.Targets
	// Front does not know any more which page of a window is in front when one was hidden.
	Front  *capture.Front
	frozen atomic.Bool
}

// SetFrozen implements driver.Freezer. The browser does all of that by itself, in this order.
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
	f.Front.Unknown()
	return err
}

// Focus lets a page believe that it has the focus and is seen, unless it is frozen.
func (f *Freezer) Focus() devtools.Step {
	params := emulation.SetFocusEmulationEnabledParams{Enabled: !f.frozen.Load()}
	return devtools.Step{Method: emulation.CommandSetFocusEmulationEnabled, Params: params, Optional: true}
}
