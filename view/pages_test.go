package view

import (
	"maps"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

// walk reads the pages of a selection as a client with a cursor does. It checks the invariants of every page, and lets the page change in
// between.
type walk struct {
	t     *testing.T
	o     Options
	given map[dom.Ref]bool
	// order holds the returned elements, page by page, each page best first.
	order []*dom.Element
}

func newWalk(t *testing.T, o Options) *walk {
	w := &walk{t: t, given: map[dom.Ref]bool{}}
	o.Given = func(r dom.Ref) bool { return w.given[r] }
	w.o = o
	return w
}

// page returns the next page of a snapshot.
func (w *walk) page(s *dom.Snapshot) View {
	w.t.Helper()
	whole := w.o
	whole.MaxElements, whole.MaxTokens, whole.Given = 0, 0, nil
	all, err := Of(s, whole)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := Of(s, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	before, omitted := 0, map[string]int{}
	for _, e := range all.Elements.Slice() {
		if w.given[e.Ref] {
			before++
		} else if !slices.Contains(v.Elements.Slice(), e) {
			omitted[shownRole(e.Role)]++
		}
	}
	if v.Total != all.Elements.Len() || !maps.Equal(v.OmittedByRole, omitted) || (v.Reason == NotTruncated) != (len(omitted) == 0) {
		w.t.Fatalf("total %d of %d, omitted %v, want %v, reason %q", v.Total, all.Elements.Len(), v.OmittedByRole, omitted, v.Reason)
	}
	if w.o.MaxElements > 0 && v.Elements.Len() > w.o.MaxElements {
		w.t.Fatalf("%d elements, limit %d", v.Elements.Len(), w.o.MaxElements)
	}
	if w.o.MaxTokens > 0 && v.Tokens > max(w.o.MaxTokens, w.o.Overhead) {
		w.t.Fatalf("%d tokens, limit %d", v.Tokens, w.o.MaxTokens)
	}
	rest := all.Elements.Slice()
	for _, e := range v.Elements.Slice() {
		i := slices.Index(rest, e)
		if i < 0 || w.given[e.Ref] {
			w.t.Fatalf("element %d comes twice, out of order, or from nowhere", e.Ref)
		}
		rest = rest[i+1:]
	}
	w.give(v.Elements.Slice())
	return v
}

func shownRole(role string) string {
	if role == "" {
		return "generic"
	}
	return role
}

func (w *walk) give(elements []*dom.Element) {
	best := slices.Clone(elements)
	slices.SortStableFunc(best, func(a, b *dom.Element) int { return Score(b) - Score(a) })
	w.order = append(w.order, best...)
	for _, e := range elements {
		w.given[e.Ref] = true
	}
}

func TestGivenElementsCountAndStayAway(t *testing.T) {
	v, err := Of(page(), Options{
		InteractiveOnly: true, MaxElements: 3,
		Given: func(r dom.Ref) bool { return r == 4 || r == 7 || r == 10 || r == 99 },
	})
	if err != nil || refs(v.Elements.Slice()) != "2 5 6" || v.Total != 8 || v.Reason != ElementLimit ||
		!maps.Equal(v.OmittedByRole, map[string]int{"link": 2}) {
		t.Errorf("got %s, %+v, %v", refs(v.Elements.Slice()), v, err)
	}
	v, err = Of(page(), Options{HasRoot: true, Root: 3, Given: func(r dom.Ref) bool { return r == 3 || r == 6 }})
	if err != nil || refs(v.Elements.Slice()) != "4 5 7" || v.Total != 5 || v.Reason != NotTruncated || v.OmittedByRole != nil {
		t.Errorf("a root that was given: got %s, %+v, %v", refs(v.Elements.Slice()), v, err)
	}
}

func FuzzPagesShowEverythingOnceByRank(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		whole := o
		whole.MaxElements, whole.MaxTokens = 0, 0
		all, err := Of(s, whole)
		if err != nil {
			return
		}
		w := newWalk(t, o)
		v := w.page(s)
		for v.Reason != NotTruncated && v.Elements.Len() > 0 {
			v = w.page(s)
		}
		ranked := slices.Clone(all.Elements.Slice())
		slices.SortStableFunc(ranked, func(a, b *dom.Element) int { return Score(b) - Score(a) })
		if v.Reason == NotTruncated && !slices.Equal(w.order, ranked) {
			t.Fatalf("the pages hold %s, want %s", refs(w.order), refs(ranked))
		}
		if v.Reason == NotTruncated {
			return
		}
		if !slices.Equal(w.order, ranked[:len(w.order)]) {
			t.Fatalf("the pages hold %s, want the best of %s", refs(w.order), refs(ranked))
		}
		if cost := o.Cost(ranked[len(w.order)]); o.MaxTokens <= 0 || o.Overhead+cost <= o.MaxTokens {
			t.Fatalf("the walk stopped before an element that costs %d", cost)
		}
	})
}

// change creates the next state of a page from one byte: an element is removed, added, or replaced.
func change(s *dom.Snapshot, b byte, fresh dom.Ref) *dom.Snapshot {
	now := slices.Clone(s.Elements.Slice())
	i := 0
	if n := len(now); n > 0 {
		i = int(b>>2) % n
	}
	switch {
	case b&3 == 0 || len(now) == 0:
		e := &dom.Element{Ref: fresh, Role: roles[int(b>>2)%len(roles)], Parent: dom.NoRef, InViewport: b&128 != 0, Level: int(b >> 2)}
		now = slices.Insert(now, i, e)
	case b&3 == 1:
		now = slices.Delete(now, i, i+1)
	default:
		e := *now[i]
		e.Role, e.InViewport = roles[int(b)%len(roles)], !e.InViewport
		now[i] = &e
	}
	return &dom.Snapshot{Elements: dom.ListOf(now)}
}

func FuzzPagesOfAChangingPageLoseAndRepeatNothing(f *testing.F) {
	f.Add([]byte("\x00\x01"), []byte("a change here, a change there"))
	f.Add([]byte("\x01\x00\x0b\x00\x00.....the quick brown fox jumps over the lazy dog"), []byte("nothing stays"))
	f.Add([]byte("\x02\x00\x09\x40\x03.....the quick brown fox jumps over the lazy dog"), []byte{0, 1, 2, 4, 5, 6, 200, 201, 202, 77})
	f.Fuzz(func(t *testing.T, data, changes []byte) {
		s, o := read(data)
		o.HasRoot = false // removing the root ends the walk
		whole := o
		whole.MaxElements, whole.MaxTokens = 0, 0
		always := selectedRefs(t, s, whole)
		w := newWalk(t, o)
		v := w.page(s)
		for k := 0; len(changes) > 0 || v.Reason != NotTruncated && v.Elements.Len() > 0; k++ {
			if len(changes) > 0 {
				s = change(s, changes[0], dom.Ref(1000+k))
				changes = changes[1:]
				now := selectedRefs(t, s, whole)
				maps.DeleteFunc(always, func(r dom.Ref, _ bool) bool { return !now[r] })
			}
			v = w.page(s)
		}
		if v.Reason != NotTruncated {
			return // the budget is not sufficient for the next element
		}
		for r := range always {
			if !w.given[r] {
				t.Fatalf("element %d was there all the time and was never shown", r)
			}
		}
	})
}

func selectedRefs(t *testing.T, s *dom.Snapshot, whole Options) map[dom.Ref]bool {
	v, err := Of(s, whole)
	if err != nil {
		t.Fatal(err)
	}
	out := map[dom.Ref]bool{}
	for _, e := range v.Elements.Slice() {
		out[e.Ref] = true
	}
	return out
}
