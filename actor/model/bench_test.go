package model_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/dom"
)

// fullPatch returns a full patch of n elements in groups of ten. The first element of each group contains the others.
func fullPatch(n int) dom.Patch {
	p := dom.Patch{Document: "d", Sequence: 1, Full: true, Measured: true, Scroll: dom.Box{Width: 1280, Height: 800}}
	for i := range n {
		after := dom.Place{Ref: dom.NoRef, New: i - 1}
		parent := dom.Place{Ref: dom.NoRef, New: -1}
		if i%10 != 0 {
			parent.New = i - i%10
		}
		p.Ops = append(p.Ops, dom.Op{Kind: dom.OpAdd, After: after, Parent: parent, Element: dom.Element{Tag: "button", Role: "button", Text: fmt.Sprint("Button ", i)}})
		p.Boxes = append(p.Boxes, dom.PlacedBox{Place: dom.Place{New: i}, Box: dom.Box{X: 10, Y: float64(i) * 20, Width: 100, Height: 20}})
	}
	return p
}

// BenchmarkApply measures the cost of one patch up to the published sequence, on a page of 25,000 elements.
func BenchmarkApply(b *testing.B) {
	const size = 25_000
	for _, k := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("change/%d", k), func(b *testing.B) {
			m := loaded(b, size)
			for i := 0; b.Loop(); i++ {
				p := dom.Patch{Document: "d", Sequence: uint64(i + 2)}
				for j := range k {
					p.Ops = append(p.Ops, dom.Op{Kind: dom.OpChange, Ref: dom.Ref(j * 200), Mask: dom.FieldText, Element: dom.Element{Text: fmt.Sprint(i)}})
				}
				run(b, m, p)
			}
		})
		b.Run(fmt.Sprintf("replace/%d", k), func(b *testing.B) {
			m := loaded(b, size)
			last := make([]dom.Ref, k)
			for j := range last {
				last[j] = dom.Ref(j*200 + 1)
			}
			for i := 0; b.Loop(); i++ {
				p := dom.Patch{Document: "d", Sequence: uint64(i + 2)}
				for j := range k {
					p.Ops = append(p.Ops, dom.Op{Kind: dom.OpRemove, Ref: last[j]})
				}
				for j := range k {
					at := dom.Place{Ref: dom.Ref(j * 200), New: -1}
					p.Ops = append(p.Ops, dom.Op{Kind: dom.OpAdd, After: at, Parent: at, Element: dom.Element{Text: fmt.Sprint(i)}})
				}
				last = run(b, m, p)[0].Refs
			}
		})
		b.Run(fmt.Sprintf("measure/%d", k), func(b *testing.B) {
			m := loaded(b, size)
			for i := 0; b.Loop(); i++ {
				p := dom.Patch{Document: "d", Sequence: uint64(i + 2), Measured: true, Scroll: dom.Box{Y: float64(i%100) * 20, Width: 1280, Height: 800}}
				for j := range k {
					p.Boxes = append(p.Boxes, dom.PlacedBox{Place: dom.Place{Ref: dom.Ref(j * 200), New: -1}, Box: dom.Box{Y: float64(i)}})
				}
				run(b, m, p)
			}
		})
	}
	b.Run("full", func(b *testing.B) {
		p := fullPatch(size)
		for b.Loop() {
			run(b, model.New(), p)
		}
	})
}

// BenchmarkHeld measures the memory of a model: elements, nodes, and the sequence.
func BenchmarkHeld(b *testing.B) {
	for _, size := range []int{75, 25_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			models := make([]*model.Model, max(1, 10_000/size))
			var before, after runtime.MemStats
			for b.Loop() {
				clear(models)
				runtime.GC()
				runtime.ReadMemStats(&before)
				for i := range models {
					models[i] = loaded(b, size)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(models)*size), "B/element")
			runtime.KeepAlive(models)
		})
	}
}

func loaded(tb testing.TB, size int) *model.Model {
	m := model.New()
	run(tb, m, fullPatch(size))
	return m
}

func run(tb testing.TB, m *model.Model, p dom.Patch) []model.Ack {
	if err := m.Apply(p); err != nil {
		tb.Fatal(err)
	}
	m.Elements()
	acks := m.Pending()
	m.Delivered(acks)
	return acks
}
