package tabview

import (
	"container/list"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// Limits of the cursors. When one is exceeded, the least recently used cursor expires, and its caller reads from the start.
const (
	maxCursors    = 1024
	maxTabCursors = 32
	// maxGiven limits the refs that all cursors together hold.
	maxGiven = 4 << 20
)

const (
	cursorFormat = "c%09d"
	cursorRange  = 1_000_000_000
	// sampleCursor has as many tokens as every other cursor, because the tokenizer encodes digits in groups of three. That allows counting
	// the tokens of a view before its cursor exists.
	sampleCursor = "c000000000"
)

var (
	// ErrCursorExpired reports an unknown cursor. Either this tab never issued it, the tab has left the cursor's page, or too many newer
	// cursors were issued.
	ErrCursorExpired = errors.New("the cursor expired, or belongs to another page or tab: read from the start, without a cursor")
	// ErrOtherView reports that a cursor belongs to a view with other filters or attributes.
	ErrOtherView = errors.New("was returned for other options: repeat the options of that call (max_elements and max_tokens may differ), or read from the start, without a cursor")
)

// cursors holds the states of truncated answers. A cursor stores the elements that were already sent, not a position in the page, because
// the page may change. The continuation contains all other elements.
type cursors struct {
	mu    sync.Mutex
	known map[string]*list.Element
	// used holds the *cursor values, most recently used first.
	used *list.List
	// size is the total number of refs.
	size int
	// next is the number of the next cursor. It starts at a random number, so that cursors of an earlier daemon do not match cursors of
	// this one.
	next uint32
}

// cursor is immutable.
type cursor struct {
	name string
	walk
	// given holds the refs of the elements that were sent, sorted.
	given []dom.Ref
	// before and folded are copied from the view that the cursor continues.
	before hashes
	folded []dom.Ref
}

// walk identifies a sequence of answers that continue each other.
type walk struct {
	tab      string
	epoch    string
	document uint64
	// selection has no limits, because a continuation may be longer than the previous answer.
	selection Selection
}

func newCursors() *cursors {
	return &cursors{known: map[string]*list.Element{}, used: list.New(), next: rand.Uint32N(cursorRange)}
}

// Continue returns the elements that the answer with the cursor left out, from the current page. Elements that were sent are not sent
// again, even if they have changed. New elements are included. Besides the errors of At, it returns ErrCursorExpired or ErrOtherView.
func (t *Tab) Continue(head *actor.Head, sel Selection, name string) (*View, error) {
	at, err := t.cursors.find(name, t.walk(head.Snapshot, sel))
	if err != nil {
		return nil, err
	}
	return t.finish(head, &View{Snapshot: head.Snapshot, Selection: sel, given: at.given, before: at.before, wasFolded: at.folded, err: errUnfinished})
}

// Next returns the cursor that continues a view. It returns "" if nothing is left, and also if the budget is too small for a single
// element, because continuing would then never end. Views with the same elements have the same cursor.
func (t *Tab) Next(v *View) string {
	if !v.continues() {
		return ""
	}
	return t.cursors.of(&cursor{walk: t.walk(v.Snapshot, v.Selection), given: v.givenWith(), before: v.before, folded: v.foldedWith()})
}

// IsTree reports whether a cursor of the tab belongs to a TREE. It returns false for an unknown cursor.
func (t *Tab) IsTree(name string) bool {
	t.cursors.mu.Lock()
	defer t.cursors.mu.Unlock()
	item := t.cursors.known[name]
	return item != nil && item.Value.(*cursor).tab == t.tab.ID() && item.Value.(*cursor).selection.tree
}

func (t *Tab) walk(s *dom.Snapshot, sel Selection) walk {
	sel.maxElements, sel.maxTokens = 0, 0
	return walk{tab: t.tab.ID(), epoch: s.Epoch, document: s.Document, selection: sel}
}

// continues reports whether the view has a cursor.
func (v *View) continues() bool {
	return v.view.Reason != view.NotTruncated && v.view.Elements.Len() > 0
}

// wasSent reports whether an element was in an answer that the view continues.
func (v *View) wasSent(r dom.Ref) bool {
	_, found := slices.BinarySearch(v.given, r)
	return found
}

// givenWith returns the sorted refs of the elements that were sent up to and including this view.
func (v *View) givenWith() []dom.Ref {
	out := make([]dom.Ref, len(v.given), len(v.given)+v.view.Elements.Len())
	copy(out, v.given)
	for e := range v.view.Elements.All() {
		out = append(out, e.Ref)
	}
	slices.Sort(out)
	return out
}

// find returns the cursor with a name, if it belongs to the walk.
func (c *cursors) find(name string, w walk) (*cursor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := c.known[name]
	if item == nil {
		return nil, ErrCursorExpired
	}
	found := item.Value.(*cursor)
	was, now := found.walk, w
	was.selection, now.selection = Selection{}, Selection{}
	if was != now {
		return nil, ErrCursorExpired
	}
	if found.selection != w.selection {
		return nil, ErrOtherView
	}
	c.used.MoveToFront(item)
	return found, nil
}

// of returns the name of the cursor that equals like, and adds that cursor if there is none. It drops cursors of pages that the tab has
// left, and the oldest cursor if the tab has too many.
func (c *cursors) of(like *cursor) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var older *list.Element
	n := 0
	for item := c.used.Front(); item != nil; {
		here := item
		item = item.Next()
		switch known := here.Value.(*cursor); {
		case known.tab != like.tab:
		case known.document < like.document:
			c.remove(here)
		case known.walk == like.walk && slices.Equal(known.given, like.given) && slices.Equal(known.folded, like.folded):
			c.used.MoveToFront(here)
			return known.name
		default:
			n, older = n+1, here
		}
	}
	if n >= maxTabCursors {
		c.remove(older)
	}
	return c.add(like)
}

func (c *cursors) add(made *cursor) string {
	made.name = fmt.Sprintf(cursorFormat, c.next)
	c.next = (c.next + 1) % cursorRange
	c.known[made.name] = c.used.PushFront(made)
	c.size += len(made.given)
	for len(c.known) > maxCursors || c.size > maxGiven {
		c.remove(c.used.Back())
	}
	return made.name
}

func (c *cursors) remove(item *list.Element) {
	gone := c.used.Remove(item).(*cursor)
	delete(c.known, gone.name)
	c.size -= len(gone.given)
}

// drop drops the cursors of a tab.
func (c *cursors) drop(tab string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for item := c.used.Front(); item != nil; {
		here := item
		item = item.Next()
		if here.Value.(*cursor).tab == tab {
			c.remove(here)
		}
	}
}
