package actortest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Page is a fake of driver.Page.
type Page struct {
	browser *Browser
	session string
	id      string
	events  chan driver.Event
	gone    chan struct{}

	mu     sync.Mutex
	ended  bool
	main   *Frame
	frames map[dom.FrameID]*Frame
	// order lists the frames in document order, main first.
	order     []*Frame
	documents int
	options   options
	push      bool
	geometry  bool
	observing observing

	history []string
	at      int

	hung    chan struct{}
	hangOn  []string
	crashed bool
	sticky  bool
	dialogs

	actions []driver.Action
	calls   map[string]int
	// trace holds the calls since Trace took them last.
	trace   []string
	faults  []string
	picture []byte
	place   driver.ScrollPosition
	seen    seen
	// busy is what the page does before each read, as BusyWith says.
	busy func(main *Frame)
}

// ID is the page's name.
func (p *Page) ID() string { return p.id }

// Events delivers what the page does.
func (p *Page) Events() <-chan driver.Event { return p.events }

// emit sends an event; the caller holds the lock.
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

// Emit sends an event as if the browser had said it.
func (p *Page) Emit(e driver.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emit(e)
}

// Update changes the page's documents; what changed is pushed when the page is observed. It may not
// call methods of the page.
func (p *Page) Update(change func(main *Frame)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(change)
}

// change is Update; the caller holds the lock.
func (p *Page) change(change func(main *Frame)) {
	change(p.main)
	p.syncFrames()
	p.flush()
}

// BusyWith lets the page change, and push what changed, each time when it is about to be read. It may not call methods of the page.
func (p *Page) BusyWith(change func(main *Frame)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = change
}

// SetTitle changes the main document's title and says so.
func (p *Page) SetTitle(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.main.Title = title
	p.emit(driver.Titled{Title: title})
	p.flush()
}

// PushState changes the URL within the document.
func (p *Page) PushState(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.within(url)
}

func (p *Page) within(url string) {
	p.main.URL = url
	p.visit(url)
	p.emit(driver.Committed{Document: p.main.document, URL: url, Same: true})
	p.flush()
}

// Refresh lets a frame's document start anew with a full patch, as after a return from the
// back/forward cache.
func (p *Page) Refresh(frame dom.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[frame]; f != nil {
		f.restart()
		p.flush()
	}
}

// Go lets the page itself go to a URL, as by script.
func (p *Page) Go(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visit(url)
	p.commit(url, p.browser.screen(url))
}

// Open lets the page open a popup that shows the URL.
func (p *Page) Open(url string) *Page { return p.open(url) }

// OpenBound lets the page open a popup that is on its way to a document: Go brings it there.
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

// Hang lets the page run a script that does not end: what needs its main thread waits until Resume,
// Interrupt or a navigation.
func (p *Page) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hang()
}

// hang is Hang; the caller holds the lock.
func (p *Page) hang() {
	if p.hung == nil {
		p.hung = make(chan struct{})
	}
}

// HangOn lets the page hang from when methods of it have been called, one after the other, before the last one is answered.
func (p *Page) HangOn(methods ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangOn = methods
}

// Resume ends what Hang began.
func (p *Page) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume()
	p.flush()
}

func (p *Page) resume() {
	if p.hung != nil {
		close(p.hung)
		p.hung = nil
	}
}

// Crash ends the page's renderer; a navigation brings it back.
func (p *Page) Crash(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashed = true
	p.resume()
	p.emit(driver.Crashed{Reason: reason})
}

// Actions lists what was done to the page so far.
func (p *Page) Actions() []driver.Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.actions)
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

// Observed says whether the page pushes, and whether it pushes geometry.
func (p *Page) Observed() (push, geometry bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.push, p.geometry
}

// Faults lists how the caller broke the rules of driver.Page so far.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Closed is closed when the page is gone.
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

// thread waits until the page's main thread is free; it returns with the lock held unless it fails.
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

// flush pushes what changed; the caller holds the lock.
func (p *Page) flush() {
	if !p.push || p.hung != nil || p.answer != nil || p.crashed {
		return
	}
	for _, f := range p.order {
		if f.waiting {
			continue
		}
		measure := p.geometry && (f.state == nil || f.moved())
		if patch, ok := f.patch(p.options, measure); ok {
			p.emit(driver.Patched{Patch: patch})
		} else {
			p.tellSelected(f)
		}
	}
}

// syncFrames finds the frames of the documents and says which came and went.
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
			forget(f.Body) // a frame that is attached again loads a document of new nodes
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

// forget makes new nodes of the nodes of a document.
func forget(nodes []*Node) {
	for _, n := range nodes {
		n.known = false
		forget(n.Children)
	}
}

func (p *Page) document() string {
	p.documents++
	return p.id + "-document-" + strconv.Itoa(p.documents)
}

// Read asks every document for what changed.
func (p *Page) Read(ctx context.Context, req driver.ReadRequest) (driver.Readout, error) {
	p.count("Read")
	if err := p.thread(ctx); err != nil {
		return driver.Readout{}, err
	}
	defer p.mu.Unlock()
	p.options.structural = p.options.structural || req.Structural
	for _, name := range req.Attributes {
		if !slices.Contains(p.options.attributes, name) {
			p.options.attributes = append(p.options.attributes, name)
		}
	}
	if p.busy != nil {
		p.change(p.busy)
	}
	p.syncFrames()
	for _, a := range req.Acks {
		p.acknowledge(a)
	}
	var out driver.Readout
	for _, f := range p.order {
		if f.waiting {
			out.Unacknowledged = append(out.Unacknowledged, f.ID)
			continue
		}
		if patch, ok := f.patch(p.options, req.Geometry); ok {
			out.Patches = append(out.Patches, patch)
		}
	}
	return out, nil
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

// Acknowledge tells a document the refs of its last patch.
func (p *Page) Acknowledge(a driver.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acknowledge(a)
	p.flush()
}

// Observe switches pushing on or off.
func (p *Page) Observe(ctx context.Context, push, geometry bool) error {
	p.count("Observe")
	if err := p.thread(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.push, p.geometry = push, geometry
	p.syncFrames()
	p.flush()
	return nil
}

// Markup returns what Frame.HTML holds of every document.
func (p *Page) Markup(ctx context.Context) ([]driver.Markup, error) {
	p.count("Markup")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	p.syncFrames()
	var out []driver.Markup
	for _, f := range p.order {
		out = append(out, driver.Markup{
			Frame: f.ID, Document: f.document, URL: f.URL, Title: f.Title, HTML: f.HTML,
			ViewArea: f.Scroll.Width * f.Scroll.Height,
		})
	}
	return out, nil
}

// Navigate shows what is served under the URL.
func (p *Page) Navigate(ctx context.Context, url string) (driver.Commit, error) {
	p.count("Navigate")
	p.mu.Lock()
	base, _, _ := strings.Cut(p.main.URL, "#")
	if target, _, fragment := strings.Cut(url, "#"); fragment && target == base && !p.crashed {
		defer p.mu.Unlock()
		p.within(url)
		return driver.Commit{Document: p.main.document, Same: true}, nil
	}
	p.mu.Unlock()
	return p.load(ctx, url, func() { p.visit(url) })
}

// Step moves in the history.
func (p *Page) Step(ctx context.Context, by int) (driver.Commit, error) {
	p.count("Step")
	p.mu.Lock()
	to := p.at + by
	if to < 0 || to >= len(p.history) {
		p.mu.Unlock()
		return driver.Commit{}, apierr.Errorf(apierr.NoHistory, "there is no page to go to")
	}
	url := p.history[to]
	p.mu.Unlock()
	return p.load(ctx, url, func() { p.at = to })
}

// Reload loads the document again.
func (p *Page) Reload(ctx context.Context) (driver.Commit, error) {
	p.count("Reload")
	p.mu.Lock()
	url := p.main.URL
	p.mu.Unlock()
	return p.load(ctx, url, func() {})
}

func (p *Page) load(ctx context.Context, url string, enter func()) (driver.Commit, error) {
	s := p.browser.screen(url)
	if s.Hold {
		select {
		case <-ctx.Done():
			return driver.Commit{}, ctx.Err()
		case <-p.gone:
		}
	}
	if err := ctx.Err(); err != nil {
		return driver.Commit{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return driver.Commit{}, errors.New("the page is closed")
	}
	enter()
	commit := p.commit(url, s)
	if s.Error != "" {
		return driver.Commit{}, apierr.Errorf(apierr.Navigation, "%s could not be loaded: %s", url, s.Error)
	}
	return commit, nil
}

// visit adds a history entry; the caller holds the lock.
func (p *Page) visit(url string) {
	if len(p.history) > 0 {
		p.history = p.history[:p.at+1]
	}
	p.history = append(p.history, url)
	p.at = len(p.history) - 1
}

// commit replaces the main document; the caller holds the lock. It returns the commit of the URL,
// even when the page has gone on from there.
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
		p.emit(driver.Responded{Document: p.main.document, Status: max(s.Status, 200)})
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
	p.emit(driver.Titled{Title: s.Title}, driver.Loaded{Document: p.main.document, Phase: driver.PhaseDOMContentLoaded})
	if s.Redirect != "" {
		p.commit(s.Redirect, p.browser.screen(s.Redirect))
		return commit
	}
	p.flush()
	p.emit(driver.Loaded{Document: p.main.document, Phase: driver.PhaseLoad},
		driver.Loaded{Document: p.main.document, Phase: driver.PhaseNetworkIdle})
	return commit
}

// Interrupt ends a hang.
func (p *Page) Interrupt(ctx context.Context) error {
	p.count("Interrupt")
	p.Resume()
	return ctx.Err()
}

// Ping returns when the main thread is free.
func (p *Page) Ping(ctx context.Context) error {
	p.count("Ping")
	if err := p.thread(ctx); err != nil {
		return err
	}
	p.mu.Unlock()
	return nil
}

// Do records the action and lets its node act. Like the real one it waits behind a dialog that the
// action opened.
func (p *Page) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	p.count("Do")
	if err := p.thread(ctx); err != nil {
		return driver.DoResult{}, err
	}
	n, err := p.target(a)
	if err != nil {
		p.mu.Unlock()
		return driver.DoResult{}, err
	}
	if a.Known != nil && a.Known.Doubtful { // it knows no rows
		p.mu.Unlock()
		return driver.DoResult{}, &apierr.Error{Kind: apierr.Stale, Message: "it stands beside something else", Detail: map[string]string{"cause": driver.Beside}}
	}
	p.actions = append(p.actions, a)
	var act func(*Page, driver.Action) error
	if n != nil {
		act = n.Act
	}
	if n != nil && act == nil {
		switch a.Kind {
		case driver.Fill:
			n.Value = a.Text
		case driver.Type:
			n.Value += a.Text
		}
		p.flush()
	}
	p.mu.Unlock()
	if act != nil {
		if err := act(p, a); err != nil {
			return driver.DoResult{}, err
		}
	}
	if err := p.thread(ctx); err != nil {
		return driver.DoResult{}, err
	}
	p.mu.Unlock()
	return driver.DoResult{}, nil
}

// target finds the node of an action; the caller holds the lock.
func (p *Page) target(a driver.Action) (*Node, error) {
	if a.Ref == dom.NoRef {
		return nil, nil
	}
	if f := p.frames[a.Frame]; f != nil && f.document == a.Document {
		flat, _ := f.present(p.options)
		for _, n := range flat {
			if n.known && n.ref == a.Ref {
				return n, nil
			}
		}
	}
	return nil, apierr.Errorf(apierr.Stale, "element %d is gone", a.Ref)
}

// Attend counts.
func (p *Page) Attend(context.Context, bool) { p.count("Attend") }

// Settle returns when the main thread is free.
func (p *Page) Settle(ctx context.Context, _ dom.FrameID, limit time.Duration) error {
	p.count("Settle")
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.thread(bounded); err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			return nil
		}
		return err
	}
	p.mu.Unlock()
	return nil
}

// Screenshot returns the format's name as the picture, or what Picture was given.
func (p *Page) Screenshot(ctx context.Context, s driver.Shot) ([]byte, error) {
	p.count("Screenshot")
	if err := p.thread(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.picture != nil {
		return p.picture, nil
	}
	return []byte(s.Format), nil
}

// ScrollPosition says how far the page is scrolled.
func (p *Page) ScrollPosition(ctx context.Context) (driver.ScrollPosition, error) {
	p.count("ScrollPosition")
	if err := p.thread(ctx); err != nil {
		return driver.ScrollPosition{}, err
	}
	defer p.mu.Unlock()
	return p.place, nil
}

// ScrollTo scrolls the page.
func (p *Page) ScrollTo(ctx context.Context, to driver.ScrollPosition, _ time.Duration) error {
	p.count("ScrollTo")
	if err := p.thread(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.place = to
	return nil
}

// Scroll scrolls the page, as its user does.
func (p *Page) Scroll(to driver.ScrollPosition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.place = to
}

// Picture is what screenshots show from now on.
func (p *Page) Picture(image []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.picture = image
}

// HoldClose lets Close wait until its context ends, as with a browser that does not answer. The page
// is gone only when the browser dies.
func (p *Page) HoldClose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sticky = true
}

// Close closes the page, also when it hangs.
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
