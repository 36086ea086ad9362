package navigation

import (
	"context"
	"time"

	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/observer"
)

// DOMContentLoaded is the name of the lifecycle event that reports a parsed document.
const DOMContentLoaded = "DOMContentLoaded"

// phases maps the names of lifecycle events to the phases that are reported.
var phases = map[string]driver.Phase{
	"commit": driver.PhaseCommit, DOMContentLoaded: driver.PhaseDOMContentLoaded, "load": driver.PhaseLoad, "networkAlmostIdle": driver.PhaseNetworkIdle,
}

// aboutLimit bounds how long a page may take to report its title and status.
const aboutLimit = time.Second

// Lifecycle handles the loading progress of a frame. It runs on the page's loop.
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

// announce reports that a document has reached a phase. It reports the document's title and status first, so that callers that wait for the
// phase see both. If the page does not respond, it reports only the phase.
func (n *Navigator) announce(document string, phase driver.Phase) {
	if a := n.m.AgentOf(""); a != nil && a.Document == document {
		ctx, cancel := context.WithTimeout(n.m.Life, aboutLimit)
		defer cancel()
		var about observer.About
		if err := a.Call(ctx, "about", nil, &about); err == nil {
			n.m.Emit(driver.ResponseReceived{Document: document, Status: about.Status})
			n.m.Emit(driver.TitleChanged{Title: about.Title})
		}
	}
	n.m.Emit(driver.Loaded{Document: document, Phase: phase})
}
