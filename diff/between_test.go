package diff

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

// chunked divides a list at random places, and reuses chunks of an older one where possible.
func chunked(random *rand.Rand, elements []*dom.Element, older dom.List) dom.List {
	var chunks []*dom.Chunk
	for len(elements) > 0 {
		k := slices.IndexFunc(older.Chunks(), func(c *dom.Chunk) bool {
			return len(c.Elements()) <= len(elements) && slices.Equal(c.Elements(), elements[:len(c.Elements())])
		})
		var c *dom.Chunk
		if k >= 0 {
			c = older.Chunks()[k]
		} else {
			c = dom.NewChunk(elements[:1+random.IntN(min(5, len(elements)))])
		}
		chunks = append(chunks, c)
		elements = elements[len(c.Elements()):]
	}
	return dom.NewList(chunks)
}

// Between returns the same as Compute, whatever the lists share.
func TestBetweenIsCompute(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var elements []*dom.Element
		for i := range random.IntN(60) {
			elements = append(elements, el(dom.Ref(i), "t", ""))
		}
		old := chunked(random, elements, dom.List{})
		now := slices.Clone(elements)
		for range random.IntN(6) {
			i := random.IntN(len(now) + 1)
			switch kind := random.IntN(5); {
			case kind == 0 || len(now) == 0:
				now = slices.Insert(now, i, el(dom.Ref(100+random.IntN(1000)*64+len(now)), "new", ""))
			case i == len(now):
			case kind == 1:
				now = slices.Delete(now, i, i+1)
			case kind == 2:
				now[i] = el(now[i].Ref, now[i].Text, "v")
			case kind == 3:
				now[i] = el(now[i].Ref, "other", "")
			default:
				e := now[i]
				now = slices.Delete(now, i, i+1)
				now = slices.Insert(now, random.IntN(len(now)+1), e)
			}
		}
		newer := chunked(random, now, old)
		got, want := Between(old, newer), Compute(elements, now)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("from %s to %s: %s, want %s", words(elements), words(now), describe(got), describe(want))
		}
		if made := apply(t, elements, got); !same(made, now) {
			t.Fatalf("apply = %s, want %s", words(made), words(now))
		}
		for _, c := range got.Changed {
			if now[c.To] != c.New || elements[c.Index] != c.Old {
				t.Fatalf("a change from %d to %d is of element %d", c.Index, c.To, c.New.Ref)
			}
		}
	}
}
