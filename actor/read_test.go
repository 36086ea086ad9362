package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/capture"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/actor/query"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

func TestReadGivesTheDocumentInOrder(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	h := read(t, tab, actor.ReadOptions{}).Head
	if got := texts(h.Snapshot); got != "0:Pay 1:Email 2:Help" {
		t.Errorf("elements are %s", got)
	}
	i := h.Info
	if i.ID != "t1" || i.Session != "default" || i.URL != home || i.Title != "Shop" || i.Status != actor.StatusReady || i.HTTPStatus != 200 {
		t.Errorf("info is %+v", i)
	}
	if s := h.Snapshot; s.Revision != i.Revision || s.Epoch == "" || s.Epoch != i.Epoch || s.URL != home || s.ObservedAt.IsZero() || s.PageTime.IsZero() {
		t.Errorf("snapshot is %+v", s)
	}
	if got := b.Page(0).Calls("Read"); got != 1 {
		t.Errorf("%d reads for one Read", got)
	}
}

func TestReadPublishesOnlyChanges(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	first := read(t, tab, actor.ReadOptions{}).Head
	if again := read(t, tab, actor.ReadOptions{}).Head; again != first {
		t.Fatalf("a read without a change made head %+v of %+v", again.Info, first.Info)
	}
	b.Page(0).Update(func(f *actortest.Frame) {
		f.Body[1].Value = "a@b.c"
		f.Body = append(f.Body, actortest.Button("New"))
	})
	next := read(t, tab, actor.ReadOptions{}).Head
	if next.Info.Revision != first.Info.Revision+1 {
		t.Errorf("one burst made revision %d of %d", next.Info.Revision, first.Info.Revision)
	}
	was, is := first.Snapshot.Elements.Slice(), next.Snapshot.Elements.Slice()
	if is[0] != was[0] || is[2] != was[2] {
		t.Error("unchanged elements are not shared")
	}
	if is[1] == was[1] || was[1].Value != "" || is[1].Value != "a@b.c" || is[3].Ref != 3 {
		t.Errorf("elements are %+v, then %+v", was[1], is[1])
	}
	select {
	case <-first.Next():
	default:
		t.Error("the older head's Next is open")
	}
	if !sameSnapshot(next.At(first.Info.Revision), first.Snapshot) || next.At(next.Info.Revision) != next.Snapshot {
		t.Error("the log does not hold the snapshots")
	}
	if next.At(next.Info.Revision+1) != nil || next.At(0) != nil {
		t.Error("the log holds what was never there")
	}
}

func TestStructureAndAttributesAreAddedWhenAskedFor(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) {
		f.Body[0].Attributes = map[string]string{"id": "pay", "class": "big"}
		f.Body = []*actortest.Node{actortest.Heading(1, "Shop", f.Body...)}
	})
	if got := texts(read(t, tab, actor.ReadOptions{}).Head.Snapshot); got != "0:Pay 1:Email 2:Help" {
		t.Errorf("elements are %s", got)
	}
	s := read(t, tab, actor.ReadOptions{Structural: true, Attributes: []string{"id"}}).Head.Snapshot
	if got := texts(s); got != "3:Shop 0:Pay 1:Email 2:Help" {
		t.Errorf("elements are %s", got)
	}
	if s.Elements.Slice()[1].Parent != 3 || s.Elements.Slice()[1].Depth != 1 || fmt.Sprint(s.Elements.Slice()[1].Attributes) != "map[id:pay]" {
		t.Errorf("the button is %+v", s.Elements.Slice()[1])
	}
}

// frames returns a page with a button, an iframe with a button and an inner iframe, and a button.
func frames() []*actortest.Node {
	inner := &actortest.Frame{ID: "inner", URL: home + "inner", Body: []*actortest.Node{actortest.Button("Deep")}}
	inner.Body[0].Box = dom.Box{X: 1, Y: 2, Width: 10, Height: 10}
	innerHost := actortest.Iframe("Inner", inner)
	innerHost.Box = dom.Box{X: 5, Y: 500, Width: 100, Height: 100}
	outer := &actortest.Frame{ID: "outer", URL: home + "outer", Body: []*actortest.Node{actortest.Button("In"), innerHost}}
	outer.Scroll = dom.Box{Y: 450, Width: 300, Height: 200}
	outerHost := actortest.Iframe("Outer", outer)
	outerHost.Box = dom.Box{X: 100, Y: 1000, Width: 300, Height: 200}
	return []*actortest.Node{actortest.Button("Top"), outerHost, actortest.Button("Last")}
}

func TestFramesAreSplicedWhereTheyStand(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) { f.Body = frames(); f.Scroll.Y = 900 })
	r := read(t, tab, actor.ReadOptions{Geometry: true})
	var got []string
	for i, el := range r.Head.Snapshot.Elements.Slice() {
		parent := "-"
		if el.Parent != dom.NoRef {
			parent = fmt.Sprint(el.Parent)
		}
		got = append(got, fmt.Sprintf("%d %s %q parent %s depth %d %v %v", el.Ref, el.Text, el.Frame, parent, el.Depth, r.Layout.Boxes[i], el.InViewport))
	}
	want := `0 Top "" parent - depth 0 {0 -900 0 0} false
1 Outer "" parent - depth 0 {100 100 300 200} true
2 In "outer" parent 1 depth 1 {100 -350 0 0} false
3 Inner "outer" parent 1 depth 1 {105 150 100 100} true
4 Deep "inner" parent 3 depth 2 {106 152 10 10} true
5 Last "" parent - depth 0 {0 -900 0 0} false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if r.Layout.Viewport != (dom.Box{Width: 1280, Height: 800}) {
		t.Errorf("the viewport is %v", r.Layout.Viewport)
	}
}

func TestScrollingIsARevisionOnlyWhenAnElementComesIntoView(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) {
		for i, n := range f.Body {
			n.Box = dom.Box{Y: float64(1000 * i), Width: 50, Height: 20}
		}
	})
	first := read(t, tab, actor.ReadOptions{Geometry: true})
	b.Page(0).Update(func(f *actortest.Frame) { f.Scroll.Y = 10 })
	second := read(t, tab, actor.ReadOptions{Geometry: true})
	if second.Head != first.Head {
		t.Error("scrolling by 10 pixels made a head")
	}
	if second.Layout.Boxes[1].Y != 990 || first.Layout.Boxes[1].Y != 1000 {
		t.Errorf("boxes are %v, then %v", first.Layout.Boxes, second.Layout.Boxes)
	}
	b.Page(0).Update(func(f *actortest.Frame) { f.Scroll.Y = 1000 })
	third := read(t, tab, actor.ReadOptions{Geometry: true}).Head
	if third.Info.Revision != first.Head.Info.Revision+1 {
		t.Errorf("revision is %d after %d", third.Info.Revision, first.Head.Info.Revision)
	}
	was, is := first.Head.Snapshot.Elements.Slice(), third.Snapshot.Elements.Slice()
	if !was[0].InViewport || is[0].InViewport || was[1].InViewport || !is[1].InViewport || is[2] != was[2] {
		t.Error("the wrong elements came into view")
	}
}

func TestWatchFollowsThePage(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	release, err := tab.Watch(t.Context(), actor.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := tab.Head()
	if texts(h.Snapshot) != "0:Pay 1:Email 2:Help" {
		t.Errorf("the head is not current: %s", texts(h.Snapshot))
	}
	for i := range 50 {
		b.Page(0).Update(add(actortest.Button(fmt.Sprint("New ", i))))
		<-h.Next()
		h = until(t, tab, func(h *actor.Head) bool { return h.Snapshot.Elements.Len() == 4+i })
	}
	geometry, err := tab.Watch(t.Context(), actor.WatchOptions{Geometry: true})
	if err != nil {
		t.Fatal(err)
	}
	if push, boxes := b.Page(0).Observed(); !push || !boxes {
		t.Errorf("with two watches the page pushes %v, geometry %v", push, boxes)
	}
	b.Page(0).Update(func(f *actortest.Frame) { f.Body[0].Box = dom.Box{X: 5000, Width: 1, Height: 1} })
	until(t, tab, func(h *actor.Head) bool { return !h.Snapshot.Elements.Slice()[0].InViewport })
	geometry()
	geometry()
	read(t, tab, actor.ReadOptions{})
	release()
	for push := true; push; push, _ = b.Page(0).Observed() {
		read(t, tab, actor.ReadOptions{}) // the tab lowers the subscription between two calls
	}
}

func TestReadConvergesWhileThePagePushes(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	release, err := tab.Watch(t.Context(), actor.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for i := range 300 {
		b.Page(0).Update(add(actortest.Button(fmt.Sprint("New ", i))))
		if i%3 == 0 {
			if n := read(t, tab, actor.ReadOptions{}).Head.Snapshot.Elements.Len(); n != 4+i {
				t.Fatalf("a read after %d additions shows %d elements", i+1, n)
			}
		}
	}
}

// Documents that push alternately are each read when they do not push. The read does not wait for a moment without any push.
func TestDocumentsThatTakeTurnsPushingAreRead(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) { f.Body = frames() })
	release, err := tab.Watch(t.Context(), actor.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	turn := 0
	b.Page(0).BusyWith(func(main *actortest.Frame) {
		one := main.Body[0]
		if turn++; turn%2 == 0 {
			one = main.Body[1].Holds.Body[0]
		}
		one.Text = fmt.Sprint("Turn ", turn)
	})
	for range 20 {
		before := turn
		h := read(t, tab, actor.ReadOptions{}).Head
		if turn-before > 3 {
			t.Fatalf("the page was read %d times", turn-before)
		}
		if got := texts(h.Snapshot); !strings.Contains(got, fmt.Sprint("Turn ", before+1)) {
			t.Fatalf("the read has not what was there when it began, Turn %d: %s", before+1, got)
		}
	}
}

func TestAPatchThatMakesNoSenseBreaksItsDocumentOnly(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Update(func(f *actortest.Frame) { f.Body = frames() })
	read(t, tab, actor.ReadOptions{})
	read(t, tab, actor.ReadOptions{}) // sends the refs to the page
	page := b.Page(0)
	page.Emit(driver.Patched{Patch: dom.Patch{Frame: "inner", Document: "page-1-document-3", Sequence: 99}})
	h := until(t, tab, func(h *actor.Head) bool { return h.Snapshot.Elements.Len() == 5 })
	if got := texts(h.Snapshot); got != "0:Top 1:Outer 2:In 3:Inner 5:Last" {
		t.Errorf("elements are %s", got)
	}
	page.Refresh("inner")
	read(t, tab, actor.ReadOptions{})
	if got := texts(tab.Head().Snapshot); got != "0:Top 1:Outer 2:In 3:Inner 4:Deep 5:Last" {
		t.Errorf("after a full patch elements are %s", got)
	}
	page.Emit(driver.Patched{Patch: dom.Patch{Document: "page-1-document-1", Sequence: 99}})
	h = until(t, tab, func(h *actor.Head) bool { return h.Snapshot.Elements.Len() == 3 })
	if got := texts(h.Snapshot); got != "2:In 3:Inner 4:Deep" {
		t.Errorf("without their hosts the frames show %s", got)
	}
	_, err := tab.Read(t.Context(), actor.ReadOptions{})
	actortest.WantKind(t, err, apierr.Aborted)
	if _, err := tab.Reload(t.Context(), actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	if got := texts(read(t, tab, actor.ReadOptions{}).Head.Snapshot); got != "6:Pay 7:Email 8:Help" {
		t.Errorf("after a reload elements are %s", got)
	}
}

func TestLogIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  tabpool.Config
		kept int
	}{
		"by count": {tabpool.Config{LogCount: 5}, 5},
		"by bytes": {tabpool.Config{LogBytes: 4*revisions.OneChange + revisions.OneChange/2}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, tab := start(t, tt.cfg)
			for i := range 12 {
				b.Page(0).Update(func(f *actortest.Frame) { f.Body[1].Value = fmt.Sprint(i) })
				read(t, tab, actor.ReadOptions{})
			}
			h := tab.Head()
			for back := range uint64(10) {
				s := h.At(h.Info.Revision - back)
				if kept := s != nil; kept != (int(back) <= tt.kept) {
					t.Errorf("%d revisions back: kept is %v", back, kept)
				}
				if s != nil && s.Revision != h.Info.Revision-back {
					t.Errorf("%d revisions back is %d, not %d", back, s.Revision, h.Info.Revision-back)
				}
			}
		})
	}
}

func TestMarkupIsThatOfEveryFrame(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	page := b.Page(0)
	page.Update(func(f *actortest.Frame) {
		f.HTML = "<p>main</p>"
		host := actortest.El("iframe", "iframe", "")
		host.Kind, host.Holds = dom.FrameHost, &actortest.Frame{ID: "F1", URL: "https://ads.example/", HTML: "<p>ad</p>"}
		f.Body = append(f.Body, host)
	})
	got, err := query.Markup(t.Context(), tab, dom.NoRef)
	if err != nil || len(got) != 2 || got[0].Frame != "" || got[0].URL != home || got[0].HTML != "<p>main</p>" || got[1].Frame != "F1" || got[1].HTML != "<p>ad</p>" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLookReadsAndShoots(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	b.Page(0).Picture([]byte("drawn"))
	got, picture, err := capture.ReadAndScreenshot(t.Context(), tab, actor.ReadOptions{Geometry: true}, driver.ScreenshotOptions{Format: "png"})
	if err != nil || string(picture) != "drawn" || got.Head.Snapshot.Elements.Len() != 3 || got.Layout == nil {
		t.Errorf("got %d elements, layout %v, picture %q, %v", got.Head.Snapshot.Elements.Len(), got.Layout, picture, err)
	}
}

func TestLooksAndMarkupFailAsReadsDo(t *testing.T) {
	b, _, tab := start(t, tabpool.Config{})
	look := func() error {
		_, _, err := capture.ReadAndScreenshot(t.Context(), tab, actor.ReadOptions{}, driver.ScreenshotOptions{Format: "png"})
		return err
	}
	markup := func() error {
		_, err := query.Markup(t.Context(), tab, dom.NoRef)
		return err
	}
	page := b.Page(0)
	page.OpenDialog(driver.Dialog{Type: "alert"})
	until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog != nil })
	actortest.WantKind(t, look(), apierr.DialogOpen)
	actortest.WantKind(t, markup(), apierr.DialogOpen)
	if _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
		t.Fatal(err)
	}
	page.Crash("gone")
	until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusCrashed })
	actortest.WantKind(t, look(), apierr.Lost)
	actortest.WantKind(t, markup(), apierr.Lost)
}

// Callers that wait for their turn share it, so that calls on a slow page do not queue up.
func TestReadsThatWaitShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _, tab := start(t, tabpool.Config{Mailbox: 2})
		page := b.Page(0)
		page.Hang()
		var all sync.WaitGroup
		begin := func(ctx context.Context, o actor.ReadOptions, check func(actor.Reading, error)) {
			all.Go(func() { check(tab.Read(ctx, o)) })
			synctest.Wait()
		}
		fine := func(layout bool) func(actor.Reading, error) {
			return func(r actor.Reading, err error) {
				if err != nil || r.Head == nil || (r.Layout != nil) != layout {
					t.Errorf("a reading is %+v, %v", r, err)
				}
			}
		}
		begin(t.Context(), actor.ReadOptions{}, fine(false)) // is running
		before := page.Calls("Read")
		impatient, cancel := context.WithCancel(t.Context())
		begin(impatient, actor.ReadOptions{}, func(_ actor.Reading, err error) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who leads and leaves is told %v", err)
			}
		})
		for i := range 100 {
			begin(t.Context(), actor.ReadOptions{Geometry: i%2 == 0}, fine(i%2 == 0))
		}
		cancel()
		synctest.Wait()
		page.Resume()
		all.Wait()
		if asked := page.Calls("Read") - before; asked > 2 {
			t.Errorf("the page was asked %d times for 101 readers", asked)
		}
	})
}

// A stored answer serves callers that accept its age, unless a call acted on the tab since.
func TestMaxAgeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		page := b.Page(0)
		asks := func(why string, o actor.ReadOptions, want int) actor.Reading {
			t.Helper()
			before := page.Calls("Read")
			r := read(t, tab, o)
			if got := page.Calls("Read") - before; got != want {
				t.Errorf("%s: the page was asked %d times, not %d", why, got, want)
			}
			if o.Geometry && r.Layout == nil {
				t.Errorf("%s: there are no boxes", why)
			}
			return r
		}
		young := actor.ReadOptions{MaxAge: time.Second}
		boxes := actor.ReadOptions{MaxAge: time.Second, Geometry: true}
		asks("nothing was read yet", young, 1)
		asks("it was just read", young, 0)
		asks("without boxes", boxes, 1)
		first := asks("with boxes", boxes, 0)
		asks("fewer things", young, 0)
		asks("no age is given", actor.ReadOptions{}, 1)
		asks("other things", actor.ReadOptions{MaxAge: time.Second, Structural: true}, 1)
		time.Sleep(time.Second)
		asks("a second ago", young, 0)
		time.Sleep(time.Nanosecond)
		asks("more than that", young, 1)
		ref := first.Head.Snapshot.Elements.Slice()[0].Ref
		if _, err := turn.Run(t.Context(), tab, turn.Turn{Steps: []turn.Step{click(ref)}}); err != nil {
			t.Fatal(err)
		}
		asks("boxes from before an action", boxes, 1)
		if _, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil {
			t.Fatal(err)
		}
		if r := asks("another document", boxes, 1); r.Head.Snapshot.Document == first.Head.Snapshot.Document {
			t.Error("the document is the old one")
		}
		page.Crash("test")
		synctest.Wait()
		if _, err := tab.Read(t.Context(), young); err == nil {
			t.Error("a crashed page was read")
		}
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Fatal(err)
		}
		if _, err := tab.Read(t.Context(), young); err == nil {
			t.Error("a closed tab was read")
		}
	})
}
