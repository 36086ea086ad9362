// Package views makes views of tabs for the callers of the API: the elements of a snapshot that a
// selection shows, the tokens of their text, and the change from one view to the next. Callers share
// views, so that each is made once. The package also keeps what each caller received last, for
// incremental answers, and the cursors of truncated answers.
//
// Everything that it returns is shared and immutable. Its memory is bounded by the open tabs, and by
// fixed limits over all callers. It may be used from any goroutine.
package views

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
	// maxShared is how many selections of a tab are kept for sharing.
	maxShared = 32
	// headerShare is the part of a budget that the header may take: one fourth.
	headerShare = 4
	// maxTexts is how many headers and lines are cached with their tokens.
	maxTexts = 4096
)

// Cache has the views of all tabs.
type Cache struct {
	mu   sync.Mutex
	tabs map[Page]*Tab
	last *baselines
	// cursors has the states of truncated answers.
	cursors *cursors
	// texts caches the tokens of headers and lines.
	texts *tokens.Cache
}

// New makes an empty cache.
func New() *Cache {
	return &Cache{tabs: map[Page]*Tab{}, last: newBaselines(), cursors: newCursors(), texts: tokens.NewCache(maxTexts)}
}

// Page is what views are made of: an *actor.Tab, or an *actor.Replica of another node's. Pages are compared by ==.
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

// Forget drops the baselines of a caller that has gone.
func (c *Cache) Forget(who Caller) { c.last.forget(who) }

// Tab shares the newest view of each selection among the callers of a tab.
type Tab struct {
	tab     Page
	last    *baselines
	cursors *cursors
	count   func(text string) int

	mu     sync.Mutex
	newest map[Selection]*View
	// memos help to make the next view of each selection.
	memos map[Selection]*view.Memo
	// names follow what each selection selects.
	names map[Selection]*names
	// page has the names of all elements, tree their places.
	page  names
	tree  tree
	costs costs
	// branches caches the tokens of lines of trees.
	branches costs
	whole    whole
	noticed  noticed
	// Followed says whether structural elements that are read now would be seen in diffs.
	Followed Followed
	// seen is the snapshot of the newest answer.
	seen atomic.Pointer[dom.Snapshot]
}

// At returns the view of a snapshot, that of the head or an earlier one. Its error is an *apierr.Error
// of kind Stale or Invalid if the root of the selection does not exist, NotFound if the frame does not.
func (t *Tab) At(head *actor.Head, s *dom.Snapshot, sel Selection) (*View, error) {
	return t.finish(head, t.share(s, sel))
}

// finish computes a view unless another caller has, and explains its error with the head.
func (t *Tab) finish(head *actor.Head, one *View) (*View, error) {
	one.once.Do(func() { one.compute(t) })
	if one.err != nil {
		return nil, explain(head, one.err)
	}
	return one, nil
}

// explain returns the error for a head without the view.
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

// share finds the view that another caller computes or has computed, or adds an empty one.
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

// errUnfinished stays in a view whose computation panicked.
var errUnfinished = errors.New("the view could not be computed")

// View is a view of one snapshot.
type View struct {
	Snapshot  *dom.Snapshot
	Selection Selection
	// given has, in order, the refs of the elements in the answers that this view continues.
	given []dom.Ref
	// before has the landmarks that the caller received with the previous page, which are folded;
	// wasFolded has, in order, those that were folded in the answers that this view continues.
	before    hashes
	wasFolded []dom.Ref

	once sync.Once
	view view.View
	err  error
	// header has room for the history; overhead is its share of view.Tokens.
	header   compact.Header
	overhead int
	signals  []injection.Signal
	// contexts says which one an element is, of several with its role and name among those that the filters select. DENSE
	// finds its own: nil.
	contexts *contexts
	// folded and outline are for trees.
	folded  compact.Folded
	outline compact.Outline
	// page and lines are for DENSE: what the view is printed from, and its lines.
	page  *dense.Page
	lines string
	// exact has the view with the exact tokens of its text, without and with the history in the header.
	exact [2]func() view.View

	placed  atomic.Pointer[Placed]
	encoded encodings
	answers atomic.Bool

	mu      sync.Mutex
	changes map[Point]*Change
}

// Point is a state of a tab.
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
		options.Given = v.wasGiven
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
		v.err = v.afford(t, selectable, options)
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

// afford makes a view in which each element costs what its own line does.
func (v *View) afford(t *Tab, selectable *dom.Snapshot, o view.Options) error {
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

// chosen is what a selection selects of a snapshot, before the limits.
type chosen struct {
	all dom.List
	// names are those of all.
	names *names
	view  func(view.Options) (view.View, error)
}

// choose selects from a snapshot, reusing what it selected from an earlier one.
func (t *Tab) choose(s *dom.Snapshot, o view.Options, sel Selection) (chosen, error) {
	whole := o
	whole.MaxElements, whole.MaxTokens, whole.Given = 0, 0, nil
	if !o.Incremental() {
		all, err := view.Of(s, whole)
		return chosen{all.Elements, new(names), func(limited view.Options) (view.View, error) { return view.Of(s, limited) }}, err
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
	return chosen{after.Selected(), known, after.View}, nil
}

// Header returns the header of the text with or without the history, cut to the budget if necessary.
// Callers that print it must set Next to the view's cursor (Tab.Next), which Settled counts.
func (v *View) Header(history bool) compact.Header {
	h := v.header
	if !history {
		h.History = nil
	}
	return h
}

// Settled returns the elements with the exact tokens of the text, header included, with or without the
// history. Nothing is counted without a budget.
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

// costs caches the tokens of the lines of a tab's elements, so that a repeated snapshot prints and
// counts only changed lines. It has at most about four times the elements of a snapshot.
type costs struct {
	mu       sync.Mutex
	base     compact.Base
	document uint64
	// now gets new counts; counts in earlier move to now when they are used again.
	now, earlier map[*dom.Element]int
}

// of returns the cost function for a snapshot, which counts with the function that fresh makes. The
// caller uses it alone until it calls done.
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
