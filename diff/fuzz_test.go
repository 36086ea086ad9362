package diff

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// listOf creates a list from bytes, two bytes per element: the first is its ref, the second its fields. Repeated refs are omitted.
func listOf(data []byte) []*dom.Element {
	var out []*dom.Element
	seen := map[dom.Ref]bool{}
	for ; len(data) >= 2; data = data[2:] {
		ref, variant := dom.Ref(data[0]%48), data[1]
		if data[0] >= 250 {
			ref = 1 << 30 * dom.Ref(data[0]-249) // far from the others
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		e := &dom.Element{Ref: ref, Parent: dom.NoRef, Tag: "a", Text: string('a' + rune(variant%3))}
		e.States.Checked = dom.Tri(variant >> 2 & 3)
		e.InViewport = variant&16 != 0
		e.Depth = int(variant >> 5 & 1)
		if variant&64 != 0 {
			e.Attributes = map[string]string{"id": "x"}
		}
		out = append(out, e)
	}
	return out
}

// split divides data into n lists.
func split(data []byte, n int) [][]*dom.Element {
	var out [][]*dom.Element
	for i := range n {
		out = append(out, listOf(data[i*len(data)/n:(i+1)*len(data)/n]))
	}
	return out
}

func seeds(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 2, 0, 3, 0, 1, 0, 3, 0, 2, 0, 3, 0, 1, 0, 2, 0})
	f.Add([]byte{1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 5, 0, 4, 4, 3, 8, 2, 1, 1, 0, 1, 1, 2, 2, 5, 5, 250, 0, 251, 9})
	f.Add([]byte("the quick brown fox jumps over the lazy dog and runs on until nobody sees it any more"))
}

func FuzzApplyComputeIsNew(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		lists := split(data, 2)
		old, now := lists[0], lists[1]
		d := Compute(old, now)
		got := apply(t, old, d)
		if !same(got, now) {
			t.Fatalf("%s gave %s, want %s", describe(d), words(got), words(now))
		}
		if again := Compute(got, now); !again.Empty() {
			t.Fatalf("after the diff there is still %s", describe(again))
		}
	})
}

func FuzzMovesAreTheFewest(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		lists := split(data, 2)
		old, now := lists[0], lists[1]
		place := map[dom.Ref]int{}
		for i, e := range old {
			place[e.Ref] = i
		}
		// longest[j] is the length of the longest chain of survivors in order that ends at j.
		survivors, longest, most := 0, make([]int, len(now)), 0
		for j, e := range now {
			i, ok := place[e.Ref]
			if !ok || old[i].Key() != e.Key() {
				continue
			}
			survivors++
			longest[j] = 1
			for k, before := range now[:j] {
				if longest[k] >= longest[j] && place[before.Ref] < i {
					longest[j] = longest[k] + 1
				}
			}
			most = max(most, longest[j])
		}
		if d := Compute(old, now); len(d.Moved) != survivors-most {
			t.Fatalf("%d moves in %s, want %d", len(d.Moved), describe(d), survivors-most)
		}
	})
}

func FuzzDuplicatesAreCounted(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		lists := split(data, 2)
		old, now := lists[0], lists[1]
		count := map[dom.Key]int{}
		for _, e := range old {
			count[e.Key()]++
		}
		d := Compute(old, now)
		for _, r := range d.Removed {
			count[r.Element.Key()]--
		}
		for _, a := range d.Added {
			count[a.Element.Key()]++
		}
		for _, e := range now {
			count[e.Key()]--
		}
		for key, n := range count {
			if n != 0 {
				t.Fatalf("%v is off by %d in %s", key, n, describe(d))
			}
		}
	})
}
