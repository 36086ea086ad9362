package actortest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Page is a fake driver.Page. Each part of the interface is implemented by an embedded type, which also has methods for tests.
type Page struct {
	documents
	queries
	navigator
	input
	capturer
	renderer
	dialogs
	stored
	tools

	browser   *Browser
	session   string
	takenOver bool
	id        string
	events    chan driver.Event
	gone      chan struct{}
	log       pagelog.Log

	// mu guards the fields below and the fields of the embedded types.
	mu    sync.Mutex
	ended bool
	// mayAct is the guard, or nil.
	mayAct func() error
	calls  map[string]int
	// trace holds the calls since the last call of Trace.
	trace  []string
	faults []string
}

// newPage creates a page that shows a blank document.
func newPage(b *Browser, id, session string, viewport dom.Box) *Page {
	p := &Page{browser: b, session: session, id: id, events: make(chan driver.Event, 4096), gone: make(chan struct{})}
	p.documents.Page, p.queries.Page, p.navigator.Page, p.input.Page = p, p, p, p
	p.stored.Page, p.tools.Page = p, p
	p.capturer.Page, p.renderer.Page, p.dialogs.Page = p, p, p
	viewport.X, viewport.Y = 0, 0
	p.main = &Frame{URL: "about:blank", Scroll: viewport, document: id + "-document-0"}
	p.frames = map[dom.FrameID]*Frame{"": p.main}
	p.order = []*Frame{p.main}
	return p
}

// ID returns the page's ID.
func (p *Page) ID() string { return p.id }

// TakenOver implements driver.Page.
func (p *Page) TakenOver() bool { return p.takenOver }

// Log returns the page's log. Tests may write to it.
func (p *Page) Log() *pagelog.Log { return &p.log }

// Events delivers the page's events.
func (p *Page) Events() <-chan driver.Event { return p.events }

// Guard makes check run before each action. The real page calls it before each command of an action.
func (p *Page) Guard(check func() error) { p.locked(func() { p.mayAct = check }) }

// locked runs do with the lock held. do must not call methods that acquire the lock.
func (p *Page) locked(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// emit sends events. The caller holds the lock.
func (p *Page) emit(events ...driver.Event) {
	if p.ended {
		return
	}
	for _, e := range events {
		select {
		case p.events <- e:
		default:
			panic("actortest: nobody reads the page's events")
		}
	}
}

// Emit sends an event as if it came from the browser.
func (p *Page) Emit(e driver.Event) { p.locked(func() { p.emit(e) }) }

// Open makes the page open a popup that shows the URL.
func (p *Page) Open(url string) *Page { return p.open(url) }

// OpenBound makes the page open a popup that is about to load a document. Call Go on it to load the document.
func (p *Page) OpenBound() *Page { return p.open("") }

func (p *Page) open(url string) *Page {
	p.mu.Lock()
	viewport := p.main.Scroll
	p.mu.Unlock()
	popup := p.browser.newPage(driver.PageOptions{Session: p.session, Viewport: viewport})
	if url != "" {
		popup.Go(url)
	}
	p.browser.popups <- driver.Popup{Page: popup, Opener: p.id, Session: p.session, Bound: url == ""}
	return popup
}

// Calls returns how often a method of driver.Page was called.
func (p *Page) Calls(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[method]
}

// Trace returns the methods of driver.Page that were called since the last Trace, in order.
func (p *Page) Trace() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.trace
	p.trace = nil
	return taken
}

// Faults returns the violations of the rules of driver.Page so far.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Closed returns a channel that is closed when the page is gone.
func (p *Page) Closed() <-chan struct{} { return p.gone }

func (p *Page) count(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]int{}
	}
	p.calls[method]++
	p.trace = append(p.trace, method)
	if len(p.hangOn) == 0 || p.hangOn[0] != method {
		return
	}
	if p.hangOn = p.hangOn[1:]; len(p.hangOn) == 0 {
		p.hang()
	}
}

// thread waits until the page's main thread is free. It returns with the lock held unless it fails.
func (p *Page) thread(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.mu.Lock()
		wait := p.hung
		if p.answer != nil {
			wait = p.answer
		}
		switch {
		case p.ended:
			p.mu.Unlock()
			return errors.New("the page is closed")
		case p.crashed:
			p.mu.Unlock()
			return apierr.Errorf(apierr.Lost, "the renderer crashed")
		case wait == nil:
			return nil
		}
		p.mu.Unlock()
		select {
		case <-wait:
		case <-p.gone:
		case <-ctx.Done():
		}
	}
}

// call counts a call of a method, waits until the page's main thread is free, and runs do with the lock held.
func (p *Page) call(ctx context.Context, method string, do func()) error {
	p.count(method)
	if err := p.thread(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	do()
	return nil
}

// flush pushes the changes. The caller holds the lock.
func (p *Page) flush() {
	if !p.reports.Push || p.hung != nil || p.answer != nil || p.crashed {
		return
	}
	for _, f := range p.order {
		if f.waiting {
			continue
		}
		measure := p.reports.Geometry && (f.state == nil || f.moved())
		if patch, ok := f.patch(p.options, measure); ok {
			p.emit(driver.Patched{Patch: patch})
		} else {
			p.reportSelected(f)
		}
	}
}

// syncFrames updates the set of frames from the documents and reports frames that were added or removed.
func (p *Page) syncFrames() {
	p.order = nil
	seen := map[dom.FrameID]bool{}
	var visit func(f *Frame)
	var walk func(nodes []*Node)
	walk = func(nodes []*Node) {
		for _, n := range nodes {
			if n.Holds != nil {
				visit(n.Holds)
			}
			walk(n.Children)
		}
	}
	visit = func(f *Frame) {
		if seen[f.ID] {
			return
		}
		seen[f.ID] = true
		p.order = append(p.order, f)
		if p.frames[f.ID] != f {
			p.frames[f.ID] = f
			f.document = p.document()
			f.restart()
			forget(f.Body) // a frame that is attached again loads a document with new nodes
			p.emit(driver.Committed{Frame: f.ID, Document: f.document, URL: f.URL})
		}
		walk(f.Body)
	}
	visit(p.main)
	for id := range p.frames {
		if !seen[id] {
			delete(p.frames, id)
			p.emit(driver.FrameGone{Frame: id})
		}
	}
}

// forget makes the nodes of a document count as new.
func forget(nodes []*Node) {
	for _, n := range nodes {
		n.known = false
		forget(n.Children)
	}
}

func (p *Page) document() string {
	p.made++
	return p.id + "-document-" + strconv.Itoa(p.made)
}

func (p *Page) acknowledge(a driver.Ack) {
	f := p.frames[a.Frame]
	if f == nil || f.document != a.Document {
		return
	}
	if fault := f.acknowledge(a); fault != "" {
		p.faults = append(p.faults, fault)
	}
}

// commit replaces the main document. The caller holds the lock. It returns the commit of the URL, even if the page has navigated further.
func (p *Page) commit(url string, s Screen) driver.Commit {
	p.crashed = false
	p.resume()
	p.closeDialog(false)
	for id := range p.frames {
		if id != "" {
			delete(p.frames, id)
			p.emit(driver.FrameGone{Frame: id})
		}
	}
	viewport := p.main.Scroll
	viewport.X, viewport.Y = 0, 0
	p.main = &Frame{URL: url, Title: s.Title, Body: s.Body, HTML: s.HTML, Scroll: viewport, document: p.document()}
	p.frames[""] = p.main
	commit := driver.Commit{Document: p.main.document}
	if s.Error == "" {
		p.emit(driver.ResponseReceived{Document: p.main.document, Status: max(s.Status, 200)})
	}
	p.emit(driver.Committed{Document: p.main.document, URL: url, Error: s.Error, Cause: s.Cause})
	p.syncFrames()
	if s.Opens != nil {
		p.openDialog(*s.Opens)
		return commit
	}
	if s.Stall {
		return commit
	}
	p.emit(driver.TitleChanged{Title: s.Title}, driver.Loaded{Document: p.main.document, Phase: driver.PhaseDOMContentLoaded})
	if s.Redirect != "" {
		p.commit(s.Redirect, p.browser.screen(s.Redirect))
		return commit
	}
	p.flush()
	p.emit(driver.Loaded{Document: p.main.document, Phase: driver.PhaseLoad},
		driver.Loaded{Document: p.main.document, Phase: driver.PhaseNetworkIdle})
	return commit
}

// Close closes the page, even if it hangs.
func (p *Page) Close(ctx context.Context) error {
	p.count("Close")
	p.mu.Lock()
	sticky := p.sticky
	p.mu.Unlock()
	if sticky {
		<-ctx.Done()
		return ctx.Err()
	}
	p.end(nil)
	return nil
}

func (p *Page) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.emit(driver.Gone{Err: err})
	p.ended = true
	close(p.gone)
	close(p.events)
}
