package browser

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/guise"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
)

// decode reads an event's parameters.
func decode[E any](msg *cdproto.Message, _ cdp.Event[E]) (E, error) {
	var e E
	err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions)
	return e, err
}

// on decodes an event and gives it to a method.
func on[E any](msg *cdproto.Message, ev cdp.Event[E], f func(E)) error {
	e, err := decode(msg, ev)
	if err == nil {
		f(e)
	}
	return err
}

// handle works on one event of a session. It runs on the page's loop.
func (p *Page) handle(s link.Session, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case runtime.BindingCalled.Method:
		return on(msg, runtime.BindingCalled, func(e runtime.EventBindingCalled) { p.pushed(s, e) })
	case runtime.ExecutionContextCreated.Method:
		return on(msg, runtime.ExecutionContextCreated, func(e runtime.EventExecutionContextCreated) { p.contextCreated(s, e.Context) })
	case runtime.ExecutionContextDestroyed.Method:
		return on(msg, runtime.ExecutionContextDestroyed, func(e runtime.EventExecutionContextDestroyed) {
			p.dropAgents(func(a *agent) bool { return a.unique == e.ExecutionContextUniqueID })
			p.dropWorlds(func(w *world) bool { return w.unique == e.ExecutionContextUniqueID })
		})
	case runtime.ExecutionContextsCleared.Method:
		p.dropAgents(func(a *agent) bool { return a.session.ID == s.ID })
		p.dropWorlds(func(w *world) bool { return w.session.ID == s.ID })
	case cdppage.FrameNavigated.Method:
		return on(msg, cdppage.FrameNavigated, func(e cdppage.EventFrameNavigated) { p.navigated(s, e.Frame) })
	case cdppage.NavigatedWithinDocument.Method:
		return on(msg, cdppage.NavigatedWithinDocument, p.navigatedWithin)
	case cdppage.WindowOpen.Method:
		return on(msg, cdppage.WindowOpen, func(e cdppage.EventWindowOpen) { p.opens(e.URL) })
	case cdppage.FrameRequestedNavigation.Method:
		return on(msg, cdppage.FrameRequestedNavigation, func(e cdppage.EventFrameRequestedNavigation) { p.leaving(e.FrameID, true) })
	case cdppage.FrameStartedNavigating.Method:
		return on(msg, cdppage.FrameStartedNavigating, func(e cdppage.EventFrameStartedNavigating) { p.leaving(e.FrameID, true) })
	case cdppage.FrameStoppedLoading.Method:
		return on(msg, cdppage.FrameStoppedLoading, func(e cdppage.EventFrameStoppedLoading) { p.leaving(e.FrameID, false) })
	case cdppage.FrameAttached.Method:
		return on(msg, cdppage.FrameAttached, func(e cdppage.EventFrameAttached) { p.frame(e.FrameID, e.ParentFrameID) })
	case cdppage.FrameDetached.Method:
		return on(msg, cdppage.FrameDetached, func(e cdppage.EventFrameDetached) {
			if e.Reason != cdppage.FrameDetachedReasonSwap {
				p.frameGone(e.FrameID)
			}
		})
	case cdppage.LifecycleEvent.Method:
		return on(msg, cdppage.LifecycleEvent, p.lifecycle)
	case cdppage.JavascriptDialogOpening.Method:
		return on(msg, cdppage.JavascriptDialogOpening, p.dialogOpening)
	case cdppage.JavascriptDialogClosed.Method:
		return on(msg, cdppage.JavascriptDialogClosed, p.dialogClosed)
	case input.DragIntercepted.Method:
		p.met(msg)
	case cdppage.FileChooserOpened.Method:
		if !p.met(msg) {
			p.emit(actor.ChooserAsked{})
		}
	case inspector.TargetCrashed.Method:
		p.crashed("crashed")
	case fetch.RequestPaused.Method:
		return on(msg, fetch.RequestPaused, func(e fetch.EventRequestPaused) {
			s.Post(p.ctx, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		})
	case fetch.AuthRequired.Method:
		return on(msg, fetch.AuthRequired, func(e fetch.EventAuthRequired) { p.authenticate(s, e) })
	case target.AttachedToTarget.Method:
		return on(msg, target.AttachedToTarget, p.attachedToFrame)
	case target.DetachedFromTarget.Method:
		return on(msg, target.DetachedFromTarget, func(e target.EventDetachedFromTarget) {
			p.browser.conn.Listen(e.SessionID, nil)
			p.ownSession(e.SessionID, "")
			p.takeOff(e.SessionID)
			p.dropAgents(func(a *agent) bool { return a.session.ID == e.SessionID })
			p.dropWorlds(func(w *world) bool { return w.session.ID == e.SessionID })
			p.traffic(func(t *traffic) bool { return t.drop(func(r request) bool { return r.session == e.SessionID }) })
		})
	}
	return p.handleLog(s, msg)
}

// frame returns the state of a frame, which it makes when it is new.
func (p *Page) frame(id, parent cdp.FrameID) *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.frames[id]
	if f == nil {
		f = &frame{id: id, parent: parent}
		p.frames[id] = f
	}
	if parent != "" {
		f.parent = parent
	}
	return f
}

// opens notes a window that the page has opened and that is on its way to become a tab.
func (p *Page) opens(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opening = append(p.opening, strings.HasPrefix(url, "http:") || strings.HasPrefix(url, "https:"))
	p.touch()
}

// opened notes that the oldest of them has arrived.
func (p *Page) opened() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opening = p.opening[min(1, len(p.opening)):]
	p.touch()
}

// opensDocument reports whether the oldest of them is to show a document of its own.
func (p *Page) opensDocument() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.opening) > 0 && p.opening[0]
}

// leaving notes that the main frame is on its way to another document, or no longer.
func (p *Page) leaving(id cdp.FrameID, yes bool) {
	if id != cdp.FrameID(p.id) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.departures++
	if !yes && p.navigating {
		p.tasks.Go(p.linger(p.departures))
		return
	}
	p.navigating = yes
	p.touch()
}

// stopGrace is how long a navigation that stopped without a document counts as one that goes on: the browser says a
// moment later that it has become a download.
const stopGrace = 150 * time.Millisecond

// linger ends a navigation that stopped without a document, unless another began since.
func (p *Page) linger(departure int) func() {
	return func() {
		timer := time.NewTimer(stopGrace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.ctx.Done():
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.departures == departure {
			p.navigating = false
			p.touch()
		}
	}
}

// auxData is what Chromium adds to the description of a context.
type auxData struct {
	FrameID   cdp.FrameID `json:"frameId"`
	IsDefault bool        `json:"isDefault"`
}

func (p *Page) contextCreated(s link.Session, d *runtime.ExecutionContextDescription) {
	if d == nil {
		return
	}
	var aux auxData
	if err := jsonv2.Unmarshal(d.AuxData, &aux, chromedp.DefaultUnmarshalOptions); err != nil || aux.FrameID == "" {
		return
	}
	if aux.IsDefault {
		p.worldCreated(aux.FrameID, &world{session: s, id: d.ID, unique: d.UniqueID})
	}
	if d.Name != page.World || aux.IsDefault {
		return
	}
	p.agentCame(p.frame(aux.FrameID, ""), &agent{session: s, id: d.ID, unique: d.UniqueID})
}

// agentCame takes in the agent of a frame's newest document.
func (p *Page) agentCame(f *frame, a *agent) {
	p.mu.Lock()
	a.document = f.document
	f.agents = append(f.agents, a)
	f.choose()
	observing, heeding := p.observing, p.heeding
	p.touch()
	p.mu.Unlock()
	if observing.Push {
		a.post(p.ctx, "observe", observing)
	}
	if heeds(heeding) {
		a.post(p.ctx, "heed", heedRequest(heeding))
	}
	p.adoptAll()
}

// adoptAll has the agents of parent documents told of the frames in them, each once: as soon as the parent is
// known and both documents have an agent, in whatever order that comes.
func (p *Page) adoptAll() {
	p.mu.Lock()
	due := map[cdp.FrameID]*agent{}
	for _, f := range p.frames {
		up := p.frames[f.parent]
		if f.agent == nil || up == nil || up.agent == nil || f.owner == up.agent {
			continue
		}
		f.owner = up.agent
		due[f.id] = up.agent
	}
	p.mu.Unlock()
	for id, parent := range due {
		p.arrive(func(ctx context.Context) { p.adopt(ctx, id, parent) })
	}
}

// arrivalGrace is how long reads wait for a frame that has just come, before they go on without it.
const arrivalGrace = time.Second

// arrive runs what brings a new frame in. Reads wait for it, but none longer than arrivalGrace: a frame that
// hangs in a process of its own must not hold up the page around it.
func (p *Page) arrive(task func(ctx context.Context)) {
	p.mu.Lock()
	p.arriving++
	p.mu.Unlock()
	arrived := sync.OnceFunc(func() {
		p.mu.Lock()
		p.arriving--
		p.touch()
		p.mu.Unlock()
	})
	p.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
		defer cancel()
		defer arrived()
		defer time.AfterFunc(arrivalGrace, arrived).Stop()
		task(ctx)
	})
}

// adopt tells the agent of the parent's document which element holds a frame.
func (p *Page) adopt(ctx context.Context, id cdp.FrameID, parent *agent) {
	owner, err := cdp.Call(ctx, parent.session, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: id})
	if err != nil {
		return // the frame is gone again
	}
	node, err := cdp.Call(ctx, parent.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: parent.id})
	if err != nil || node.Object == nil {
		return
	}
	silent := true
	arg, err := jsonv2.Marshal(string(id))
	if err != nil {
		return
	}
	_, _ = cdp.Call(ctx, parent.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: page.Adopt, ObjectID: node.Object.ObjectID, Silent: &silent,
		Arguments: []*runtime.CallArgument{{Value: arg}},
	})
}

// ownSession notes which frame a session is the own one of; none: it is over.
func (p *Page) ownSession(id target.SessionID, owner cdp.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		switch {
		case f.id == owner:
			f.session = id
		case f.session == id:
			f.session = ""
		default:
			continue
		}
		f.choose()
	}
	p.touch()
}

// dropAgents forgets the agents of documents that are gone.
func (p *Page) dropAgents(gone func(*agent) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		f.agents = slices.DeleteFunc(f.agents, gone)
		f.choose()
	}
	p.touch()
}

// pushed decodes a patch that an agent sent by itself.
func (p *Page) pushed(s link.Session, e runtime.EventBindingCalled) {
	if e.Name != page.Binding {
		return
	}
	p.mu.Lock()
	var from *frame
	for _, f := range p.frames {
		if f.agent != nil && f.agent.session.ID == s.ID && f.agent.id == e.ExecutionContextID {
			from = f
		}
	}
	var a *agent
	if from != nil {
		a = from.agent
	}
	p.mu.Unlock()
	if a == nil {
		return // of a document that is gone
	}
	m, err := page.Decode(e.Payload)
	if err != nil {
		p.logger.Warn("a document sent a malformed patch: it is read anew", "error", err)
		p.mu.Lock()
		a.broken = true
		p.mu.Unlock()
		return
	}
	if m.Unprobed {
		p.nudged(a)
		return
	}
	if m.Selected != nil {
		p.emit(actor.Selected{Frame: p.frameKey(from.id), Document: a.document, Found: m.Selected})
		return
	}
	m.Patch.Frame, m.Patch.Document = p.frameKey(from.id), a.document
	p.headed(a, &m)
	p.emit(actor.Patched{Patch: m.Patch})
}

// headed completes a patch with a brief header, and remembers what a longer one says.
func (p *Page) headed(a *agent, m *page.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Brief {
		m.Patch.URL, m.Patch.Title = a.url, a.title
		return
	}
	a.url, a.title = m.Patch.URL, m.Patch.Title
}

func (p *Page) navigated(s link.Session, f *cdp.Frame) {
	if f == nil {
		return
	}
	if f.ID == cdp.FrameID(p.id) && f.UnreachableURL != "" {
		p.deny(string(f.LoaderID), f.UnreachableURL)
	}
	known := p.frame(f.ID, f.ParentID)
	p.mu.Lock()
	first := known.document == ""
	known.document = string(f.LoaderID)
	known.url = f.URL + f.URLFragment
	if f.ID == cdp.FrameID(p.id) {
		p.navigating, p.down, p.asked.leaving = false, false, false
		p.context.visited(f.URL)
	}
	// The new document's context is announced right behind this event. But the window of the blank document that a
	// frame begins with, and so its contexts, may live on with the first document that is of the same origin.
	var kept []*agent
	known.agents = slices.DeleteFunc(known.agents, func(a *agent) bool {
		if a.session.ID == s.ID && first {
			kept = append(kept, a)
		}
		return a.session.ID == s.ID
	})
	known.choose()
	p.touch()
	p.mu.Unlock()
	for _, a := range kept {
		p.agentCame(known, &agent{session: a.session, id: a.id, unique: a.unique})
	}
	p.leftBehind(f.ID, f.LoaderID)
	event := actor.Committed{Frame: p.frameKey(f.ID), Document: string(f.LoaderID), URL: f.URL + f.URLFragment}
	if f.UnreachableURL != "" {
		event.URL, event.Error = f.UnreachableURL, "the page could not be loaded"
	}
	if f.ID == cdp.FrameID(p.id) {
		event.Cause = p.denied(string(f.LoaderID))
	}
	p.emit(event)
}

func (p *Page) navigatedWithin(e cdppage.EventNavigatedWithinDocument) {
	p.mu.Lock()
	f := p.frames[e.FrameID]
	document := ""
	if f != nil {
		f.url, document = e.URL, f.document
	}
	if e.FrameID == cdp.FrameID(p.id) {
		p.navigating = false
	}
	p.touch()
	p.mu.Unlock()
	if f != nil {
		p.emit(actor.Committed{Frame: p.frameKey(e.FrameID), Document: document, URL: e.URL, Same: true})
	}
}

func (p *Page) frameGone(id cdp.FrameID) {
	p.mu.Lock()
	delete(p.frames, id)
	p.touch()
	p.mu.Unlock()
	p.leftBehind(id, "")
	p.emit(actor.FrameGone{Frame: p.frameKey(id)})
}

var phases = map[string]actor.Phase{
	"commit": actor.PhaseCommit, "DOMContentLoaded": actor.PhaseDOMContentLoaded, "load": actor.PhaseLoad, "networkAlmostIdle": actor.PhaseNetworkIdle,
}

func (p *Page) lifecycle(e cdppage.EventLifecycleEvent) {
	phase, known := phases[e.Name]
	if !known || e.FrameID != cdp.FrameID(p.id) {
		return
	}
	if phase == actor.PhaseDOMContentLoaded && p.closing.Load() { // it was forgotten, see Close
		p.browser.root.Post(p.ctx, target.CommandCloseTarget, target.CloseTargetParams{TargetID: p.id})
	}
	if phase == actor.PhaseLoad || phase == actor.PhaseDOMContentLoaded {
		p.tasks.Go(func() { p.announce(string(e.LoaderID), phase) })
		return
	}
	p.emit(actor.Loaded{Document: string(e.LoaderID), Phase: phase})
}

// announce says that a phase is reached, after the title and the status of the document, so that who
// waits for the phase sees them. A page that does not answer is announced without.
func (p *Page) announce(document string, phase actor.Phase) {
	if a := p.agentOf(""); a != nil && a.document == document {
		ctx, cancel := context.WithTimeout(p.ctx, time.Second)
		defer cancel()
		var about page.About
		if err := a.call(ctx, "about", nil, &about); err == nil {
			p.emit(actor.Responded{Document: document, Status: about.Status})
			p.emit(actor.Titled{Title: about.Title})
		}
	}
	p.emit(actor.Loaded{Document: document, Phase: phase})
}

// crashed says once, until a document is committed again, that the renderer is gone: the browser says it
// in two ways.
func (p *Page) crashed(reason string) {
	p.mu.Lock()
	again, sacrificed := p.down, p.sacrificed
	p.down, p.navigating, p.opening = true, false, nil
	p.sacrificed, p.asked.open = false, nil
	p.touch()
	p.mu.Unlock()
	if again {
		return
	}
	p.dropAgents(func(*agent) bool { return true })
	p.emit(actor.Crashed{Reason: reason, Sacrificed: sacrificed})
}

// attachedToFrame takes in a frame that runs in a process of its own.
func (p *Page) attachedToFrame(e target.EventAttachedToTarget) {
	if e.TargetInfo != nil && e.TargetInfo.Type == "worker" {
		p.attachedToWorker(e.SessionID)
	}
	if e.TargetInfo == nil || e.TargetInfo.Type != "iframe" {
		return
	}
	s := link.Session{Conn: p.browser.conn, ID: e.SessionID}
	p.frame(cdp.FrameID(e.TargetInfo.TargetID), e.TargetInfo.ParentFrameID)
	p.ownSession(e.SessionID, cdp.FrameID(e.TargetInfo.TargetID))
	p.listen(s)
	p.arrive(func(ctx context.Context) {
		err := p.install(ctx, s, guise.Frame)
		if err == nil {
			err = p.findFrames(ctx, s)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			p.logger.Debug("a frame is not observed", "error", err)
		}
		// The frame's document was announced before the last answer: the loop knows of it behind the barrier.
		_ = p.barrier(ctx)
	})
}

// findFrames notes the frames that were in a session's documents before the session could be told of them.
func (p *Page) findFrames(ctx context.Context, s link.Session) error {
	tree, err := cdp.Call(ctx, s, cdppage.GetFrameTree, cdp.Empty{})
	if err != nil || tree.FrameTree == nil {
		return err
	}
	for rest := tree.FrameTree.ChildFrames; len(rest) > 0; {
		one := rest[0]
		rest = append(rest[1:], one.ChildFrames...)
		if one.Frame != nil {
			p.frame(one.Frame.ID, one.Frame.ParentID)
		}
	}
	p.adoptAll()
	return nil
}
