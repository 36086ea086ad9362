package browser

import (
	"context"
	"errors"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/emulate"
)

// worn is what one CDP session of a page wears.
type worn struct {
	session devtools.Session
	kind    emulate.Kind
	guise   emulate.Guise
}

// autoAttach asks for a page's frames in other processes, and for its workers when they have something to put on.
func autoAttach(g emulate.Guise) devtools.Step {
	yes := true
	params := target.SetAutoAttachParams{AutoAttach: true, Flatten: &yes, Filter: target.Filter{{Type: "iframe"}}}
	if g.Spreads() {
		params.WaitForDebuggerOnStart = true
		params.Filter = target.Filter{{Type: "iframe"}, {Type: "worker"}}
	}
	return devtools.Step{Method: target.CommandSetAutoAttach, Params: params}
}

// putOn notes what a session wears from now on and lists the commands for it.
func (p *Page) putOn(s devtools.Session, kind emulate.Kind, g emulate.Guise) []devtools.Step {
	p.frames.Lock()
	w := p.wears[s.ID]
	if w == nil {
		w = &worn{session: s, kind: kind}
		p.wears[s.ID] = w
	}
	was, viewport := w.guise, p.viewport
	w.guise = g
	p.frames.Unlock()
	steps := emulate.Change(kind, was, g)
	if kind == emulate.Page && viewport != nil {
		steps = append(steps, g.Metrics(*viewport))
	} else if kind == emulate.Page && g.Sizes() {
		steps = append(steps, g.Metrics(dom.Box{}))
	}
	return steps
}

// takeOff forgets a session that is over.
func (p *Page) takeOff(id target.SessionID) {
	p.frames.Lock()
	defer p.frames.Unlock()
	delete(p.wears, id)
}

// dressed lists the sessions that wear something.
func (p *Page) dressed() []devtools.Session {
	p.frames.Lock()
	defer p.frames.Unlock()
	var all []devtools.Session
	for _, w := range p.wears {
		all = append(all, w.session)
	}
	return all
}

// change has a session put on what its page's session wears now, if that is something else than before.
func (p *Page) change(ctx context.Context, s devtools.Session) error {
	p.frames.Lock()
	w := p.wears[s.ID]
	p.frames.Unlock()
	g := p.context.guise()
	if w == nil || emulate.Equal(w.guise, g) {
		return nil
	}
	steps := p.putOn(s, w.kind, g)
	if w.kind != emulate.Worker {
		steps = append(steps, autoAttach(g))
	}
	return s.Run(ctx, steps...)
}

// changeAll is change for every session of the page.
func (p *Page) changeAll(ctx context.Context) error {
	var errs []error
	for _, s := range p.dressed() {
		errs = append(errs, p.change(ctx, s))
	}
	return errors.Join(errs...)
}

// resize gives a page that was opened beforehand the size that it is opened with now.
func (p *Page) resize(ctx context.Context, viewport dom.Box) error {
	p.frames.Lock()
	p.viewport = &viewport
	p.frames.Unlock()
	step := p.context.guise().Metrics(viewport)
	return p.main.Run(ctx, step)
}

// attachedToWorker puts the guise on a worker of the page, which waits for it.
func (p *Page) attachedToWorker(id target.SessionID) {
	s := devtools.Session{Conn: p.browser.conn, ID: id}
	p.listen(s)
	g := p.context.guise()
	steps := append(p.putOn(s, emulate.Worker, g), autoAttach(g), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})
	for _, step := range steps {
		s.Post(p.ctx, step.Method, step.Params)
	}
}

// maxChallenged bounds the requests that are remembered for having been given credentials.
const maxChallenged = 1000

// authenticate answers a server that asks for credentials: with those of the session, once. It runs on the page's loop.
func (p *Page) authenticate(s devtools.Session, e fetch.EventAuthRequired) {
	answer := fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseCancelAuth}
	if c := e.AuthChallenge; c != nil && !p.challenged[e.RequestID] {
		username, password, ok := p.context.guise().Credentials(c.Origin, c.Source == fetch.AuthChallengeSourceProxy)
		if ok {
			answer = fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseProvideCredentials, Username: username, Password: password}
		}
	}
	if len(p.challenged) >= maxChallenged || p.challenged == nil {
		p.challenged = map[fetch.RequestID]bool{}
	}
	p.challenged[e.RequestID] = true
	s.Post(p.ctx, fetch.CommandContinueWithAuth, fetch.ContinueWithAuthParams{RequestID: e.RequestID, AuthChallengeResponse: &answer})
}

// worker is a worker that serves no single page: a service worker or a shared one.
type worker struct {
	worn
	context *Context
}

// workerCame puts the guise of its session on a worker, which waits for it; false when it is of no session of ours.
func (b *Browser) workerCame(ctx context.Context, e target.EventAttachedToTarget) bool {
	c := b.byBrowserContext(e.TargetInfo)
	if c == nil {
		return false
	}
	w := &worker{worn: worn{session: devtools.Session{Conn: b.conn, ID: e.SessionID}, kind: emulate.Worker}, context: c}
	b.conn.Listen(e.SessionID, func(*cdproto.Message) {})
	b.mu.Lock()
	b.workers[e.SessionID] = w
	b.mu.Unlock()
	for _, step := range append(b.wear(w), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger}) {
		w.session.Post(ctx, step.Method, step.Params)
	}
	return true
}

// wear notes that a worker wears what its session does, and lists the commands for it.
func (b *Browser) wear(w *worker) []devtools.Step {
	g := w.context.guise().WithoutCredentials() // nobody would answer
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := emulate.Change(w.kind, w.guise, g)
	w.guise = g
	return steps
}

// workerGone forgets a worker.
func (b *Browser) workerGone(id target.SessionID) {
	b.mu.Lock()
	_, known := b.workers[id]
	delete(b.workers, id)
	b.mu.Unlock()
	if known {
		b.conn.Listen(id, nil)
	}
}

// dressWorkers has the workers of a session put on its guise.
func (b *Browser) dressWorkers(ctx context.Context, c *Context) {
	b.mu.Lock()
	var all []*worker
	for _, w := range b.workers {
		if w.context == c {
			all = append(all, w)
		}
	}
	b.mu.Unlock()
	for _, w := range all {
		for _, step := range b.wear(w) {
			w.session.Post(ctx, step.Method, step.Params)
		}
	}
}

// byBrowserContext finds the session that a target belongs to.
func (b *Browser) byBrowserContext(info *target.Info) *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.contexts {
		if c.id == info.BrowserContextID {
			return c
		}
	}
	return nil
}
