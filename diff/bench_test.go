package diff

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

const big = 25_000

func bigPair(change func([]*dom.Element) []*dom.Element) (old, now []*dom.Element) {
	old = randomList(rand.New(rand.NewPCG(3, 4)), big)
	return old, change(slices.Clone(old))
}

var cases = []struct {
	name   string
	change func([]*dom.Element) []*dom.Element
}{
	{"equal", func(l []*dom.Element) []*dom.Element { return l }},
	{"one changed", func(l []*dom.Element) []*dom.Element {
		e := *l[big/2]
		e.Value = "typed"
		l[big/2] = &e
		return l
	}},
	{"one added in the middle", func(l []*dom.Element) []*dom.Element {
		return slices.Insert(l, big/2, el(big, "new", ""))
	}},
	{"first removed and one appended", func(l []*dom.Element) []*dom.Element {
		return append(l[1:], el(big, "new", ""))
	}},
	{"first moved to the end", func(l []*dom.Element) []*dom.Element {
		return append(l[1:], l[0])
	}},
	{"all copied", func(l []*dom.Element) []*dom.Element {
		for i, e := range l {
			c := *e
			l[i] = &c
		}
		return l
	}},
	{"shuffled", func(l []*dom.Element) []*dom.Element {
		rand.New(rand.NewPCG(5, 6)).Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		return l
	}},
}

func BenchmarkCompute(b *testing.B) {
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			old, now := bigPair(c.change)
			b.ReportAllocs()
			for b.Loop() {
				Compute(old, now)
			}
		})
	}
}
