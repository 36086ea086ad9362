// Package tabview computes views of tabs for the callers of the API. A view consists of the elements of a snapshot that a selection shows,
// the tokens of their text, and the change from one view to the next. Callers share views, so each is computed once. The package also
// stores what each caller received last, for incremental answers, and the cursors of truncated answers.
//
// All returned values are shared and immutable. Memory is bounded by the open tabs, and by fixed limits over all callers. The package is
// safe for concurrent use.
package tabview

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
)

const (
	// maxShared limits the selections of a tab that are kept for sharing.
	maxShared = 32
	// headerShare is the divisor that limits the header to one fourth of the budget.
	headerShare = 4
	// maxTexts limits the headers and lines that are cached with their tokens.
	maxTexts = 4096
)

// Cache holds the views of all tabs.
type Cache struct {
	mu   sync.Mutex
	tabs map[Page]*Tab
	last *baselines
	// cursors holds the states of truncated answers.
	cursors *cursors
	// texts caches the tokens of headers and lines.
	texts *tokens.Cache
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{tabs: map[Page]*Tab{}, last: newBaselines(), cursors: newCursors(), texts: tokens.NewCache(maxTexts)}
}

// Page is the source of views: an *actor.Tab, or an *actor.Replica of another node's tab. Pages are compared by ==.
type Page interface {
	ID() string
	// Done is closed when the page has ended.
	Done() <-chan struct{}
}

// Of returns the views of a page. It drops the views of pages that have ended.
func (c *Cache) Of(t Page) *Tab {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.tabs[t]; known != nil {
		return known
	}
	for other := range c.tabs {
		select {
		case <-other.Done():
			delete(c.tabs, other)
			c.last.drop(other.ID())
			c.cursors.drop(other.ID())
		default:
		}
	}
	made := &Tab{tab: t, last: c.last, cursors: c.cursors, count: c.texts.Count, newest: map[Selection]*View{},
		memos: map[Selection]*view.Memo{}, names: map[Selection]*names{}}
	c.tabs[t] = made
	return made
}

// Forget drops the baselines of a caller whose connection has ended.
func (c *Cache) Forget(who Caller) { c.last.forget(who) }

// Tab shares the newest view of each selection among the callers of a tab.
type Tab struct {
	tab     Page
	last    *baselines
	cursors *cursors
	count   func(text string) int

	mu     sync.Mutex
	newest map[Selection]*View
	// memos speed up the computation of the next view of each selection.
	memos map[Selection]*view.Memo
	// names holds the names of the elements that each selection selects.
	names map[Selection]*names
	// page holds the names of all elements, tree their positions.
	page  names
	tree  tree
	costs costs
	// branches caches the tokens of the lines of trees.
	branches costs
	whole    pageCost
	noticed  signalCache
	// Followed reports whether newly read structural elements would show up in a client's diffs.
	Followed Followed
	// seen is the snapshot of the newest answer.
	seen atomic.Pointer[dom.Snapshot]
}

// At returns the view of a snapshot, which is the head's or an earlier one. Its error is an *apierr.Error. The kind is Stale or Invalid if
// the root of the selection does not exist, and NotFound if the frame does not exist.
func (t *Tab) At(head *actor.Head, s *dom.Snapshot, sel Selection) (*View, error) {
	return t.finish(head, t.share(s, sel))
}

// finish computes a view unless another caller has done so, and explains its error with the head.
func (t *Tab) finish(head *actor.Head, one *View) (*View, error) {
	one.once.Do(func() { one.compute(t) })
	if one.err != nil {
		return nil, explain(head, one.err)
	}
	return one, nil
}

// explain converts the error of a view. For a missing root, it returns the head's error about that element.
func explain(head *actor.Head, err error) error {
	var noRoot view.ErrNoRoot
	if !errors.As(err, &noRoot) {
		return err
	}
	if _, err := head.Element(noRoot.Ref); err != nil {
		return err
	}
	return &apierr.Error{Kind: apierr.Stale, Message: noRoot.Error()}
}

// share returns the view that another caller computes or has computed, or adds an empty one.
func (t *Tab) share(s *dom.Snapshot, sel Selection) *View {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.newest[sel]
	if known != nil && known.Snapshot == s {
		return known
	}
	one := &View{Snapshot: s, Selection: sel, err: errUnfinished}
	if known != nil && known.Snapshot.Epoch == s.Epoch && known.Snapshot.Revision > s.Revision {
		return one
	}
	if known != nil {
		known.encoded.forget()
	}
	t.makeRoom(s)
	t.newest[sel] = one
	return one
}

// makeRoom drops the views of other documents, and any other view if there are still too many.
func (t *Tab) makeRoom(s *dom.Snapshot) {
	for sel, v := range t.newest {
		if v.Snapshot.Document != s.Document {
			t.drop(sel)
		}
	}
	for sel := range t.newest {
		if len(t.newest) < maxShared {
			return
		}
		t.drop(sel)
	}
}

func (t *Tab) drop(sel Selection) {
	delete(t.newest, sel)
	delete(t.memos, sel)
	delete(t.names, sel)
}

// errUnfinished remains in a view whose computation panicked.
var errUnfinished = errors.New("the view could not be computed")

// View is a view of one snapshot.
type View struct {
	Snapshot  *dom.Snapshot
	Selection Selection
	// given holds the sorted refs of the elements in the answers that this view continues.
	given []dom.Ref
	// before holds the landmarks that the caller received with the previous page; those are folded. wasFolded holds the sorted refs of
	// landmarks that were folded in the answers that this view continues.
	before    hashes
	wasFolded []dom.Ref

	once sync.Once
	view view.View
	err  error
	// header includes the history. overhead is the header's share of view.Tokens.
	header   compact.Header
	overhead int
	signals  []injection.Signal
	// contexts distinguishes elements with the same role and name among those that the filters select. It is nil for DENSE, which finds its
	// own contexts.
	contexts *contexts
	// folded and outline are used for trees.
	folded  compact.Folded
	outline compact.Outline
	// page and lines are used for DENSE. page is the source of the print, and lines is the result.
	page  *dense.Page
	lines string
	// exact returns the view with the exact token count of its text, without and with the history in the header.
	exact [2]func() view.View

	placed  atomic.Pointer[BoxedView]
	encoded encodings
	answers atomic.Bool

	mu      sync.Mutex
	changes map[Point]*Change
}

// Point identifies a state of a tab.
type Point struct {
	Epoch    string
	Revision uint64
}

// Point returns the state that the view shows.
func (v *View) Point() Point { return Point{v.Snapshot.Epoch, v.Snapshot.Revision} }

// Elements returns the elements of the view in document order.
func (v *View) Elements() []*dom.Element { return v.view.Elements.Slice() }

func (v *View) compute(t *Tab) {
	if err := v.findFrame(); err != nil {
		v.err = err
		return
	}
	selectable := v.fold()
	options := v.Selection.options()
	v.signals = t.Signals(v.Snapshot)
	v.header = compact.Header{URL: v.Snapshot.URL, Title: v.Snapshot.Title, History: visits(v.Snapshot.History), Signals: injection.Line(v.signals)}
	if v.Selection.dense {
		v.page, v.header = densePage(v, options), v.header.Dense()
		if !v.Selection.hrefs {
			v.header.Links = v.page.Home()
		}
	}
	if len(v.given) > 0 {
		options.Given = v.wasSent
	}
	if options.MaxTokens > 0 {
		v.header.Next = sampleCursor
		v.header = v.header.Within(options.MaxTokens/headerShare, t.count)
		v.overhead = v.header.Overhead(t.count)
		options.Overhead = v.overhead
	}
	if v.Selection.dense {
		v.err = fit(v, t, options)
	} else {
		v.err = v.limitByCost(t, selectable, options)
	}
	v.header.Next = ""
	for i := range v.exact {
		v.exact[i] = sync.OnceValue(func() view.View {
			h := v.Header(i == 1)
			if v.continues() {
				h.Next = sampleCursor
			}
			shown := v.view
			shown.Contexts = v.contexts.all()
			return compact.Settle(h, shown, v.overhead, t.count)
		})
	}
}

// limitByCost computes a view in which each element costs the tokens of its own line.
func (v *View) limitByCost(t *Tab, selectable *dom.Snapshot, o view.Options) error {
	chosen, err := t.choose(selectable, o, v.Selection)
	if err != nil {
		return err
	}
	v.contexts = chosen.contexts(t, v.Snapshot)
	if o.MaxTokens > 0 {
		cost, done := v.price(t)
		defer done()
		o.Cost = cost
	}
	if v.view, err = chosen.view(o); err == nil {
		v.grow(t)
	}
	return err
}

// selected holds the elements of a snapshot that a selection selects, before the limits.
type selected struct {
	all dom.List
	// names holds the names of all.
	names *names
	view  func(view.Options) (view.View, error)
}

// choose selects from a snapshot. It reuses the selection from an earlier snapshot.
func (t *Tab) choose(s *dom.Snapshot, o view.Options, sel Selection) (selected, error) {
	whole := o
	whole.MaxElements, whole.MaxTokens, whole.Given = 0, 0, nil
	if !o.Incremental() {
		all, err := view.Of(s, whole)
		return selected{all.Elements, new(names), func(limited view.Options) (view.View, error) { return view.Of(s, limited) }}, err
	}
	t.mu.Lock()
	before, known := t.memos[sel], t.names[sel]
	t.mu.Unlock()
	after := view.Follow(before, s, whole)
	if known == nil {
		known = new(names)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest[sel] != nil {
		t.memos[sel], t.names[sel] = after, known
	}
	return selected{after.Selected(), known, after.View}, nil
}

// Header returns the header of the text with or without the history, shortened to the budget if necessary. Callers that print it must set
// Next to the view's cursor (Tab.Next), which Settled counts.
func (v *View) Header(history bool) compact.Header {
	h := v.header
	if !history {
		h.History = nil
	}
	return h
}

// Settled returns the elements with the exact token count of the text, header included, with or without the history. Without a budget,
// nothing is counted.
func (v *View) Settled(history bool) view.View {
	if history {
		return v.exact[1]()
	}
	return v.exact[0]()
}

// findFrame returns an error if the selected frame is not on the page.
func (v *View) findFrame() error {
	frame := v.Selection.frame
	if frame == "" || slices.Contains(v.Snapshot.Frames, frame) {
		return nil
	}
	for e := range v.Snapshot.Elements.All() {
		if e.Frame == frame || e.Child == frame {
			return nil
		}
	}
	return apierr.Unknown("frame", "unknown frame %q: leave frame_id empty, or use the frame of an element", frame)
}

func visits(history []dom.Visit) []compact.Visit {
	out := make([]compact.Visit, len(history))
	for i, e := range history {
		out[i] = compact.Visit(e)
	}
	return out
}

// costs caches the tokens of the lines of a tab's elements, so that for a repeated snapshot only changed lines are printed and counted. It
// holds at most about four times the elements of a snapshot.
type costs struct {
	mu       sync.Mutex
	base     compact.Base
	document uint64
	// now receives new counts. A count in earlier moves to now when it is used again.
	now, earlier map[*dom.Element]int
}

// of returns the cost function for a snapshot. It counts with the function that fresh returns. The caller has exclusive use until it calls
// done.
func (c *costs) of(s *dom.Snapshot, fresh func(compact.Base) func(*dom.Element) int) func(*dom.Element) int {
	c.mu.Lock()
	base := compact.NewBase(s.URL)
	if base != c.base || s.Document != c.document || c.now == nil {
		c.base, c.document = base, s.Document
		c.now, c.earlier = map[*dom.Element]int{}, nil
	}
	if len(c.now) > 2*s.Elements.Len() {
		c.now, c.earlier = map[*dom.Element]int{}, c.now
	}
	cost := fresh(base)
	return func(e *dom.Element) int {
		if n, ok := c.now[e]; ok {
			return n
		}
		n, ok := c.earlier[e]
		if !ok {
			n = cost(e)
		}
		c.now[e] = n
		return n
	}
}

func (c *costs) done() { c.mu.Unlock() }
