package dom_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

func elements(n int) []*dom.Element {
	out := make([]*dom.Element, n)
	for i := range out {
		out[i] = &dom.Element{Ref: dom.Ref(i)}
	}
	return out
}

func TestLists(t *testing.T) {
	all := elements(7)
	l := dom.NewList([]*dom.Chunk{dom.NewChunk(all[:3]), dom.NewChunk(nil), dom.NewChunk(all[3:])})
	first, again := l.Slice(), l.Slice()
	if l.Len() != 7 || !slices.Equal(slices.Collect(l.All()), all) || !slices.Equal(first, all) || &first[0] != &again[0] {
		t.Errorf("the list holds %v", l.Slice())
	}
	for range l.All() {
		break
	}
	if one := dom.ListOf(all); &one.Slice()[0] != &all[0] || one.Len() != 7 || one == l {
		t.Error("a list of one slice is not that slice")
	}
	if empty := dom.ListOf(nil); empty != (dom.List{}) || empty != dom.NewList([]*dom.Chunk{dom.NewChunk(nil)}) || empty.Len() != 0 || empty.Slice() != nil {
		t.Error("an empty list is not the zero value")
	}
}

// Gaps contain all differences, and the elements between them are identical.
func TestGapsHoldAllThatDiffers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var chunks []*dom.Chunk
		for range random.IntN(40) {
			chunks = append(chunks, dom.NewChunk(elements(random.IntN(6))))
		}
		other := slices.Clone(chunks)
		for range random.IntN(5) {
			at := random.IntN(len(other) + 1)
			to := min(len(other), at+random.IntN(12))
			var fresh []*dom.Chunk
			for range random.IntN(9) {
				fresh = append(fresh, dom.NewChunk(elements(random.IntN(6))))
			}
			if at < to && random.IntN(2) == 0 { // a chunk with one changed element
				changed := slices.Clone(other[at].Elements())
				if len(changed) > 0 {
					changed[random.IntN(len(changed))] = &dom.Element{}
				}
				to, fresh = at+1, []*dom.Chunk{dom.NewChunk(changed)}
			}
			other = slices.Replace(other, at, to, fresh...)
		}
		old, now := dom.NewList(chunks), dom.NewList(other)
		gaps := dom.Gaps(old, now)
		var made []*dom.Element
		at := 0
		for _, g := range gaps {
			if g.OldAt < at || len(g.Old)+len(g.Now) == 0 {
				t.Fatalf("a gap at %d after %d, of %d and %d elements", g.OldAt, at, len(g.Old), len(g.Now))
			}
			made = append(made, old.Slice()[at:g.OldAt]...)
			if len(made) != g.NowAt || !slices.Equal(g.Old, old.Slice()[g.OldAt:g.OldAt+len(g.Old)]) {
				t.Fatalf("a gap says that it is at %d and %d", g.OldAt, g.NowAt)
			}
			made = append(made, g.Now...)
			at = g.OldAt + len(g.Old)
		}
		if made = append(made, old.Slice()[at:]...); !slices.Equal(made, now.Slice()) {
			t.Fatal("the gaps do not lead from one list to the other")
		}
	}
}
