package tabview

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

const pageURL = "https://shop.example/"

// openTab opens a tab on a page with n buttons.
func openTab(t *testing.T, n int) (*tabpool.Pool, *actor.Tab, *actortest.Page) {
	t.Helper()
	browser := actortest.NewBrowser()
	browser.Serve(pageURL, func() actortest.Screen {
		var body []*actortest.Node
		for i := range n {
			body = append(body, actortest.Button(fmt.Sprint("Button ", i)))
		}
		return actortest.Screen{Title: "Shop", Body: body}
	})
	pool := tabpool.New(browser, tabpool.Config{})
	t.Cleanup(func() {
		if err := pool.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	return pool, tab, browser.Page(0)
}

func read(t *testing.T, tab *actor.Tab) *actor.Head {
	t.Helper()
	reading, err := tab.Read(t.Context(), actor.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return reading.Head
}

func mustAt(t *testing.T, views *Tab, head *actor.Head, sel Selection) *View {
	t.Helper()
	v, err := views.At(head, head.Snapshot, sel)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSelectionDefaults(t *testing.T) {
	unset := SelectionOf(&domtapv1.GetDomRequest{})
	if want := (Selection{interactiveOnly: true, maxElements: 300, maxTokens: 8000}); unset != want {
		t.Errorf("unset is %+v, want %+v", unset, want)
	}
	set := SelectionOf(&domtapv1.WatchDomRequest{
		InteractiveOnly: proto.Bool(false), MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0), RootRef: proto.Uint32(0),
		ViewportOnly: true, FrameId: "F", IncludeAttributes: []string{"id", "alt", "id"},
	})
	want := Selection{viewportOnly: true, hasRoot: true, frame: "F", attributes: "alt id"}
	if set != want {
		t.Errorf("set is %+v, want %+v", set, want)
	}
	full := SelectionOf(&domtapv1.GetCompactRequest{
		FullSnapshot: true, ViewportOnly: true, MaxElements: proto.Int32(5), MaxTokens: proto.Int32(500), FrameId: "F",
	})
	if want := (Selection{frame: "F"}); full != want {
		t.Errorf("full is %+v, want %+v", full, want)
	}
}

func TestSelectionOfElements(t *testing.T) {
	limited := SelectionOf(&domtapv1.GetDomRequest{IncludeAttributes: []string{"id"}})
	if o := limited.Read(false); o.Structural || !o.Geometry || len(o.Attributes) != 1 {
		t.Errorf("a limited view reads %+v: what is in the viewport ranks first", o)
	}
	if o := limited.Watch(); o.Geometry {
		t.Errorf("a limited view watches %+v: boxes are for viewport_only", o)
	}
	full := SelectionOf(&domtapv1.GetDomRequest{FullSnapshot: true})
	if o := full.Read(false); !o.Structural || o.Geometry {
		t.Errorf("a full view reads %+v", o)
	}
	if o := full.Read(true); !o.Geometry {
		t.Errorf("with boxes it reads %+v", o)
	}
	if o := SelectionOf(&domtapv1.WatchDomRequest{ViewportOnly: true}).Watch(); !o.Geometry {
		t.Errorf("a view of the viewport watches %+v", o)
	}
}

func TestViewsAreShared(t *testing.T) {
	_, tab, page := openTab(t, 50)
	views := New().Of(tab)
	sel, other := SelectionOf(&domtapv1.GetDomRequest{}), SelectionOf(&domtapv1.GetDomRequest{FullSnapshot: true})
	first := read(t, tab)
	got := make([]*View, 8)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = mustAt(t, views, first, sel) })
	}
	all.Wait()
	for _, v := range got {
		if v != got[0] {
			t.Fatal("callers who see the same got different views")
		}
	}
	if mustAt(t, views, first, other) == got[0] {
		t.Error("different selections share a view")
	}
	page.Update(func(main *actortest.Frame) { main.Body[0].Text = "New" })
	second := read(t, tab)
	now := mustAt(t, views, second, sel)
	if now == got[0] || mustAt(t, views, second, sel) != now {
		t.Error("the newest view is not the one that is shared")
	}
	if once, twice := now.Since(got[0]), now.Since(got[0]); once != twice {
		t.Error("the same change was computed twice")
	}
	mustAt(t, views, first, sel)
	if mustAt(t, views, second, sel) != now {
		t.Error("an old view replaced the newest one")
	}
	if d := now.Since(got[0]).Diff; len(d.Added) != 1 || d.From != first.Snapshot.Revision || d.To != second.Snapshot.Revision {
		t.Errorf("the change is %+v", d)
	}
}

func TestSharedViewsAreBounded(t *testing.T) {
	_, tab, _ := openTab(t, 5)
	views := New().Of(tab)
	head := read(t, tab)
	for i := range int32(3 * maxShared) {
		mustAt(t, views, head, SelectionOf(&domtapv1.GetDomRequest{MaxElements: &i}))
	}
	if len(views.newest) > maxShared {
		t.Errorf("%d selections are remembered, want at most %d", len(views.newest), maxShared)
	}
	v := mustAt(t, views, head, Selection{})
	for i := range 5 * maxChanges {
		v.changeFrom(Point{"e", uint64(i)})
	}
	if len(v.changes) > maxChanges {
		t.Errorf("%d changes are remembered, want at most %d", len(v.changes), maxChanges)
	}
}

func TestRepeatedViewsCountOnlyWhatChanged(t *testing.T) {
	_, tab, page := openTab(t, 200)
	views := New().Of(tab)
	counted := 0
	views.count = func(s string) int {
		if strings.HasPrefix(s, "[") {
			counted++
		}
		return tokens.Count(s)
	}
	mustAt(t, views, read(t, tab), SelectionOf(&domtapv1.GetDomRequest{}))
	if counted != 200 {
		t.Errorf("the first view counted %d lines, want 200", counted)
	}
	for i := range 20 {
		counted = 0
		page.Update(func(main *actortest.Frame) { main.Body[i].Text += "!" })
		head := read(t, tab)
		mustAt(t, views, head, SelectionOf(&domtapv1.GetDomRequest{}))
		mustAt(t, views, head, SelectionOf(&domtapv1.GetDomRequest{MaxTokens: proto.Int32(4000)}))
		if counted != 1 {
			t.Errorf("after one change %d lines were counted, want 1", counted)
		}
		if held := len(views.costs.now) + len(views.costs.earlier); held > 4*200+400 {
			t.Errorf("%d costs are held for 200 elements", held)
		}
	}
}

func TestCostsFollowThePage(t *testing.T) {
	_, tab, page := openTab(t, 0)
	page.Update(func(main *actortest.Frame) {
		main.Body = []*actortest.Node{actortest.Link("Here", pageURL+"a/long/path/to/somewhere#part")}
	})
	views := New().Of(tab)
	for _, url := range []string{pageURL, pageURL + "a/long/path/to/somewhere", pageURL} {
		page.PushState(url)
		head := read(t, tab)
		v := mustAt(t, views, head, SelectionOf(&domtapv1.GetDomRequest{}))
		text := v.Print(v.Header(true), v.Settled(true))
		if got := v.Settled(true).Tokens; got != tokens.Count(text) {
			t.Errorf("on %s: said %d, the text costs %d:\n%s", url, got, tokens.Count(text), text)
		}
	}
}

func TestViewErrorsAreTheActors(t *testing.T) {
	_, tab, page := openTab(t, 2)
	views := New().Of(tab)
	read(t, tab)
	page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
	head := read(t, tab)
	for _, c := range []struct {
		sel  Selection
		kind apierr.ErrorKind
	}{
		{Selection{hasRoot: true, root: 0}, apierr.Stale},
		{Selection{hasRoot: true, root: 77}, apierr.Invalid},
		{Selection{frame: "F"}, apierr.NotFound},
	} {
		_, err := views.At(head, head.Snapshot, c.sel)
		if e, ok := err.(*apierr.Error); !ok || e.Kind != c.kind {
			t.Errorf("%+v: got %v, want kind %d", c.sel, err, c.kind)
		}
	}
}

func TestBack(t *testing.T) {
	_, tab, page := openTab(t, 2)
	views := New().Of(tab)
	first := read(t, tab)
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("New")) })
	now := read(t, tab)
	epoch := now.Snapshot.Epoch
	from, resync := views.ViewAt(now, Selection{}, Point{epoch, first.Snapshot.Revision})
	if resync != "" || len(from.Elements()) != 2 {
		t.Errorf("back gave %q", resync)
	}
	for _, c := range []struct {
		sel  Selection
		to   Point
		want string
	}{
		{Selection{}, Point{"x", first.Snapshot.Revision}, EpochChanged},
		{Selection{}, Point{epoch, now.Snapshot.Revision + 1}, Unknown},
		{Selection{}, Point{epoch, 0}, TooOld},
		{Selection{hasRoot: true, root: 2}, Point{epoch, first.Snapshot.Revision}, ViewChanged},
	} {
		if from, resync := views.ViewAt(now, c.sel, c.to); resync != c.want || from != nil {
			t.Errorf("%v: got %q, want %q", c.to, resync, c.want)
		}
	}
}

func TestMostlyChanged(t *testing.T) {
	for _, c := range []struct {
		added, removed, changed, old, now int
		want                              bool
	}{
		{0, 0, 0, 100, 100, false},
		{70, 70, 0, 100, 100, false},
		{71, 71, 0, 100, 100, true},
		{0, 0, 71, 100, 100, true},
		{0, 0, 70, 100, 100, false},
		{10, 0, 0, 0, 10, true},
		{9, 0, 0, 0, 9, false},
		{9, 9, 0, 9, 9, false},
		{50, 0, 0, 50, 100, false},
	} {
		d := diff.Diff{
			Added: make([]diff.Added, c.added), Removed: make([]diff.Removed, c.removed), Changed: make([]diff.Changed, c.changed),
		}
		if got := mostlyChanged(d, c.old, c.now); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// seen returns a Seen of n elements with a selection.
func seen(n int, sel Selection, document uint64) Seen {
	v := &View{Snapshot: &dom.Snapshot{Epoch: "e", Document: document}, Selection: sel}
	v.view.Elements = dom.ListOf(make([]*dom.Element, n))
	return Seen{View: v}
}

func (b *baselines) check(t *testing.T) {
	t.Helper()
	size := 0
	for _, item := range b.entries {
		for _, s := range item.Value.(*baseline).views {
			size += s.size()
		}
	}
	if b.used.Len() != len(b.entries) || size != b.size {
		t.Errorf("%d entries in the list of %d, %d elements counted as %d", b.used.Len(), len(b.entries), size, b.size)
	}
}

func TestBaselinesTellCallersTabsAndViewsApart(t *testing.T) {
	b := newBaselines()
	ann, bob := Caller{Client: "ann"}, Caller{Connection: 7}
	one, two := Selection{maxElements: 1}, Selection{maxElements: 2}
	for _, c := range []struct {
		caller Caller
		tab    string
		now    Seen
		want   string
	}{
		{ann, "t1", seen(1, one, 1), FirstCall},
		{ann, "t1", seen(2, one, 1), ""},
		{ann, "t1", seen(3, two, 1), ViewChanged},
		{ann, "t1", seen(4, one, 1), ""},
		{ann, "t2", seen(5, one, 1), FirstCall},
		{bob, "t1", seen(6, one, 1), FirstCall},
		{bob, "t1", seen(7, one, 2), Navigated},
		{bob, "t1", seen(8, one, 2), ""},
	} {
		if _, got := b.swap(callerTab{c.caller, c.tab}, c.now); got != c.want {
			t.Errorf("%v on %s: got %q, want %q", c.caller, c.tab, got, c.want)
		}
		b.check(t)
	}
	if last, _ := b.swap(callerTab{ann, "t1"}, seen(9, two, 1)); len(last.View.Elements()) != 3 {
		t.Errorf("the last view has %d elements, want 3", len(last.View.Elements()))
	}
	b.forget(bob)
	b.drop("t2")
	b.check(t)
	if len(b.entries) != 1 {
		t.Errorf("%d entries are left, want one", len(b.entries))
	}
	crashed := seen(1, two, 1)
	crashed.View.Snapshot.Epoch = "f"
	if _, got := b.swap(callerTab{ann, "t1"}, crashed); got != EpochChanged {
		t.Errorf("another epoch: got %q", got)
	}
}

func TestBaselinesAreBounded(t *testing.T) {
	b := newBaselines()
	key := func(i int) callerTab { return callerTab{Caller{Connection: uint64(i)}, "t1"} }
	for i := range 2 * maxCallers {
		b.swap(key(i), seen(1, Selection{}, 1))
		b.swap(key(0), seen(1, Selection{}, 1))
	}
	b.check(t)
	if len(b.entries) > maxCallers {
		t.Errorf("%d callers are remembered", len(b.entries))
	}
	if _, resync := b.swap(key(0), seen(1, Selection{}, 1)); resync != "" {
		t.Errorf("the caller in use was forgotten: %q", resync)
	}
	for i := range 3 * maxViews {
		b.swap(key(0), seen(1, Selection{maxElements: i}, 1))
	}
	if n := len(b.entries[key(0)].Value.(*baseline).views); n > maxViews {
		t.Errorf("%d views of one caller are remembered", n)
	}
	for i := range 4 {
		b.swap(key(i), seen(maxRemembered/2, Selection{}, 1))
		b.check(t)
		if b.size > maxRemembered && len(b.entries) > 1 {
			t.Errorf("%d elements are remembered", b.size)
		}
	}
}

func TestAStreamThatEndsAfterItsCallerLeavesNothing(t *testing.T) {
	_, tab, _ := openTab(t, 2)
	cache := New()
	who := Caller{Connection: 1}
	over := cache.Of(tab).BeginStream(who)
	cache.Forget(who)
	over()
	if n := len(cache.last.entries); n != 0 {
		t.Errorf("%d baselines are held of a caller that has gone", n)
	}
}

func TestEndedTabsAreDropped(t *testing.T) {
	pool, tab, _ := openTab(t, 2)
	cache := New()
	views := cache.Of(tab)
	if cache.Of(tab) != views {
		t.Error("a tab has two sets of views")
	}
	views.Swap(Caller{Client: "ann"}, seen(1, Selection{}, 1))
	if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
		t.Fatal(err)
	}
	next, err := pool.Open(t.Context(), tabpool.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cache.Of(next)
	if len(cache.tabs) != 1 || len(cache.last.entries) != 0 {
		t.Errorf("%d tabs and %d baselines are held, want those of the open tab", len(cache.tabs), len(cache.last.entries))
	}
}
