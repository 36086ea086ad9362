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

// targetOverrides records the overrides in effect in one target.
type targetOverrides struct {
	session devtools.Session
	kind    Kind
	current Overrides
}

// change records that o is in effect and returns the commands for the change.
func (a *targetOverrides) change(o Overrides) []devtools.Step {
	steps := Change(a.kind, a.current, o)
	a.current = o
	return steps
}

// AutoAttach attaches to a page's frames in other processes, and to its workers if anything is emulated in them.
func AutoAttach(o Overrides) devtools.Step {
	yes := true
	params := target.SetAutoAttachParams{AutoAttach: true, Flatten: &yes, Filter: target.Filter{{Type: "iframe"}}}
	if o.NeedsEarlyApply() {
		params.WaitForDebuggerOnStart = true
		params.Filter = target.Filter{{Type: "iframe"}, {Type: "worker"}}
	}
	return devtools.Step{Method: target.CommandSetAutoAttach, Params: params}
}

// Targets holds the targets of one page: the page itself, its frames in other processes, and its workers.
type Targets struct {
	// overrides returns the current overrides of the page's session.
	overrides func() Overrides

	mu  sync.Mutex
	all map[target.SessionID]*targetOverrides
	// viewport is the size that the page was opened with. Zero selects the session's size. It is nil for a popup.
	viewport *dom.Box
	// Challenges answers authentication challenges.
	Challenges
}

// NewTargets returns the targets of a page. A nil viewport means that the page is a popup and keeps the size that its opener chose.
func NewTargets(overrides func() Overrides, viewport *dom.Box) *Targets {
	return &Targets{overrides: overrides, all: map[target.SessionID]*targetOverrides{}, viewport: viewport}
}

// Overrides returns the current overrides of the page's session.
func (t *Targets) Overrides() Overrides { return t.overrides() }

// Size returns the emulated size of the page, in CSS pixels. It must not be called for a popup.
func (t *Targets) Size() (width, height int64) {
	t.mu.Lock()
	viewport := *t.viewport
	t.mu.Unlock()
	return t.overrides().Size(viewport)
}

// Apply records that o is in effect in a target and returns the commands for the change.
func (t *Targets) Apply(s devtools.Session, kind Kind, o Overrides) []devtools.Step {
	t.mu.Lock()
	a := t.all[s.ID]
	if a == nil {
		a = &targetOverrides{session: s, kind: kind}
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

// OfRequests returns the commands for the overrides that work only while a target's network domain is enabled.
func (t *Targets) OfRequests() []devtools.Step {
	c := changes{kind: Page}
	c.requests(Overrides{}, t.overrides())
	return c.steps
}

// Forget removes a target whose session has ended.
func (t *Targets) Forget(id target.SessionID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, id)
}

// Sessions returns the sessions of the targets.
func (t *Targets) Sessions() []devtools.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []devtools.Session
	for _, a := range t.all {
		all = append(all, a.session)
	}
	return all
}

// Post sends the same commands to all targets.
func (t *Targets) Post(ctx context.Context, steps []devtools.Step) {
	for _, s := range t.Sessions() {
		s.PostAll(ctx, steps...)
	}
}

// Update applies the session's current overrides to a target, if they have changed.
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

// UpdateAll calls Update for every target.
func (t *Targets) UpdateAll(ctx context.Context) error {
	var errs []error
	for _, s := range t.Sessions() {
		errs = append(errs, t.Update(ctx, s))
	}
	return errors.Join(errs...)
}

// Resize sets the final size of a page that was opened in advance.
func (t *Targets) Resize(ctx context.Context, page devtools.Session, viewport dom.Box) error {
	t.mu.Lock()
	t.viewport = &viewport
	t.mu.Unlock()
	return page.Run(ctx, t.overrides().Metrics(viewport))
}

// StartWorker applies the overrides to a worker of the page that waits for them, and starts it.
func (t *Targets) StartWorker(ctx context.Context, s devtools.Session) {
	o := t.overrides()
	s.PostAll(ctx, append(t.Apply(s, Worker, o), AutoAttach(o), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})...)
}

// Workers holds the workers of a browser that belong to no single page: service workers and shared workers.
type Workers struct {
	mu  sync.Mutex
	all map[target.SessionID]*worker
	// Challenges answers authentication challenges.
	Challenges
}

// worker is one of these workers, with its browser context.
type worker struct {
	targetOverrides
	context   cdp.BrowserContextID
	overrides func() Overrides
}

// NewWorkers returns the workers of a browser.
func NewWorkers() *Workers { return &Workers{all: map[target.SessionID]*worker{}} }

// Start applies its session's overrides to a worker that waits for them, and starts it.
func (w *Workers) Start(ctx context.Context, s devtools.Session, id cdp.BrowserContextID, overrides func() Overrides) {
	one := &worker{targetOverrides: targetOverrides{session: s, kind: Worker}, context: id, overrides: overrides}
	w.mu.Lock()
	w.all[s.ID] = one
	w.mu.Unlock()
	s.PostAll(ctx, append(w.change(one), devtools.Step{Method: runtime.CommandRunIfWaitingForDebugger})...)
}

// change records that the session's current overrides are in effect in a worker, and returns the commands for the change.
func (w *Workers) change(one *worker) []devtools.Step {
	o := one.overrides()
	w.mu.Lock()
	defer w.mu.Unlock()
	return one.targetOverrides.change(o)
}

// Overrides returns the current overrides of a worker's session. known is false for an unknown worker.
func (w *Workers) Overrides(id target.SessionID) (o Overrides, known bool) {
	w.mu.Lock()
	one := w.all[id]
	w.mu.Unlock()
	if one == nil {
		return o, false
	}
	return one.overrides(), true
}

// Forget removes a worker that is gone and reports whether it was known.
func (w *Workers) Forget(id target.SessionID) (known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known = w.all[id]
	delete(w.all, id)
	return known
}

// Update applies a session's overrides to its workers.
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
