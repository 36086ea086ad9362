package views

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

// Bounds of what is remembered for cursors. What was not used for longest is forgotten first; whoever
// holds that cursor is told to read from the start.
const (
	maxCursors    = 1024
	maxTabCursors = 32
	// maxGiven is how many elements all cursors together remember as given.
	maxGiven = 4 << 20
)

const (
	cursorFormat = "c%09d"
	cursorRange  = 1_000_000_000
	// sampleCursor costs what every cursor costs, since a tokenizer takes digits in groups of three. So
	// the text of a view can be counted before its cursor is made.
	sampleCursor = "c000000000"
)

var (
	// ErrCursorExpired says that a cursor leads nowhere: it was never given in this tab, the page that it
	// was given for has been left, or too many others were given since.
	ErrCursorExpired = errors.New("the cursor leads nowhere any more (another page, another tab, or given too long ago): read from the start, without a cursor")
	// ErrOtherView says that a cursor is of a view with other filters or attributes.
	ErrOtherView = errors.New("belongs to a call with other options: repeat those of the call that gave it (max_elements and max_tokens may differ), or read from the start, without a cursor")
)

// cursors remembers where truncated answers stopped. A cursor does not name a place in a page, which
// may change, but the elements that were already given: what goes on from there is everything else.
type cursors struct {
	mu    sync.Mutex
	known map[string]*list.Element
	// used holds *cursor, the last used in front.
	used *list.List
	// size is how many refs are held.
	size int
	// next numbers the cursors. It starts anywhere, so that those of an earlier daemon are not taken
	// for those of this one.
	next uint32
}

// cursor is immutable.
type cursor struct {
	name string
	walk
	// given holds the refs of the elements that were given, in order.
	given []dom.Ref
	// before and folded are those of the view that the cursor continues.
	before hashes
	folded []dom.Ref
}

// walk is what all the answers that continue each other have in common.
type walk struct {
	tab      string
	epoch    string
	document uint64
	// selection has no limits: an answer may be longer than the one before.
	selection Selection
}

func newCursors() *cursors {
	return &cursors{known: map[string]*list.Element{}, used: list.New(), next: rand.Uint32N(cursorRange)}
}

// Continue returns what an answer that gave the cursor has left out, as the page is now: what was given
// does not come again, also when it has changed, and what has appeared since is among the rest. Besides
// the errors of At, it fails with ErrCursorExpired or ErrOtherView.
func (t *Tab) Continue(head *actor.Head, sel Selection, name string) (*View, error) {
	at, err := t.cursors.find(name, t.walk(head.Snapshot, sel))
	if err != nil {
		return nil, err
	}
	return t.finish(head, &View{Snapshot: head.Snapshot, Selection: sel, given: at.given, before: at.before, wasFolded: at.folded, err: errUnfinished})
}

// Next returns the cursor that continues a view, or "" when there is none: nothing is left, or the budget
// does not suffice for a single element, so that going on with it would never end. Views that gave the
// same elements have the same cursor.
func (t *Tab) Next(v *View) string {
	if !v.continues() {
		return ""
	}
	return t.cursors.of(&cursor{walk: t.walk(v.Snapshot, v.Selection), given: v.givenWith(), before: v.before, folded: v.foldedWith()})
}

// IsTree reports whether a cursor of the tab was given by a TREE; false also when it is not known.
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

// wasGiven reports whether an element was in an answer that the view continues.
func (v *View) wasGiven(r dom.Ref) bool {
	_, found := slices.BinarySearch(v.given, r)
	return found
}

// givenWith returns the refs of what was given up to this view, in order.
func (v *View) givenWith() []dom.Ref {
	out := make([]dom.Ref, len(v.given), len(v.given)+v.view.Elements.Len())
	copy(out, v.given)
	for e := range v.view.Elements.All() {
		out = append(out, e.Ref)
	}
	slices.Sort(out)
	return out
}

// find returns a cursor of the walk.
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

// of returns a cursor like one without a name. On the way it drops those of pages that
// the tab has left, and the oldest when the tab has too many.
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

// drop forgets the cursors of a tab.
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
