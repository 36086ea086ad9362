package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/tabview"
)

// BenchmarkTick measures the Go cost of one change of a page: from the patch that the page pushes, through the tab, the view, the diff and
// the message, to the bytes that all readers of the view receive. It varies the number of stored elements, the number of changed elements,
// and whether they are changed in place or replaced. The cost should depend on the change rather than the page. No browser is involved.
func BenchmarkTick(b *testing.B) {
	requests := map[string]*domtapv1.WatchDomRequest{
		"all": {MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)}, "default": {},
	}
	for _, what := range []string{"all", "default"} {
		for _, shape := range []string{"change", "replace"} {
			for _, k := range []int{1, 10, 100} {
				for _, n := range []int{1000, 10_000, 50_000} {
					b.Run(fmt.Sprintf("view=%s/%s=%d/elements=%d", what, shape, k, n), func(b *testing.B) {
						t := newTicking(b, n, requests[what])
						b.ReportAllocs()
						for b.Loop() {
							t.tick(b, shape == "replace", k)
						}
					})
				}
			}
		}
	}
}

// pushed is a page that returns prepared answers and ignores its input.
type pushed struct{ *actortest.Page }

func (pushed) Acknowledge(driver.Ack) {}

// pushedBrowser creates such pages.
type pushedBrowser struct{ *actortest.Browser }

func (p pushedBrowser) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	page, err := p.Browser.NewPage(ctx, o)
	if err != nil {
		return nil, err
	}
	return pushed{page.(*actortest.Page)}, nil
}

// ticking is a tab whose page pushes prepared patches, and a view of it.
type ticking struct {
	page      *actortest.Page
	tab       *actor.Tab
	views     *tabview.Tab
	selection tabview.Selection
	shown     *tabview.View
	n, ticks  int
	// next is the next ref. refs holds the refs of the elements, in order.
	next dom.Ref
	refs []dom.Ref
}

func newTicking(b *testing.B, n int, r *domtapv1.WatchDomRequest) *ticking {
	b.Helper()
	browser := actortest.NewBrowser()
	pool := tabpool.New(pushedBrowser{browser}, tabpool.Config{})
	b.Cleanup(func() {
		if err := pool.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	tab, err := pool.Open(b.Context(), tabpool.OpenOptions{})
	if err != nil {
		b.Fatal(err)
	}
	t := &ticking{page: browser.Page(0), tab: tab, views: tabview.New().Of(tab), selection: tabview.SelectionOf(r), n: n}
	p := dom.Patch{Document: "pushed", Sequence: 1, Full: true, URL: "https://shop.example/", PageTime: time.Now()}
	for i := range n {
		p.Ops = append(p.Ops, dom.Op{
			Kind: dom.OpAdd, After: dom.Place{Ref: dom.NoRef, New: i - 1}, Parent: dom.Place{Ref: dom.NoRef, New: -1},
			Element: dom.Element{Tag: "button", Role: "button", Text: fmt.Sprint("Button ", i)},
		})
		t.refs = append(t.refs, dom.Ref(i))
	}
	t.next = dom.Ref(n)
	t.push(b, p)
	t.show(b)
	return t
}

// push sends a patch and returns when the tab has published the resulting state.
func (t *ticking) push(b *testing.B, p dom.Patch) {
	before := t.tab.Head()
	t.page.Emit(driver.Patched{Patch: p})
	for head := before; head.Snapshot == before.Snapshot || head.Snapshot.Elements.Len() < t.n; head = t.tab.Head() {
		<-head.Next()
		if head.Info.Status == actor.StatusClosed {
			b.Fatal("the tab is closed")
		}
	}
}

// show updates the view and returns the size of the message to readers.
func (t *ticking) show(b *testing.B) int {
	head := t.tab.Head()
	now, err := t.views.At(head, head.Snapshot, t.selection)
	if err != nil {
		b.Fatal(err)
	}
	changes := 0
	if t.shown != nil {
		c := now.Since(t.shown)
		changes = len(c.Diff.Added) + len(c.Diff.Changed)
		if _, err := c.Encoded(tabview.Sending{Last: t.shown.Snapshot.Revision}, func() *domtapv1.WatchDomResponse {
			return &domtapv1.WatchDomResponse{Revision: now.Snapshot.Revision, Event: &domtapv1.WatchDomResponse_Diff{
				Diff: c.Message(t.shown.Snapshot.Revision, now.Snapshot.Revision)}}
		}); err != nil {
			b.Fatal(err)
		}
	}
	t.shown = now
	return changes
}

// tick changes k adjacent elements, at a different position each time. A view with limits includes them in the first tick and in some later
// ones.
func (t *ticking) tick(b *testing.B, replace bool, k int) {
	at := (t.ticks * 131) % (t.n - k)
	t.ticks++
	p := dom.Patch{Document: "pushed", Sequence: uint64(t.ticks + 1), PageTime: time.Now()}
	text := fmt.Sprint("Item ", t.ticks)
	if replace {
		for i := range k {
			p.Ops = append(p.Ops, dom.Op{Kind: dom.OpRemove, Ref: t.refs[at+i]})
		}
		after := dom.Place{Ref: dom.NoRef, New: -1}
		if at > 0 {
			after.Ref = t.refs[at-1]
		}
		for i := range k {
			p.Ops = append(p.Ops, dom.Op{
				Kind: dom.OpAdd, After: after, Parent: dom.Place{Ref: dom.NoRef, New: -1},
				Element: dom.Element{Tag: "button", Role: "button", Text: text},
			})
			after = dom.Place{New: i}
			t.refs[at+i] = t.next
			t.next++
		}
	} else {
		for i := range k {
			p.Ops = append(p.Ops, dom.Op{Kind: dom.OpChange, Ref: t.refs[at+i], Mask: dom.FieldText, Element: dom.Element{Text: text}})
		}
	}
	t.push(b, p)
	if n := t.show(b); n != k && t.selection.Budget() == 0 {
		b.Fatalf("%d elements changed, not %d", n, k)
	}
}
