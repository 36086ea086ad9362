package browser

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/activity"
	"github.com/domtap/domtap/internal/browser/adapters"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/console"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/dialogs"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/emulate"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/input"
	"github.com/domtap/domtap/internal/browser/navigation"
	"github.com/domtap/domtap/internal/browser/observer"
	"github.com/domtap/domtap/internal/browser/pdfreader"
	"github.com/domtap/domtap/internal/browser/requests"
	"github.com/domtap/domtap/internal/browser/webmcp"
	"github.com/domtap/domtap/internal/browser/windows"
)

// Page is one tab. Its loop goroutine turns the browser's events into driver.Events and routes each event to a part. Everything else runs
// on the callers' goroutines.
type Page struct {
	browser *Browser
	context *Context
	id      target.ID
	main    devtools.Session
	logger  *slog.Logger

	// Each interface of driver.Page is implemented by one part, or by several together; see package adapters.
	driver.Observer
	driver.Query
	driver.Navigator
	driver.Input
	driver.Capturer
	driver.Dialogs
	driver.Scroller
	driver.PageStorage
	driver.Bodies
	driver.Documents
	driver.Tools
	*console.Feed
	rawPage
	*adapters.Freezer

	// The parts share the frames and their monitor.
	frames    *frames.Manager
	reader    *documents.Reader
	documents *documents.Query
	dialogs   *dialogs.Dialogs
	navigator *navigation.Navigator
	requests  *requests.Requests
	input     *input.Input
	emulated  *emulate.Targets
	shots     *capture.Capture
	tools     *webmcp.Tools
	// window is nil if the window is always drawn.
	window   *windows.Window
	activity activity.Activity

	inbox  *devtools.Queue[inbound]
	events chan driver.Event

	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // tasks that the loop starts
	ended  chan struct{}  // closed when the page has fully ended
	// takenOver is set if the page belongs to the user of the browser; see takeOver.
	takenOver bool
	// closing is set when Close is called, destroyed when the browser has reported that the page is gone.
	closing, destroyed atomic.Bool
}

// inbound is one of: a message with the session that it came from, a barrier, a request to prepare, an event, the report of a crash, or
// the documents of a page that was taken over.
type inbound struct {
	session devtools.Session
	msg     *cdproto.Message
	barrier chan struct{}
	// prepare requests a call of Reader.Prepare.
	prepare bool
	// event, if set, is emitted unchanged.
	event driver.Event
	// crash, if set, describes how the renderer ended.
	crash string
	// documents, if set, are the documents that the page showed when it was taken over.
	documents *cdppage.FrameTree
}

// newPageConfig describes a page to create for an attached target.
type newPageConfig struct {
	context *Context
	id      target.ID
	session target.SessionID
	// viewport is nil if the page keeps its size, because its opener or the user of the browser chose it.
	viewport *dom.Box
	// takenOver is set if the page belongs to the user of the browser. Documents are those that it shows already, or nil.
	takenOver bool
	documents *cdppage.FrameTree
}

func newPage(b *Browser, o newPageConfig) *Page {
	ctx, cancel := context.WithCancelCause(b.ctx)
	p := &Page{
		browser: b, context: o.context, id: o.id, main: devtools.Session{Conn: b.conn, ID: o.session, Guard: new(devtools.Guard)}, logger: b.logger.With("page", string(o.id)),
		inbox: devtools.NewQueue[inbound](), events: make(chan driver.Event, 64),
		ctx: ctx, cancel: cancel, ended: make(chan struct{}), takenOver: o.takenOver,
	}
	p.emulated = emulate.NewTargets(o.context.overrides, o.viewport)
	if o.viewport != nil && b.process.IsShell() { // a popup's window has the size that its opener chose
		p.window = b.windows.Of(p.main, o.id, p.emulated.Size)
	}
	p.compose()
	p.listen(p.main)
	b.wg.Go(p.loop)
	return p
}

// compose creates the parts of the page.
func (p *Page) compose() {
	b, c := p.browser, p.context
	world := observer.World
	if p.takenOver { // another daemon may have its agents in the same documents, and an earlier turn of ours has left some
		world += "-" + rand.Text()
	}
	m := frames.New(frames.Page{
		ID: p.id, Main: p.main, AgentWorld: world, Logger: p.logger, Life: p.ctx, Tasks: &p.tasks, Emit: p.emit, Barrier: p.barrier,
		OnAgent: func(a *frames.Agent) { p.reader.OnAgent(a) },
	})
	script := c.script()
	tab := &capture.Tab{Manager: m, Window: p.window}
	bringToFront := func(ctx context.Context) { c.front.BringToFront(ctx, tab) }
	p.frames = m
	p.dialogs, p.requests = dialogs.New(m), requests.New(m, p.emulated.OfRequests)
	p.reader, p.documents = documents.NewReader(m, script, p.requests), documents.NewQuery(m, script)
	p.navigator = navigation.New(m, p.dialogs, b.verdict(), bringToFront)
	p.input = input.NewInput(m, b.mac, b.process.Dir())
	p.Feed, p.rawPage = console.NewFeed(string(p.id), b.proxyVerdict()), rawPage{m}
	shots := capture.New(tab, p.documents, &c.front, func() bool { return !c.masks().IsZero() })

	p.shots = shots
	p.tools = webmcp.New(m, func() bool { open, _ := p.dialogs.Open(); return open.ID != 0 })
	p.Observer = adapters.Observer{Reader: p.reader, Requests: p.requests, OnLoop: func() { p.inbox.Push(inbound{prepare: true}) }}
	session := adapters.Session{Acts: c.acts, Clipboard: c.clipboard, BringToFront: bringToFront}
	p.Query = adapters.Query{Query: p.documents, Scripts: documents.NewScripts(m), Capture: shots, Session: session}
	p.Input = adapters.Input{
		Input: p.input, Documents: p.documents, Navigator: p.navigator, Requests: p.requests, Activity: &p.activity, Session: session, Barrier: p.barrier,
	}
	p.PageStorage, p.Bodies = adapters.Storage{Frames: m, Capture: shots}, adapters.Bodies{Requests: p.requests, Capture: shots}
	p.Documents = adapters.Documents{Capture: shots, Folder: c.Downloads, ReadPDF: func(ctx context.Context, data []byte) ([]byte, error) {
		return pdfreader.Read(ctx, b.root, c.id, data)
	}}
	p.Freezer = &adapters.Freezer{Page: p.main, Targets: p.emulated, Front: &c.front}
	p.Navigator, p.Capturer, p.Dialogs, p.Scroller, p.Tools = p.navigator, shots, p.dialogs, p.documents, adapters.Tools{Tools: p.tools, Capture: shots, Activity: &p.activity, Session: session}
}

// drain reads the events of a page that has no other reader, until the page has ended.
func (p *Page) drain() {
	for range p.events {
	}
}

// install prepares a session of the page. It sets up the agent first, in the order that the binding needs to exist in the isolated world
// (limits.md, section 4), then the events that the loop listens to, and the overrides. A target that waits for the debugger then continues,
// even if a step failed.
func (p *Page) install(ctx context.Context, s devtools.Session, kind emulate.Kind) error {
	yes := true
	ctx, cancel := context.WithCancel(ctx) // a page that is gone never responds
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	o := p.emulated.Overrides()
	steps := []devtools.Step{
		{Method: runtime.CommandEnable},
		{Method: runtime.CommandAddBinding, Params: runtime.AddBindingParams{Name: observer.Binding, ExecutionContextName: p.frames.AgentWorld}},
		{Method: cdppage.CommandEnable},
		requests.Enable(),
		{Method: cdppage.CommandAddScriptToEvaluateOnNewDocument, Params: cdppage.AddScriptToEvaluateOnNewDocumentParams{
			Source: p.context.script(), WorldName: p.frames.AgentWorld, RunImmediately: &yes}},
		emulate.AutoAttach(o),
		{Method: inspector.CommandEnable, Optional: true},
		// No file chooser ever opens. An upload answers the event instead.
		{Method: cdppage.CommandSetInterceptFileChooserDialog, Params: cdppage.SetInterceptFileChooserDialogParams{Enabled: true}, Optional: true},
		{Method: cdppage.CommandSetLifecycleEventsEnabled, Params: cdppage.SetLifecycleEventsEnabledParams{Enabled: true}},
		webmcp.Enable(),
		p.Focus(),
	}
	if p.takenOver { // a page that was loaded in advance would replace this one under another ID
		steps = append(steps, devtools.Step{Method: cdppage.CommandSetPrerenderingAllowed, Params: cdppage.SetPrerenderingAllowedParams{}, Optional: true})
	}
	steps = append(steps, p.emulated.Apply(s, kind, o)...)
	steps = append(steps, devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})
	if err := s.Run(ctx, steps...); err != nil {
		return err
	}
	return p.emulated.Update(ctx, s) // the overrides may have changed during Run
}

// Session returns the name of the page's session.
func (p *Page) Session() string { return p.context.name }

// ID implements driver.Page.
func (p *Page) ID() string { return string(p.id) }

// Events implements driver.Page.
func (p *Page) Events() <-chan driver.Event { return p.events }

// Guard implements driver.Page.
func (p *Page) Guard(check func() error) { p.main.Guard.Set(check) }

// emit sends an event to the actor, which must keep reading.
func (p *Page) emit(e driver.Event) {
	select {
	case p.events <- e:
	case <-p.ctx.Done():
	}
}

// Close implements driver.Page. A page that was taken over is handed back.
//
// The browser confirms but drops a close that arrives while it commits a document (seen in Chromium 156 with the error document of a
// navigation that had just failed). lifecycle therefore repeats the close when that document is parsed.
func (p *Page) Close(ctx context.Context) error {
	if p.takenOver {
		p.handBack(ctx)
		p.end(nil)
		<-p.ended
		return nil
	}
	p.closing.Store(true)
	_, err := cdp.Call(ctx, p.browser.root, target.CloseTarget, target.CloseTargetParams{TargetID: p.id})
	if err == nil {
		select {
		case <-p.ended:
			return nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	p.cancel(errClosed)
	<-p.ended
	if errors.Is(err, devtools.ErrLost) || devtools.IsNoTarget(err) {
		return nil
	}
	return err
}

// errClosed ends the life of a page that is closed on purpose.
var errClosed = frames.ErrClosed

// end makes the loop finish. A nil cause means that the page was closed on purpose.
func (p *Page) end(cause error) {
	if cause == nil {
		cause = errClosed
	}
	p.cancel(cause)
}

// destroy ends a page that the browser has reported as gone.
func (p *Page) destroy() {
	p.destroyed.Store(true)
	p.end(nil)
}

// loop handles the browser's events until the page is gone.
func (p *Page) loop() {
	for {
		items, overflow, err := p.inbox.Take(p.ctx)
		if err != nil {
			break
		}
		if overflow {
			p.logger.Warn("the page sent too many events and was closed")
			p.cancel(fmt.Errorf("the page sent more than %d events at once", devtools.QueueLimit))
		}
		for _, in := range items {
			if in.barrier != nil {
				close(in.barrier)
				continue
			}
			if in.prepare {
				p.reader.Prepare()
				continue
			}
			if in.event != nil {
				p.emit(in.event)
				continue
			}
			if in.crash != "" {
				p.crashed(in.crash)
				continue
			}
			if in.documents != nil {
				p.arrived(in.documents)
				continue
			}
			if err := p.handle(in.session, in.msg); err != nil {
				p.logger.Warn("an event from the page could not be decoded", "method", string(in.msg.Method), "error", err)
			}
		}
	}
	p.finish()
}

// finish reports the page's end to the actor and frees its resources. It runs once, at the end of the loop.
func (p *Page) finish() {
	cause := context.Cause(p.ctx)
	if errors.Is(cause, errClosed) {
		cause = nil
	}
	p.browser.forget(p)
	p.window.Close()
	switch { // if we ended the page, its target does not end by itself
	case p.destroyed.Load():
	case p.takenOver:
		p.browser.detach(p.main.ID)
	default:
		p.browser.targets.Discard(p.id)
	}
	p.tasks.Wait()
	p.input.Close()
	p.events <- driver.Gone{Err: cause} // the actor reads until the channel is closed
	close(p.events)
	close(p.ended)
}

// barrier returns when the loop has handled everything that arrived before the call.
func (p *Page) barrier(ctx context.Context) error {
	done := make(chan struct{})
	p.inbox.Push(inbound{barrier: done})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ctx.Done():
		return p.frames.Gone()
	}
}
