package browser

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

// freezer implements driver.Freezer. The browser freezes pages that are hidden, and one with the focus emulation is not: so that goes
// first, and brings the page back in the end.
type freezer struct {
	page devtools.Session
	// targets are the page and its frames in other processes, each with the focus emulation.
	targets *emulate.Targets
	// front does not know any more which page of a window is in front when one was hidden.
	front  *capture.Front
	frozen atomic.Bool
}

// SetFrozen implements driver.Freezer. The browser does all of that by itself, in this order.
func (f *freezer) SetFrozen(ctx context.Context, frozen bool) error {
	f.frozen.Store(frozen)
	state := cdppage.SetWebLifecycleStateStateActive
	if frozen {
		state = cdppage.SetWebLifecycleStateStateFrozen
		f.targets.Post(ctx, []devtools.Step{f.focus()})
	}
	_, err := cdp.Call(ctx, f.page, cdppage.SetWebLifecycleState, cdppage.SetWebLifecycleStateParams{State: state})
	if !frozen {
		f.targets.Post(ctx, []devtools.Step{f.focus()})
	}
	f.front.Unknown()
	return err
}

// focus lets a page believe that it has the focus and is seen, unless it is frozen.
func (f *freezer) focus() devtools.Step {
	params := emulation.SetFocusEmulationEnabledParams{Enabled: !f.frozen.Load()}
	return devtools.Step{Method: emulation.CommandSetFocusEmulationEnabled, Params: params, Optional: true}
}
