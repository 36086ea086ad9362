package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/guise"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/browser/record"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/logs"
)

// Page is one tab. Its loop goroutine turns what the browser says into actor.Events; everything
// else runs on its callers' goroutines.
type Page struct {
	browser *Browser
	context *Context
	id      target.ID
	main    link.Session
	// viewport is the size that the page was opened with, zero: its session's; nil: it is a popup.
	viewport *dom.Box
	logger   *slog.Logger

	inbox  *link.Queue[inbound]
	log    *logs.Log
	record *record.Recorder
	missed [3]atomic.Uint64 // by logs.Kind; see listen
	events chan actor.Event

	// answers holds one while a dialog is being answered.
	answers chan struct{}

	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // what the loop starts
	ended  chan struct{}  // closed when nothing of the page runs any more
	// closing says that the page is to be closed, destroyed that the browser has said that it is gone.
	closing, destroyed atomic.Bool

	mu        sync.Mutex
	frames    map[cdp.FrameID]*frame
	changed   chan struct{} // closed and replaced when frames change
	observing page.ObserveRequest
	heeding   actor.Heed
	requests  traffic
	// attending says that somebody acts, and waits for the requests that this sets off.
	attending bool
	// navigating says that the main frame is on its way to another document.
	navigating bool
	// departures counts its beginnings and ends.
	departures int
	// received is when the browser received the document that the page is to give way to.
	received time.Time
	// down says that the renderer crashed and no document was committed since.
	down bool
	// sacrificed says that the renderer is ended on purpose.
	sacrificed bool
	// opening are the windows that the page opened and that are not tabs yet, and whether they are to show a document.
	opening []bool
	asked   dialogs
	// refusal is what the gate said of the newest document that did not come.
	refusal denial
	// begun counts the downloads of the page, of which newest is the last.
	begun  int
	newest actor.Download
	// arriving counts the frames that are on their way to be read: their agent is being installed, or
	// their place in their parent is being found out.
	arriving int
	// expected are the events that an action waits for, by method.
	expected map[string]chan *cdproto.Message
	// folders hold uploaded files.
	folders []string
	// wears is the guise of each session of the page, and of its workers.
	wears map[target.SessionID]*worn
	// challenged holds requests that were given credentials already.
	challenged map[fetch.RequestID]bool
}

// inbound is a message with the session that it came from, a barrier, an event, or the news of a crash.
type inbound struct {
	session link.Session
	msg     *cdproto.Message
	barrier chan struct{}
	// event, when set, is handed on as it is.
	event actor.Event
	// crash, when set, says how the renderer ended.
	crash string
}

// frame is one frame of the page and the agent of its document.
type frame struct {
	id       cdp.FrameID
	parent   cdp.FrameID
	document string // the loader's id; tells documents apart
	url      string
	// agent is the one that is asked: the newest of agents in the frame's own session, if it has one.
	agent  *agent
	agents []*agent
	// world is the page's own world of the document.
	world *world
	// session is the frame's own, while it runs in a process of its own. While a frame moves between
	// processes, both their sessions tell of it, in any order.
	session target.SessionID
	// owner is the agent of the parent's document that was told which of its elements holds the frame.
	owner *agent
}

// choose sets the agent.
func (f *frame) choose() {
	f.agent = nil
	for _, a := range f.agents {
		if f.agent == nil || a.session.ID == f.session || f.agent.session.ID != f.session {
			f.agent = a
		}
	}
}

// agent is the observer in one document.
type agent struct {
	session  link.Session
	id       runtime.ExecutionContextID
	unique   string
	document string
	broken   bool // sent something malformed: the next read starts from scratch
	late     bool // did not answer in time, and has not answered since
	probe    probe
	// url and title are those of its last patch that told them.
	url, title string
	acks       acks
}

func newPage(b *Browser, c *Context, id target.ID, sessionID target.SessionID) *Page {
	ctx, cancel := context.WithCancelCause(b.ctx)
	p := &Page{
		browser: b, context: c, id: id, main: link.Session{Conn: b.conn, ID: sessionID}, logger: b.logger.With("page", string(id)),
		inbox: link.NewQueue[inbound](), events: make(chan actor.Event, 256),
		ctx: ctx, cancel: cancel, ended: make(chan struct{}),
		frames: map[cdp.FrameID]*frame{}, changed: make(chan struct{}), answers: make(chan struct{}, 1), log: new(logs.Log),
		expected: map[string]chan *cdproto.Message{}, wears: map[target.SessionID]*worn{},
	}
	p.record = record.New(p.log, p.whyNot())
	p.frames[cdp.FrameID(id)] = &frame{id: cdp.FrameID(id)}
	p.listen(p.main)
	b.wg.Go(p.loop)
	return p
}

// drain reads the events of a page that nobody else reads, until it has ended.
func (p *Page) drain() {
	for range p.events {
	}
}

// install prepares a session of the page: the agent first, in the order without which the binding does
// not exist in the isolated world (limits.md, section 4), then what the loop listens to, and the guise. A target
// that waits for all that goes on then, also when something failed.
func (p *Page) install(ctx context.Context, s link.Session, kind guise.Kind) error {
	yes, none := true, int64(0)
	ctx, cancel := context.WithCancel(ctx) // a page that is gone answers nothing
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	g := p.context.guise()
	steps := []link.Step{
		{Method: runtime.CommandEnable},
		{Method: runtime.CommandAddBinding, Params: runtime.AddBindingParams{Name: page.Binding, ExecutionContextName: page.World}},
		{Method: cdppage.CommandEnable},
		{Method: network.CommandEnable, Params: network.EnableParams{
			MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none}},
		{Method: cdppage.CommandAddScriptToEvaluateOnNewDocument, Params: cdppage.AddScriptToEvaluateOnNewDocumentParams{
			Source: p.context.script(), WorldName: page.World, RunImmediately: &yes}},
		autoAttach(g),
		{Method: inspector.CommandEnable, Optional: true},
		// No file chooser ever opens: who uploads answers in its place.
		{Method: cdppage.CommandSetInterceptFileChooserDialog, Params: cdppage.SetInterceptFileChooserDialogParams{Enabled: true}, Optional: true},
		{Method: cdppage.CommandSetLifecycleEventsEnabled, Params: cdppage.SetLifecycleEventsEnabledParams{Enabled: true}},
		{Method: emulation.CommandSetFocusEmulationEnabled, Params: emulation.SetFocusEmulationEnabledParams{Enabled: true}, Optional: true},
	}
	steps = append(steps, p.putOn(s, kind, g)...)
	steps = append(steps, link.Step{Method: runtime.CommandRunIfWaitingForDebugger})
	if err := s.Run(ctx, steps...); err != nil {
		return err
	}
	return p.change(ctx, s) // the guise may have been changed meanwhile
}

// Session is the name of the session that the page lives in.
func (p *Page) Session() string { return p.context.name }

// ID implements actor.Page.
func (p *Page) ID() string { return string(p.id) }

// Events implements actor.Page.
func (p *Page) Events() <-chan actor.Event { return p.events }

// emit hands an event to the actor, which must keep reading.
func (p *Page) emit(e actor.Event) {
	select {
	case p.events <- e:
	case <-p.ctx.Done():
	}
}

// Close implements actor.Page.
//
// A close that comes while the browser commits a document is answered and forgotten (seen in Chromium 156 with the error
// document of a navigation that failed just before): it is asked for again when that document is parsed.
func (p *Page) Close(ctx context.Context) error {
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
	if errors.Is(err, link.ErrLost) || link.IsNoTarget(err) {
		return nil
	}
	return err
}

var errClosed = errors.New("the page is closed")

// end makes the loop finish; cause is nil when the page was closed on purpose.
func (p *Page) end(cause error) {
	if cause == nil {
		cause = errClosed
	}
	p.cancel(cause)
}

// destroy is end for a page that the browser says is gone.
func (p *Page) destroy() {
	p.destroyed.Store(true)
	p.end(nil)
}

// loop works on what the browser says until the page is gone.
func (p *Page) loop() {
	for {
		items, overflow, err := p.inbox.Take(p.ctx)
		if err != nil {
			break
		}
		if overflow {
			p.logger.Warn("the page floods the daemon with events: it is closed")
			p.cancel(fmt.Errorf("the page sent more than %d events at once", link.QueueLimit))
		}
		for _, in := range items {
			if in.barrier != nil {
				close(in.barrier)
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
			if err := p.handle(in.session, in.msg); err != nil {
				p.logger.Warn("an event of the page was not understood", "method", string(in.msg.Method), "error", err)
			}
		}
	}
	p.finish()
}

// finish tells the actor and frees what the page held. It runs once, at the end of the loop.
func (p *Page) finish() {
	cause := context.Cause(p.ctx)
	if errors.Is(cause, errClosed) {
		cause = nil
	}
	p.browser.forget(p)
	if !p.destroyed.Load() { // we ended it, and its target does not end by itself
		p.browser.discard(p.id)
	}
	p.tasks.Wait()
	p.removeFolders()
	p.events <- actor.Gone{Err: cause} // the actor reads until the channel is closed
	close(p.events)
	close(p.ended)
}

// barrier returns when the loop has worked on everything that arrived before.
func (p *Page) barrier(ctx context.Context) error {
	done := make(chan struct{})
	p.inbox.Push(inbound{barrier: done})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ctx.Done():
		return p.gone()
	}
}

// gone is the error of calls on a page that is no more.
func (p *Page) gone() error {
	if cause := context.Cause(p.ctx); cause != nil && !errors.Is(cause, errClosed) {
		return &actor.Error{Kind: actor.Lost, Message: "the page is gone; open a new tab", Err: cause}
	}
	return actor.Errorf(actor.Closed, "the page was closed; open a new tab")
}

// frameKey is how the rest of domtap names a frame: the main frame is the empty string.
func (p *Page) frameKey(id cdp.FrameID) dom.FrameID {
	if id == cdp.FrameID(p.id) {
		return ""
	}
	return dom.FrameID(id)
}

// cdpFrame is the inverse of frameKey.
func (p *Page) cdpFrame(id dom.FrameID) cdp.FrameID {
	if id == "" {
		return cdp.FrameID(p.id)
	}
	return cdp.FrameID(id)
}

// await waits until something about the page's frames is so; ready is called with mu held.
func (p *Page) await(ctx context.Context, ready func() bool) error {
	for {
		p.mu.Lock()
		done, changed := ready(), p.changed
		p.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.ctx.Done():
			return p.gone()
		}
	}
}

// touch wakes who waits for frames to change; mu is held.
func (p *Page) touch() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// callParams is a call of the agent.
type callParams struct {
	FunctionDeclaration string         `json:"functionDeclaration"`
	UniqueContextID     string         `json:"uniqueContextId"`
	Arguments           []callArgument `json:"arguments"`
	ReturnByValue       bool           `json:"returnByValue"`
	AwaitPromise        bool           `json:"awaitPromise"`
	Silent              bool           `json:"silent"`
	UserGesture         bool           `json:"userGesture,omitzero"`
	// SerializationOptions replaces ReturnByValue.
	SerializationOptions *serialization `json:"serializationOptions,omitzero"`
	ObjectGroup          string         `json:"objectGroup,omitzero"`
}

// callArgument is a value, or an object that the browser knows by id.
type callArgument struct {
	Value    any                    `json:"value,omitempty"`
	ObjectID runtime.RemoteObjectID `json:"objectId,omitzero"`
}

func (a *agent) params(command string, argument any) callParams {
	return a.paramsAcking(command, argument, nil)
}

// paramsAcking are those of a command that brings an acknowledgement along; nil: none.
func (a *agent) paramsAcking(command string, argument any, ack *page.Ack) callParams {
	return a.paramsWith(command, argument, ack.Digits())
}

// paramsWith are those of a command with numbers, as page.Mark and page.Ack write them.
func (a *agent) paramsWith(command string, argument any, digits []any) callParams {
	arguments := []callArgument{{Value: command}, {Value: argument}}
	for _, digit := range digits {
		arguments = append(arguments, callArgument{Value: digit})
	}
	return callParams{
		FunctionDeclaration: page.Call, UniqueContextID: a.unique, ReturnByValue: true, Silent: true,
		AwaitPromise: command == "settle" || command == "scrollBack" || command == "reveal",
		Arguments:    arguments,
	}
}

// call runs a command of the agent.
func (a *agent) call(ctx context.Context, command string, argument, result any) error {
	var reply link.Evaluation
	if err := a.session.Call(ctx, runtime.CommandCallFunctionOn, a.params(command, argument), &reply); err != nil {
		return err
	}
	return reply.Decode(result)
}

// post runs a command of the agent without waiting.
func (a *agent) post(ctx context.Context, command string, argument any) {
	a.session.Post(ctx, runtime.CommandCallFunctionOn, a.params(command, argument))
}

// isGoneContext reports whether an error says that the document was replaced.
func isGoneContext(err error) bool {
	var cerr *cdproto.Error
	if !errors.As(err, &cerr) {
		return false
	}
	for _, text := range []string{"uniqueContextId not found", "Cannot find context", "context was destroyed", "Session with given id", "Inspected target navigated", "Not attached to an active page"} {
		if strings.Contains(cerr.Message, text) {
			return true
		}
	}
	return false
}

// Call sends a raw command to the page's main session and decodes its answer into result: for
// measuring floors, and for what has no method of its own.
func (p *Page) Call(ctx context.Context, method string, params, result any) error {
	if err := p.main.Call(ctx, method, params, result); err != nil {
		return p.failed(err)
	}
	return nil
}

// Post sends a raw command to the page's main session and does not wait for its answer.
func (p *Page) Post(method string, params any) { p.main.Post(p.ctx, method, params) }
