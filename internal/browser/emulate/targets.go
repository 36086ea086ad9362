package emulate

import (
	"context"
	"errors"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// applied is what is in force in one target.
type applied struct {
	session devtools.Session
	kind    Kind
	current Overrides
}

// change notes that other overrides are in force from now on and lists the commands for that.
func (a *applied) change(o Overrides) []devtools.Step {
	steps := Change(a.kind, a.current, o)
	a.current = o
	return steps
}

// AutoAttach asks for a page's frames in other processes, and for its workers when anything is emulated in them.
func AutoAttach(o Overrides) devtools.Step {
	yes := true
	params := target.SetAutoAttachParams{AutoAttach: true, Flatten: &yes, Filter: target.Filter{{Type: "iframe"}}}
	if o.Spreads() {
		params.WaitForDebuggerOnStart = true
		params.Filter = target.Filter{{Type: "iframe"}, {Type: "worker"}}
	}
	return devtools.Step{Method: target.CommandSetAutoAttach, Params: params}
}

// Targets are the targets of one page: the page itself, its frames in other processes and its workers.
type Targets struct {
	// overrides are what the page's session asks for now.
	overrides func() Overrides

	mu  sync.Mutex
	all map[target.SessionID]*applied
	// viewport is the size that the page was opened with, zero: its session's; nil: it is a popup.
	viewport *dom.Box
	// Challenges answers servers that ask for credentials.
	Challenges
}

// NewTargets makes the targets of a page. A page without a viewport is a popup: its opener has given it a size.
func NewTargets(overrides func() Overrides, viewport *dom.Box) *Targets {
	return &Targets{overrides: overrides, all: map[target.SessionID]*applied{}, viewport: viewport}
}

// Overrides are what the page's session asks for now.
func (t *Targets) Overrides() Overrides { return t.overrides() }

// Size is the size that the page has been given, in CSS pixels. The page is no popup.
func (t *Targets) Size() (width, height int64) {
	t.mu.Lock()
	viewport := *t.viewport
	t.mu.Unlock()
	return t.overrides().Size(viewport)
}

// Apply notes what is in force in a target from now on and lists the commands for that.
func (t *Targets) Apply(s devtools.Session, kind Kind, o Overrides) []devtools.Step {
	t.mu.Lock()
	a := t.all[s.ID]
	if a == nil {
		a = &applied{session: s, kind: kind}
		t.all[s.ID] = a
	}
	steps, viewport := a.change(o), t.viewport
	t.mu.Unlock()
	if kind == Page && viewport != nil {
		steps = append(steps, o.Metrics(*viewport))
	} else if kind == Page && o.Sizes() {
		steps = append(steps, o.Metrics(dom.Box{}))
	}
	return steps
}

// OfRequests lists the commands for what is in force only while the network domain of a target is enabled.
func (t *Targets) OfRequests() []devtools.Step {
	c := changes{kind: Page}
	c.requests(Overrides{}, t.overrides())
	return c.steps
}

// Forget forgets a target whose session is over.
func (t *Targets) Forget(id target.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, id)
}

// Sessions lists the sessions of the targets.
func (t *Targets) Sessions() []devtools.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []devtools.Session
	for _, a := range t.all {
		all = append(all, a.session)
	}
	return all
}

// Post sends all targets the same commands.
func (t *Targets) Post(ctx context.Context, steps []devtools.Step) {
	for _, s := range t.Sessions() {
		s.PostAll(ctx, steps...)
	}
}

// Update puts in force in a target what the page's session asks for now, if that is something else than before.
func (t *Targets) Update(ctx context.Context, s devtools.Session) error {
	o := t.overrides()
	t.mu.Lock()
	a := t.all[s.ID]
	same := a == nil || Equal(a.current, o)
	t.mu.Unlock()
	if same {
		return nil
	}
	steps := t.Apply(s, a.kind, o)
	if a.kind != Worker {
		steps = append(steps, AutoAttach(o))
	}
	return s.Run(ctx, steps...)
}

// UpdateAll is Update for every target.
func (t *Targets) UpdateAll(ctx context.Context) error {
	var errs []error
	for _, s := range t.Sessions() {
		errs = append(errs, t.Update(ctx, s))
	}
	return errors.Join(errs...)
}

// Resize gives a page that was opened beforehand the size that it is opened with now.
func (t *Targets) Resize(ctx context.Context, page devtools.Session, viewport dom.Box) error {
	t.mu.Lock()
	t.viewport = &viewport
	t.mu.Unlock()
	return page.Run(ctx, t.overrides().Metrics(viewport))
}

// StartWorker puts the overrides in force in a worker of the page, which waits for that.
func (t *Targets) StartWorker(ctx context.Context, s devtools.Session) {
	o := t.overrides()
	s.PostAll(ctx, append(t.Apply(s, Worker, o), AutoAttach(o), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})...)
}

// Workers are the workers of a browser that serve no single page: service workers and shared ones.
type Workers struct {
	mu  sync.Mutex
	all map[target.SessionID]*worker
	// Challenges answers servers that ask for credentials.
	Challenges
}

// worker is one of them, of a session of the browser.
type worker struct {
	applied
	context   cdp.BrowserContextID
	overrides func() Overrides
}

// NewWorkers makes the workers of a browser.
func NewWorkers() *Workers { return &Workers{all: map[target.SessionID]*worker{}} }

// Start puts the overrides of its session in force in a worker, which waits for that.
func (w *Workers) Start(ctx context.Context, s devtools.Session, id cdp.BrowserContextID, overrides func() Overrides) {
	one := &worker{applied: applied{session: s, kind: Worker}, context: id, overrides: overrides}
	w.mu.Lock()
	w.all[s.ID] = one
	w.mu.Unlock()
	s.PostAll(ctx, append(w.change(one), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})...)
}

// change notes that the overrides of its session are in force in a worker from now on, and lists the commands for that.
func (w *Workers) change(one *worker) []devtools.Step {
	o := one.overrides()
	w.mu.Lock()
	defer w.mu.Unlock()
	return one.applied.change(o)
}

// Overrides are what the session of a worker asks for now; false: the worker is not known.
func (w *Workers) Overrides(id target.SessionID) (o Overrides, known bool) {
	w.mu.Lock()
	one := w.all[id]
	w.mu.Unlock()
	if one == nil {
		return o, false
	}
	return one.overrides(), true
}

// Forget forgets a worker that is gone, and reports whether it was known.
func (w *Workers) Forget(id target.SessionID) (known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known = w.all[id]
	delete(w.all, id)
	return known
}

// Update puts the overrides of a session in force in its workers.
func (w *Workers) Update(ctx context.Context, id cdp.BrowserContextID) {
	w.mu.Lock()
	var due []*worker
	for _, one := range w.all {
		if one.context == id {
			due = append(due, one)
		}
	}
	w.mu.Unlock()
	for _, one := range due {
		one.session.PostAll(ctx, w.change(one)...)
	}
}
