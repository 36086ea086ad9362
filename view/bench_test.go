package view

import (
	"math/rand/v2"
	"testing"

	"github.com/domtap/domtap/dom"
)

func bigPage(n int) *dom.Snapshot {
	random := rand.New(rand.NewPCG(1, 2))
	var all []*dom.Element
	for i := range n {
		all = append(all, &dom.Element{
			Ref:        dom.Ref(i),
			Role:       roles[random.IntN(len(roles))],
			Kind:       dom.Kind(random.IntN(2)),
			InViewport: i < 100,
			Parent:     dom.Ref(i / 10 * 10),
		})
	}
	all[0].Parent = dom.NoRef
	return &dom.Snapshot{Elements: dom.ListOf(all)}
}

func BenchmarkOf(b *testing.B) {
	cases := []struct {
		name string
		o    Options
	}{
		{"unlimited", Options{}},
		{"interactive", Options{InteractiveOnly: true}},
		{"300 elements", Options{InteractiveOnly: true, MaxElements: 300}},
		{"8000 tokens", Options{InteractiveOnly: true, MaxElements: 300, MaxTokens: 8000, Cost: ten}},
		{"subtree", Options{HasRoot: true, Root: 2000}},
	}
	s := bigPage(5000)
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Of(s, c.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
