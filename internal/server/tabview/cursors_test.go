package tabview

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// The text of a view is counted before its cursor is made, so all cursors must cost the same.
func TestCursorsCostTheSame(t *testing.T) {
	line := func(cursor string) int {
		return tokens.Count("# Elements: 300 of 5538 (truncated: element limit, next: " + cursor + ")\n")
	}
	want := line(sampleCursor)
	for i := range 1000 {
		name := fmt.Sprintf(cursorFormat, i*1_001_001)
		if got := line(name); got != want || len(name) != len(sampleCursor) {
			t.Errorf("%s costs %d, %s costs %d", name, got, sampleCursor, want)
		}
	}
}

// pages follows cursors to the end. It returns the refs in the order in which they were sent, and calls between before every page except
// the first.
func pages(t *testing.T, views *Tab, tab *actor.Tab, sel Selection, between func(page int)) (given []dom.Ref, n int) {
	t.Helper()
	head := read(t, tab)
	v := mustAt(t, views, head, sel)
	for n = 1; ; n++ {
		for _, e := range v.Elements() {
			given = append(given, e.Ref)
		}
		next := views.Next(v)
		checkText(t, v, sel, next)
		if next == "" {
			return given, n
		}
		between(n)
		var err error
		if v, err = views.Continue(read(t, tab), sel, next); err != nil {
			t.Fatal(err)
		}
	}
}

// checkText checks the token count of a view's text as sent.
func checkText(t *testing.T, v *View, sel Selection, next string) {
	t.Helper()
	header := v.Header(true)
	header.Next = next
	settled := v.Settled(true)
	cost := tokens.Count(compact.Lines(header, settled))
	if sel.maxTokens > 0 && (cost > sel.maxTokens || cost != settled.Tokens) {
		t.Errorf("the text costs %d, said %d, budget %d", cost, settled.Tokens, sel.maxTokens)
	}
	if sel.maxElements > 0 && settled.Elements.Len() > sel.maxElements {
		t.Errorf("%d elements, limit %d", settled.Elements.Len(), sel.maxElements)
	}
}

func TestPagesOfAPageThatStays(t *testing.T) {
	_, tab, _ := openTab(t, 700)
	views := New().Of(tab)
	for _, c := range []struct{ elements, tokens, pages int }{
		{300, 8000, 3}, {0, 0, 1}, {100, 0, 7}, {699, 50_000, 2}, {700, 50_000, 1}, {0, 1000, 7}, {0, 200, 0}, {0, 201, 0}, {0, 223, 0},
	} {
		sel := SelectionOf(&domtapv1.GetDomRequest{MaxElements: proto.Int32(int32(c.elements)), MaxTokens: proto.Int32(int32(c.tokens))})
		given, n := pages(t, views, tab, sel, func(int) {})
		slices.Sort(given)
		if len(given) != 700 || len(slices.Compact(given)) != 700 {
			t.Errorf("%+v: %d elements, %d of them different, want 700", c, len(given), len(slices.Compact(given)))
		}
		if c.pages > 0 && n != c.pages {
			t.Errorf("%+v: %d pages", c, n)
		}
	}
}

func TestPagesOfAPageThatChanges(t *testing.T) {
	_, tab, page := openTab(t, 100)
	views := New().Of(tab)
	all := mustAt(t, views, read(t, tab), Selection{}).Elements()
	sel := SelectionOf(&domtapv1.GetDomRequest{MaxElements: proto.Int32(20)})
	given, n := pages(t, views, tab, sel, func(n int) {
		if n > 3 {
			return
		}
		page.Update(func(main *actortest.Frame) {
			body := slices.Clone(main.Body)
			body[0].Text += " again"                                       // was sent
			body[1], body[9] = body[9], body[1]                            // were sent
			body[n], body[90] = body[90], body[n]                          // one of the two was sent
			body = slices.Insert(body, 5, actortest.Button(fmt.Sprint(n))) // before the elements that were sent
			main.Body = body[:len(body)-1]                                 // was not sent
		})
	})
	once := slices.Clone(given)
	slices.Sort(once)
	if len(once) != len(slices.Compact(once)) {
		t.Errorf("elements were repeated: %v", given)
	}
	for _, e := range all[:97] {
		if !slices.Contains(given, e.Ref) {
			t.Errorf("element %d was there all the time and was lost", e.Ref)
		}
	}
	if len(given) != 100 || n != 5 {
		t.Errorf("%d elements in %d pages, want 97 old and 3 new in 5", len(given), n)
	}
}

func TestExpiredCursors(t *testing.T) {
	pool, tab, page := openTab(t, 30)
	cache := New()
	views := cache.Of(tab)
	other, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	sel := SelectionOf(&domtapv1.GetDomRequest{MaxElements: proto.Int32(10)})
	head := read(t, tab)
	next := views.Next(mustAt(t, views, head, sel))
	for _, c := range []struct {
		what   string
		tab    *actor.Tab
		sel    Selection
		cursor string
		want   error
	}{
		{"the cursor", tab, sel, next, nil},
		{"a second time", tab, sel, next, nil},
		{"with other limits", tab, Selection{interactiveOnly: true, maxTokens: 500}, next, nil},
		{"with another filter", tab, Selection{maxElements: 10}, next, ErrOtherView},
		{"with attributes", tab, Selection{interactiveOnly: true, attributes: "id"}, next, ErrOtherView},
		{"with a root", tab, Selection{interactiveOnly: true, hasRoot: true}, next, ErrOtherView},
		{"in another tab", other, sel, next, ErrCursorExpired},
		{"an unknown one", tab, sel, "c1", ErrCursorExpired},
	} {
		v, err := cache.Of(c.tab).Continue(read(t, c.tab), c.sel, c.cursor)
		if !errors.Is(err, c.want) || c.want == nil && len(v.Elements()) < 10 {
			t.Errorf("%s: got %v, want %v", c.what, err, c.want)
		}
	}
	page.PushState(pageURL + "route")
	if _, err := views.Continue(read(t, tab), sel, next); err != nil {
		t.Errorf("on another route of the same document: %v", err)
	}
	if _, err := tab.Navigate(t.Context(), pageURL, actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	if _, err := views.Continue(read(t, tab), sel, next); !errors.Is(err, ErrCursorExpired) {
		t.Errorf("on another document: got %v", err)
	}
	views.Next(mustAt(t, views, read(t, tab), sel))
	if len(cache.cursors.known) != 1 {
		t.Errorf("%d cursors are held, want that of the page that is open", len(cache.cursors.known))
	}
}

func TestABudgetForNothingHasNoCursor(t *testing.T) {
	_, tab, _ := openTab(t, 5)
	views := New().Of(tab)
	sel := Selection{interactiveOnly: true, maxTokens: 5}
	v := mustAt(t, views, read(t, tab), sel)
	if next := views.Next(v); next != "" || len(v.Elements()) != 0 || v.Settled(true).Total != 5 {
		t.Errorf("going on from nothing never ends: %q", next)
	}
}

func TestReadingAgainKeepsTheCursor(t *testing.T) {
	_, tab, page := openTab(t, 30)
	cache := New()
	views := cache.Of(tab)
	sel := SelectionOf(&domtapv1.GetDomRequest{MaxElements: proto.Int32(10)})
	first := views.Next(mustAt(t, views, read(t, tab), sel))
	for i := range 3 * maxTabCursors {
		page.Update(func(main *actortest.Frame) { main.Body[0].Text = fmt.Sprint(i) })
		if next := views.Next(mustAt(t, views, read(t, tab), sel)); next != first {
			t.Fatalf("the same elements have the cursors %s and %s", first, next)
		}
	}
}

func (c *cursors) check(t *testing.T) {
	t.Helper()
	size := 0
	for _, item := range c.known {
		size += len(item.Value.(*cursor).given)
	}
	if c.used.Len() != len(c.known) || size != c.size {
		t.Errorf("%d cursors in the list of %d, %d refs counted as %d", c.used.Len(), len(c.known), size, c.size)
	}
}

func TestCursorsAreBounded(t *testing.T) {
	c := newCursors()
	c.next = cursorRange - 5
	at := func(tab, n int) walk {
		return walk{tab: fmt.Sprint("t", tab), selection: Selection{attributes: fmt.Sprint(n)}}
	}
	kept := c.of(&cursor{walk: at(0, 0)})
	for i := range 2 * maxCursors {
		if name := c.of(&cursor{walk: at(i%100, i), given: []dom.Ref{1, 2}}); len(name) != len(sampleCursor) {
			t.Fatalf("the cursor %q has another length", name)
		}
		if _, err := c.find(kept, at(0, 0)); err != nil {
			t.Fatalf("the cursor in use was forgotten: %v", err)
		}
	}
	c.check(t)
	if len(c.known) != maxCursors {
		t.Errorf("%d cursors are held, want %d", len(c.known), maxCursors)
	}
	for i := range 2 * maxTabCursors {
		c.of(&cursor{walk: at(7, -i)})
	}
	c.check(t)
	n := 0
	for _, item := range c.known {
		if item.Value.(*cursor).tab == "t7" {
			n++
		}
	}
	if n != maxTabCursors {
		t.Errorf("one tab has %d cursors, want %d", n, maxTabCursors)
	}
	for i := range 4 {
		c.of(&cursor{walk: at(200, i), given: make([]dom.Ref, maxGiven/2)})
		c.check(t)
	}
	if c.size > maxGiven {
		t.Errorf("%d refs are held", c.size)
	}
	c.drop("t200")
	c.check(t)
	if c.size > maxGiven/4 {
		t.Errorf("%d refs are held of a tab that was dropped", c.size)
	}
}

func TestCursorsEndWithTheirTab(t *testing.T) {
	pool, tab, _ := openTab(t, 30)
	cache := New()
	views := cache.Of(tab)
	sel := Selection{interactiveOnly: true, maxElements: 10}
	if views.Next(mustAt(t, views, read(t, tab), sel)) == "" || len(cache.cursors.known) != 1 {
		t.Fatal("there is no cursor")
	}
	if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
		t.Fatal(err)
	}
	next, err := pool.Open(t.Context(), tabpool.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cache.Of(next)
	if len(cache.cursors.known) != 0 || cache.cursors.size != 0 {
		t.Errorf("%d cursors are held of a tab that was closed", len(cache.cursors.known))
	}
}

func TestManyCallersGoOnAtOnce(t *testing.T) {
	_, tab, _ := openTab(t, 50)
	cache := New()
	views := cache.Of(tab)
	sel := Selection{interactiveOnly: true, maxElements: 10, maxTokens: 1000}
	head := read(t, tab)
	first := mustAt(t, views, head, sel)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			n := len(first.Elements())
			for next := views.Next(first); next != ""; {
				v, err := views.Continue(head, sel, next)
				if err != nil {
					t.Error(err)
					return
				}
				n += len(v.Elements())
				next = views.Next(v)
			}
			if n != 50 {
				t.Errorf("a caller got %d elements, want 50", n)
			}
		})
	}
	all.Wait()
	cache.cursors.check(t)
	if len(cache.cursors.known) != 4 {
		t.Errorf("%d cursors are held for 5 pages, want 4 shared by all", len(cache.cursors.known))
	}
}
