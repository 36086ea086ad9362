package browser

import (
	"context"
	"errors"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/navigation"
)

// handle handles one event of a session. It runs on the page's loop.
func (p *Page) handle(s devtools.Session, msg *cdproto.Message) error {
	switch domain, _, _ := strings.Cut(string(msg.Method), "."); domain {
	case "Page":
		return p.handlePage(s, msg)
	case "WebMCP":
		return p.tools.Handle(s, msg)
	}
	switch string(msg.Method) {
	case runtime.BindingCalled.Method:
		e, err := devtools.BindingCall(msg)
		if err == nil {
			p.reader.Pushed(s, e)
		}
		return err
	case runtime.ExecutionContextCreated.Method:
		return devtools.On(msg, runtime.ExecutionContextCreated, func(e runtime.EventExecutionContextCreated) { p.frames.ContextCreated(s, e.Context) })
	case runtime.ExecutionContextDestroyed.Method:
		return devtools.On(msg, runtime.ExecutionContextDestroyed, func(e runtime.EventExecutionContextDestroyed) {
			p.frames.ContextGone(e.ExecutionContextUniqueID)
		})
	case runtime.ExecutionContextsCleared.Method:
		p.frames.ContextsGone(s.ID)
	case cdpinput.DragIntercepted.Method:
		p.input.Expected(msg)
	case inspector.TargetCrashed.Method:
		p.crashed("crashed")
	case fetch.RequestPaused.Method:
		return devtools.On(msg, fetch.RequestPaused, func(e fetch.EventRequestPaused) {
			main := e.FrameID == cdp.FrameID(p.id)
			rewritten := p.browser.held.decide(p.ctx, s, &e, main, p.emulated.Overrides().Table())
			if main && e.ResourceType == network.ResourceTypeDocument {
				p.navigator.Rewritten(string(e.NetworkID), rewritten)
			}
		})
	case fetch.AuthRequired.Method:
		return devtools.On(msg, fetch.AuthRequired, func(e fetch.EventAuthRequired) {
			answer := p.emulated.Authenticate(p.emulated.Overrides(), e)
			s.Post(p.ctx, answer.Method, answer.Params)
		})
	case target.AttachedToTarget.Method:
		return devtools.On(msg, target.AttachedToTarget, p.attachedToFrame)
	case target.DetachedFromTarget.Method:
		return devtools.On(msg, target.DetachedFromTarget, p.detached)
	}
	return p.handleLog(s, msg)
}

// handlePage handles one event of CDP's Page domain: documents, frames, dialogs and file choosers.
func (p *Page) handlePage(s devtools.Session, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case cdppage.FrameNavigated.Method:
		return devtools.On(msg, cdppage.FrameNavigated, func(e cdppage.EventFrameNavigated) { p.committed(s, e.Frame) })
	case cdppage.NavigatedWithinDocument.Method:
		return devtools.On(msg, cdppage.NavigatedWithinDocument, p.committedWithin)
	case cdppage.WindowOpen.Method:
		return devtools.On(msg, cdppage.WindowOpen, func(e cdppage.EventWindowOpen) {
			p.navigator.Change(func(s *navigation.State) { s.WindowOpening(e.URL) })
		})
	case cdppage.FrameRequestedNavigation.Method:
		return devtools.On(msg, cdppage.FrameRequestedNavigation, func(e cdppage.EventFrameRequestedNavigation) { p.navigator.FrameDeparted(e.FrameID) })
	case cdppage.FrameStartedNavigating.Method:
		return devtools.On(msg, cdppage.FrameStartedNavigating, func(e cdppage.EventFrameStartedNavigating) { p.navigator.FrameDeparted(e.FrameID) })
	case cdppage.FrameStoppedLoading.Method:
		return devtools.On(msg, cdppage.FrameStoppedLoading, func(e cdppage.EventFrameStoppedLoading) { p.navigator.FrameStopped(e.FrameID) })
	case cdppage.FrameAttached.Method:
		return devtools.On(msg, cdppage.FrameAttached, func(e cdppage.EventFrameAttached) { p.frames.Known(e.FrameID, e.ParentFrameID) })
	case cdppage.FrameDetached.Method:
		return devtools.On(msg, cdppage.FrameDetached, func(e cdppage.EventFrameDetached) {
			if e.Reason != cdppage.FrameDetachedReasonSwap {
				p.frameGone(e.FrameID)
			}
		})
	case cdppage.LifecycleEvent.Method:
		return devtools.On(msg, cdppage.LifecycleEvent, p.lifecycle)
	case cdppage.JavascriptDialogOpening.Method:
		p.input.SetDialog(true)
		return devtools.On(msg, cdppage.JavascriptDialogOpening, p.dialogs.Opening)
	case cdppage.JavascriptDialogClosed.Method:
		p.input.SetDialog(false)
		return devtools.On(msg, cdppage.JavascriptDialogClosed, func(e cdppage.EventJavascriptDialogClosed) { p.dialogs.Closing(e, p.navigator.State.Arrived) })
	case cdppage.ScreencastFrame.Method:
		return devtools.On(msg, cdppage.ScreencastFrame, p.shots.Casts.Take)
	case cdppage.FileChooserOpened.Method:
		if !p.input.Expected(msg) {
			p.emit(driver.FileChooserRequested{})
		}
	}
	return p.handleLog(s, msg)
}

// committed records the new document of a frame. It notifies the parts that a new main document concerns.
func (p *Page) committed(s devtools.Session, f *cdp.Frame) {
	if f == nil {
		return
	}
	url, main, document := f.URL+f.URLFragment, f.ID == cdp.FrameID(p.id), string(f.LoaderID)
	if main && f.UnreachableURL != "" {
		p.navigator.Refuse(document, f.UnreachableURL)
	}
	var kept []*frames.Agent
	p.frames.Change(func(t *frames.Tree) {
		kept = t.Commit(s.ID, f.ID, f.ParentID, document, url)
		if main {
			p.navigator.State.Committed()
			p.dialogs.State.SetLeaving(false)
		}
	})
	if main {
		p.activity.Committed()
		p.context.store.Visited(f.URL)
	}
	// The context of the new document is announced right after this event.
	for _, a := range kept {
		p.frames.Add(f.ID, a)
	}
	p.requests.Committed(f.ID, f.LoaderID)
	p.tools.Committed(f.ID)
	event := driver.Committed{Frame: p.frames.Tree.Key(f.ID), Document: document, URL: url}
	if f.UnreachableURL != "" {
		event.URL, event.Error = f.UnreachableURL, "the page could not be loaded"
	}
	if main {
		event.Cause = p.navigator.Refused(document)
	}
	p.emit(event)
}

// committedWithin records a frame's new URL within the same document.
func (p *Page) committedWithin(e cdppage.EventNavigatedWithinDocument) {
	document, known := "", false
	p.frames.Change(func(t *frames.Tree) {
		if f := t.Get(e.FrameID); f != nil {
			f.URL, document, known = e.URL, f.Document, true
		}
		if t.IsMain(e.FrameID) {
			p.navigator.State.Arrived()
		}
	})
	if known {
		p.emit(driver.Committed{Frame: p.frames.Tree.Key(e.FrameID), Document: document, URL: e.URL, Same: true})
	}
}

// frameGone records that a frame was removed.
func (p *Page) frameGone(id cdp.FrameID) {
	p.frames.Change(func(t *frames.Tree) { t.Remove(id) })
	p.requests.Committed(id, "")
	p.tools.Committed(id)
	p.emit(driver.FrameGone{Frame: p.frames.Tree.Key(id)})
}

// lifecycle records the loading progress of a frame's document.
func (p *Page) lifecycle(e cdppage.EventLifecycleEvent) {
	parsed := e.Name == navigation.DOMContentLoaded && e.FrameID == cdp.FrameID(p.id)
	if parsed && p.closing.Load() { // the close was dropped, see Close
		p.browser.root.Post(p.ctx, target.CommandCloseTarget, target.CloseTargetParams{TargetID: p.id})
	}
	p.navigator.Lifecycle(e)
}

// crashed reports that the renderer is gone. The browser announces a crash twice; crashed reports it once, until the next document is
// committed.
func (p *Page) crashed(reason string) {
	var again, deliberate bool
	p.navigator.Change(func(s *navigation.State) {
		again, deliberate = s.Crashed()
		p.dialogs.State.Lost()
	})
	p.input.SetDialog(false)
	if again {
		return
	}
	p.frames.Change(func(t *frames.Tree) {
		t.Drop(func(*frames.Agent) bool { return true }, func(*frames.World) bool { return false })
	})
	p.tools.Crashed()
	p.emit(driver.Crashed{Reason: reason, Deliberate: deliberate})
}

// attachedToFrame sets up a frame that runs in its own process, or a worker.
func (p *Page) attachedToFrame(e target.EventAttachedToTarget) {
	if e.TargetInfo != nil && e.TargetInfo.Type == "worker" {
		w := devtools.Session{Conn: p.browser.conn, ID: e.SessionID}
		p.listen(w)
		p.emulated.StartWorker(p.ctx, w)
	}
	if e.TargetInfo == nil || e.TargetInfo.Type != "iframe" {
		return
	}
	s := devtools.Session{Conn: p.browser.conn, ID: e.SessionID, Guard: p.main.Guard}
	id := cdp.FrameID(e.TargetInfo.TargetID)
	p.frames.Attached(e.SessionID, id, e.TargetInfo.ParentFrameID)
	p.listen(s)
	p.frames.Arrive(id, func(ctx context.Context) error {
		err := p.install(ctx, s, emulate.Frame)
		if err == nil {
			err = p.frames.Discover(ctx, s)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			p.logger.Debug("a frame is not observed", "error", err)
		}
		// The frame's document was announced before the last response. After the barrier, the loop has handled it.
		_ = p.barrier(ctx)
		return err
	})
}

// detached forgets the session of a frame or a worker that has ended.
func (p *Page) detached(e target.EventDetachedFromTarget) {
	p.browser.conn.Listen(e.SessionID, nil)
	p.emulated.Forget(e.SessionID)
	p.frames.Detached(e.SessionID)
	p.requests.Detached(e.SessionID)
	p.tools.Detached(e.SessionID)
}
