package navigation

import (
	"context"
	"time"

	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/observer"
)

// DOMContentLoaded is the name of the lifecycle event after which a document is parsed.
const DOMContentLoaded = "DOMContentLoaded"

// phases are the lifecycle events that are reported, by name.
var phases = map[string]driver.Phase{
	"commit": driver.PhaseCommit, DOMContentLoaded: driver.PhaseDOMContentLoaded, "load": driver.PhaseLoad, "networkAlmostIdle": driver.PhaseNetworkIdle,
}

// aboutLimit bounds how long a page may take to report its title and status.
const aboutLimit = time.Second

// Lifecycle takes in how far a frame has loaded its document. It runs on the page's loop.
func (n *Navigator) Lifecycle(e cdppage.EventLifecycleEvent) {
	phase, known := phases[e.Name]
	if !known || !n.m.Tree.IsMain(e.FrameID) {
		return
	}
	if phase == driver.PhaseLoad || phase == driver.PhaseDOMContentLoaded {
		n.m.Tasks.Go(func() { n.announce(string(e.LoaderID), phase) })
		return
	}
	n.m.Emit(driver.Loaded{Document: string(e.LoaderID), Phase: phase})
}

// announce reports that a phase is reached, after the title and the status of the document, so that callers that wait for
// the phase see both. The phase of a page that does not answer is reported without them.
func (n *Navigator) announce(document string, phase driver.Phase) {
	if a := n.m.AgentOf(""); a != nil && a.Document == document {
		ctx, cancel := context.WithTimeout(n.m.Life, aboutLimit)
		defer cancel()
		var about observer.About
		if err := a.Call(ctx, "about", nil, &about); err == nil {
			n.m.Emit(driver.Responded{Document: document, Status: about.Status})
			n.m.Emit(driver.Titled{Title: about.Title})
		}
	}
	n.m.Emit(driver.Loaded{Document: document, Phase: phase})
}
