package tabview

import (
	"math/rand/v2"
	"testing"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// TestWholeViewIsIndependentOfTheWayThere changes a page at random. It counts every state from scratch and from the previous state, and
// compares the results.
func TestWholeViewIsIndependentOfTheWayThere(t *testing.T) {
	_, tab, page := openTab(t, 200)
	random := rand.New(rand.NewPCG(1, 2))
	shared := New().Of(tab)
	if n := shared.Whole(&dom.Snapshot{}); n != 0 {
		t.Errorf("a page of which nothing is known costs %d", n)
	}
	for i := range 30 {
		page.Update(func(main *actortest.Frame) {
			for range random.IntN(5) {
				at := random.IntN(len(main.Body))
				switch random.IntN(3) {
				case 0:
					main.Body = append(main.Body[:at:at], main.Body[at+1:]...)
				case 1:
					main.Body = append(main.Body, actortest.Button("A new button"))
				default:
					main.Body[at].Text = "Another text"
				}
			}
		})
		if i == 20 {
			page.PushState(pageURL + "elsewhere")
		}
		s := read(t, tab).Snapshot
		got, want := shared.Whole(s), New().Of(tab).Whole(s)
		if got != want || got == 0 {
			t.Fatalf("step %d: the page costs %d, counted anew %d", i, got, want)
		}
		if again := shared.Whole(s); again != got {
			t.Errorf("asked again it costs %d", again)
		}
	}
}

func TestEachAnswerIsDeliveredOnce(t *testing.T) {
	_, tab, page := openTab(t, 3)
	shared := New().Of(tab)
	head := read(t, tab)
	v := mustAt(t, shared, head, Selection{})
	if shared.Seen(head.Snapshot) || v.MarkSent() || !shared.Seen(head.Snapshot) || !mustAt(t, shared, head, Selection{}).MarkSent() {
		t.Error("a snapshot or a view is new twice, or never")
	}
	page.Update(func(main *actortest.Frame) { main.Body[0].Text = "x" })
	head = read(t, tab)
	if shared.Seen(head.Snapshot) || mustAt(t, shared, head, Selection{}).MarkSent() {
		t.Error("what is new was seen before")
	}
}

// BenchmarkWhole counts a page of 5,000 elements for the first time, and again.
func BenchmarkWhole(b *testing.B) {
	list := func() *dom.Snapshot {
		elements := make([]*dom.Element, 5000)
		for i := range elements {
			elements[i] = &dom.Element{Ref: dom.Ref(i), Tag: "a", Role: "link", Text: "Women's shoes (128)", Href: "/category/women/shoes"}
		}
		return &dom.Snapshot{URL: pageURL, Elements: dom.ListOf(elements)}
	}
	s := list()
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			new(Tab).Whole(s)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		t := new(Tab)
		for b.Loop() {
			t.Whole(s)
		}
	})
	b.Run("view", func(b *testing.B) { // the view itself, for comparison
		for b.Loop() {
			if _, err := view.Of(s, view.Options{MaxElements: 300}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
