package revisions

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/domtap/domtap/dom"
)

// elementsOf returns a list of the elements that the bytes select.
func elementsOf(pool []*dom.Element, names []byte) []*dom.Element {
	out := make([]*dom.Element, 0, len(names))
	seen := map[byte]bool{}
	for _, n := range names {
		if !seen[n] { // a list contains an element only once
			seen[n] = true
			out = append(out, pool[n])
		}
	}
	return out
}

// FuzzStepsLeadBack checks that a step leads exactly from any list to any other.
func FuzzStepsLeadBack(f *testing.F) {
	f.Add([]byte("abc"), []byte("axc"))
	f.Add([]byte(""), []byte("abc"))
	f.Add([]byte("abcdef"), []byte("fedcba"))
	pool := make([]*dom.Element, 256)
	for i := range pool {
		pool[i] = &dom.Element{Ref: dom.Ref(i)}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		now, old := elementsOf(pool, a), elementsOf(pool, b)
		s := stepBack(&dom.Snapshot{Elements: dom.ListOf(now)}, &dom.Snapshot{Elements: dom.ListOf(old)})
		kept := slices.Clone(now)
		if got := s.back(now); !slices.Equal(got, old) {
			t.Errorf("from %q back to %q is %v", a, b, got)
		}
		if !slices.Equal(now, kept) {
			t.Error("the newer list was changed")
		}
	})
}

// TestStepsCostWhatChanged changes large lists as pages do.
func TestStepsCostWhatChanged(t *testing.T) {
	const n = 20_000
	old := make([]*dom.Element, n)
	for i := range old {
		old[i] = &dom.Element{Ref: dom.Ref(i)}
	}
	fresh := func(k int) []*dom.Element {
		out := make([]*dom.Element, k)
		for i := range out {
			out[i] = new(dom.Element)
		}
		return out
	}
	for name, c := range map[string]struct {
		change func([]*dom.Element) []*dom.Element
		most   int // the number of elements that the step holds
	}{
		"nothing":        {func(l []*dom.Element) []*dom.Element { return l }, 0},
		"one replaced":   {func(l []*dom.Element) []*dom.Element { l[n/2] = fresh(1)[0]; return l }, 1},
		"1000 inserted":  {func(l []*dom.Element) []*dom.Element { return slices.Insert(l, n/2, fresh(1000)...) }, 0},
		"1000 taken out": {func(l []*dom.Element) []*dom.Element { return slices.Delete(l, 7, 1007) }, 1000},
		"inserted twice": {func(l []*dom.Element) []*dom.Element {
			return slices.Insert(slices.Insert(l, 9000, fresh(500)...), 3, fresh(500)...)
		}, 0},
		"100 here and there": {func(l []*dom.Element) []*dom.Element {
			for range 100 {
				l[rand.IntN(n)] = fresh(1)[0]
			}
			return l
		}, 100},
	} {
		now := c.change(slices.Clone(old))
		s := stepBack(&dom.Snapshot{Elements: dom.ListOf(now)}, &dom.Snapshot{Elements: dom.ListOf(old)})
		held := 0
		for _, one := range s.splices {
			held += len(one.old)
		}
		if held > c.most {
			t.Errorf("%s: the step holds %d elements, want at most %d", name, held, c.most)
		}
		if !slices.Equal(s.back(now), old) {
			t.Errorf("%s: the step does not lead back", name)
		}
	}
}

// TestDroppedStepsAreGarbage extends a log of bounded length many times. Its array must retain few of the steps that it drops.
func TestDroppedStepsAreGarbage(t *testing.T) {
	const kept, made = 80, 400
	var log Log
	var all []weak.Pointer[step]
	alive := func() (n int) {
		runtime.GC()
		for _, one := range all {
			if one.Value() != nil {
				n++
			}
		}
		return n
	}
	snapshot, most := &dom.Snapshot{}, 0
	for i := range made {
		next := *snapshot
		next.Revision++
		log = log.With(&next, snapshot, Limits{Count: kept, Bytes: 1 << 20})
		snapshot = &next
		all = append(all, weak.Make(log.steps[len(log.steps)-1]))
		if i > made/2 && i%5 == 0 {
			most = max(most, alive())
		}
	}
	if len(log.steps) != kept || most < kept || most > kept+kept/8+2 {
		t.Errorf("a log of %d steps keeps up to %d alive, want %d to %d", len(log.steps), most, kept, kept+kept/8+2)
	}
}
