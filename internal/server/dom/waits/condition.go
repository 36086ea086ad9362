// Package waits waits for conditions. It checks them on the heads of a tab, and returns the element that fulfilled one.
//
// A Condition belongs to one wait and to one goroutine. It does not poll. The wait checks it on every head, and again after the time that
// Check returns, when a period without events may have ended.
package waits

import (
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/condition"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/server/tabview"
)

const (
	// defaultIdle is the default time for which the network must be idle.
	defaultIdle = 500 * time.Millisecond
	// maxListed limits the elements of each kind that a diff lists.
	maxListed = 50
)

// Condition is a condition, and the changes of the page since the wait started.
type Condition struct {
	views *tabview.Tab
	// field is the path of the condition in its request, for errors.
	field string

	element     *condition.Element
	text, url   string
	idle, quiet time.Duration
	change      bool

	// selection selects the view whose changes count. since is the start of the changes: a revision that the request names, or the first
	// head that Check receives.
	selection tabview.Selection
	since     *tabview.Point
	from      *tabview.View
	// resync is the reason why there is no view to compare with.
	resync  string
	began   time.Time
	changed bool
}

// New converts a condition of a valid request. Changes count from since or, if that is nil, from the first head that Check receives. field
// is the path of the condition in its request.
func New(tab *tabview.Tab, c *domtapv1.WaitCondition, since *tabview.Point, field string) *Condition {
	w := &Condition{
		views: tab, field: field, text: c.GetText(), url: c.GetUrl(), quiet: c.GetQuiet().AsDuration(),
		change: c.GetChange(), since: since,
		selection: tabview.SelectionOf(&domtapv1.GetDomRequest{FullSnapshot: true}),
	}
	if since != nil {
		none := int32(0)
		w.selection = tabview.SelectionOf(&domtapv1.GetDomRequest{MaxElements: &none, MaxTokens: &none})
	}
	if c.GetNetworkIdle() != nil {
		w.idle = c.GetNetworkIdle().AsDuration()
		if w.idle == 0 {
			w.idle = defaultIdle
		}
	}
	if e := c.GetElement(); e != nil {
		w.element = elementOf(e)
	}
	return w
}

// states maps element states of the API to element states of package condition.
var states = map[domtapv1.ElementState]condition.State{
	domtapv1.ElementState_ELEMENT_STATE_GONE:    condition.Gone,
	domtapv1.ElementState_ELEMENT_STATE_VISIBLE: condition.Visible,
	domtapv1.ElementState_ELEMENT_STATE_ENABLED: condition.Enabled,
}

func elementOf(e *domtapv1.ElementCondition) *condition.Element {
	made := &condition.Element{
		Role: e.GetRole(), Name: e.GetName(), Text: e.GetText(), Ref: dom.NoRef,
		Selector: e.GetSelector(), Exact: e.GetExact(), State: states[e.GetState()], Within: e.GetWithin(),
	}
	if e.Ref != nil {
		made.Ref = dom.Ref(e.GetRef())
	}
	return made
}

// Watch returns what the page must report during the wait.
func (w *Condition) Watch() actor.WatchOptions {
	o := actor.WatchOptions{Structural: true, Network: w.idle > 0}
	if selector, wanted := w.selector(); wanted {
		o.Selectors = []dom.Selector{selector}
	}
	return o
}

// NeedsPage reports whether the condition requires a head that is up to date with the page. The URL is known without the page.
func (w *Condition) NeedsPage() bool {
	return w.element != nil || w.text != "" || w.idle > 0 || w.quiet > 0 || w.change
}

func (w *Condition) selector() (dom.Selector, bool) {
	if w.element == nil {
		return dom.Selector{}, false
	}
	return w.element.Query()
}

// Status is the result of Check.
type Status struct {
	// Met reports whether the condition holds. Element is the element that fulfilled it, if any.
	Met     bool
	Element *dom.Element
	// Missing names the part that does not hold.
	Missing string
	// Again, if positive, is the time after which the condition may hold without a newer head.
	Again time.Duration
}

// Check checks the condition on a head. It returns a *rules.Invalid for a selector that the browser does not accept.
func (w *Condition) Check(h *actor.Head) (Status, error) {
	w.begin(h)
	element, met, err := w.checkElement(h)
	if err != nil || !met {
		return Status{Missing: "element"}, err
	}
	if w.text != "" {
		said := condition.Text(h.Snapshot, w.text)
		if said == nil {
			return Status{Missing: "text"}, nil
		}
		if element == nil {
			element = said
		}
	}
	if w.url != "" && !condition.URL(w.url, h.Info.URL) {
		return Status{Missing: "url"}, nil
	}
	if w.change && !w.sawChange(h) {
		return Status{Missing: "change"}, nil
	}
	return w.checkTime(h, element), nil
}

// begin sets the start of the changes to the first head, unless the request names a revision.
func (w *Condition) begin(h *actor.Head) {
	if !w.began.IsZero() {
		return
	}
	w.began = time.Now()
	if w.since == nil {
		w.since = &tabview.Point{Epoch: h.Snapshot.Epoch, Revision: h.Snapshot.Revision}
	}
	w.from, w.resync = w.views.ViewAt(h, w.selection, *w.since)
}

func (w *Condition) checkElement(h *actor.Head) (found *dom.Element, met bool, err error) {
	if w.element == nil {
		return nil, true, nil
	}
	var chosen *dom.Selection
	if selector, wanted := w.element.Query(); wanted {
		if selection, known := h.Selected(selector); known {
			chosen = &selection
		}
	}
	if chosen != nil && chosen.Invalid {
		return nil, false, &rules.Invalid{Violations: []rules.Violation{{
			Field: w.field + ".selector", Description: "must be a valid CSS selector, such as button.primary",
		}}}
	}
	found, met = w.element.Match(h.Snapshot, chosen)
	return found, met, nil
}

// sawChange reports whether the page has changed since the wait started, even if the change was undone.
func (w *Condition) sawChange(h *actor.Head) bool {
	if w.changed {
		return true
	}
	d, resync := w.diff(h)
	if w.changed = resync != "" || !d.Diff.Empty(); w.changed {
		return true
	}
	was := w.from.Snapshot
	w.changed = was.URL != h.Info.URL || was.Title != h.Info.Title
	return w.changed
}

// diff returns the change since the wait started, or the reason why there is none.
func (w *Condition) diff(h *actor.Head) (c *tabview.Change, resync string) {
	if w.from == nil {
		return nil, w.resync
	}
	was, s := w.from.Snapshot, h.Snapshot
	switch {
	case was.Epoch != s.Epoch:
		return nil, tabview.EpochChanged
	case was.Document != s.Document:
		return nil, tabview.Navigated
	}
	now, err := w.views.At(h, s, w.selection)
	if err != nil {
		return nil, tabview.ViewChanged
	}
	return now.Since(w.from), ""
}

// checkTime checks the conditions that need a period without events.
func (w *Condition) checkTime(h *actor.Head, element *dom.Element) Status {
	now := time.Now()
	if w.idle > 0 {
		n := h.Network()
		if !n.Known || n.Busy || h.Info.Status == actor.StatusLoading {
			return Status{Missing: "network_idle"}
		}
		if left := w.idle - now.Sub(n.Since); left > 0 {
			return Status{Missing: "network_idle", Again: left}
		}
	}
	if w.quiet > 0 {
		since := w.began
		if h.Snapshot.ObservedAt.After(since) {
			since = h.Snapshot.ObservedAt
		}
		if left := w.quiet - now.Sub(since); left > 0 {
			return Status{Missing: "quiet", Again: left}
		}
	}
	return Status{Met: true, Element: element}
}

// Nearest describes the element that is most similar to the awaited one. It returns "" if there is none.
func (w *Condition) Nearest(h *actor.Head) string {
	wanted := w.element
	if wanted == nil && w.text != "" {
		wanted = &condition.Element{Text: w.text, Ref: dom.NoRef}
	}
	if wanted == nil {
		return ""
	}
	if wanted.State == condition.Gone {
		present := *wanted
		present.State = condition.Present
		wanted = &present
	}
	if el := wanted.Nearest(h.Snapshot); el != nil {
		return condition.Describe(el)
	}
	return ""
}

// Met returns the result: the state in which the condition held, and the changes since the wait started.
func (w *Condition) Met(h *actor.Head, held Status) *Met {
	s := h.Snapshot
	m := &domtapv1.WaitForResponse{Revision: s.Revision, Epoch: s.Epoch, Url: h.Info.URL, Title: h.Info.Title}
	if held.Element != nil {
		m.Element = messages.Elements([]*dom.Element{held.Element}, nil)[0]
		m.Element.Attributes = nil // set by requests of other callers
	}
	met := &Met{Answer: m, Head: h, Element: held.Element}
	c, resync := w.diff(h)
	if resync != "" {
		m.Resync = &domtapv1.Resync{Reason: resync}
		return met
	}
	met.From, met.Change = w.from.Snapshot, c
	m.Diff = messages.Diff(c.Diff, maxListed)
	return met
}
