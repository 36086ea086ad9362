package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/dom"
)

// In a long-lived page whose elements come and go, the sequence equals the sequence of a plain list, also after a rebuild, and unchanged
// parts are shared with the previous sequence.
func TestTheSequenceFollowsLooseNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m := model.New()
	run(t, m, fullPatch(2000))
	var plain []dom.Ref
	for _, e := range m.Elements().Slice() {
		plain = append(plain, e.Ref)
	}
	shared, chunks := 0, 0
	for i := range 800 {
		before := m.Elements()
		p := dom.Patch{Document: "d", Sequence: uint64(i + 2)}
		next := plain
		// Elements without children: all except the first of each ten of the full patch.
		for range random.IntN(4) {
			k := random.IntN(len(next))
			if next[k]%10 != 0 || next[k] >= 2000 {
				p.Ops = append(p.Ops, dom.Op{Kind: dom.OpRemove, Ref: next[k]})
				next = slices.Delete(slices.Clone(next), k, k+1)
			}
		}
		k := random.IntN(len(next))
		place, parent := dom.Place{Ref: next[k], New: -1}, none
		if next[k]%10 == 0 && next[k] < 2000 {
			parent = place
		}
		fresh := random.IntN(5)
		if random.IntN(200) == 0 {
			fresh = 1500
		}
		var added []dom.Ref
		for n := range fresh {
			p.Ops = append(p.Ops, dom.Op{Kind: dom.OpAdd, After: place, Parent: parent, Element: dom.Element{Text: fmt.Sprint(i)}})
			place = dom.Place{New: n}
			added = append(added, m.Next()+dom.Ref(n))
		}
		plain = slices.Insert(slices.Clone(next), k+1, added...)
		run(t, m, p)
		now := m.Elements()
		var got []dom.Ref
		for e := range now.All() {
			got = append(got, e.Ref)
		}
		if !slices.Equal(got, plain) {
			t.Fatalf("after %d changes the sequence is %v, want %v", i+1, got, plain)
		}
		if i%50 == 0 {
			sound(t, m)
		}
		for _, c := range now.Chunks() {
			if chunks++; slices.Contains(before.Chunks(), c) {
				shared++
			}
		}
		if n := len(now.Chunks()); n > 10+3*len(plain)/64 {
			t.Fatalf("%d elements are in %d chunks", len(plain), n)
		}
	}
	if 2*shared < chunks { // up to four places change together, on a page of about ten chunks
		t.Errorf("of %d chunks %d were shared with the sequence before", chunks, shared)
	}
}
