package view

import (
	"maps"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

var roles = []string{
	"button", "textbox", "checkbox", "combobox", "link", "tab", "menuitem", "navigation", "tablist", "form", "",
}

// read creates a snapshot and options from bytes: ten bytes of options, then two per element.
func read(data []byte) (*dom.Snapshot, Options) {
	head := make([]byte, 10)
	copy(head, data)
	data = data[min(len(data), 10):]
	o := Options{
		InteractiveOnly: head[0]&1 != 0,
		ViewportOnly:    head[0]&2 != 0,
		HasRoot:         head[0]&4 != 0,
		Root:            dom.Ref(head[1]),
		HasFrame:        head[0]&8 != 0,
		Frame:           []dom.FrameID{"", "F"}[head[0]>>4&1],
		MaxElements:     int(head[2]) - 8,
		MaxTokens:       int(head[3])<<2 - 8,
		Overhead:        int(head[4]),
		// Cost is a pure function of the element, so that it can be called again.
		Cost: func(e *dom.Element) int { return int(e.Level) },
	}
	var all []*dom.Element
	for ; len(data) >= 2; data = data[2:] {
		e := &dom.Element{
			Ref:        dom.Ref(len(all)),
			Kind:       dom.Kind(data[0] >> 6 % 3),
			Role:       roles[int(data[0]&31)%len(roles)],
			InViewport: data[0]&32 != 0,
			Level:      int(data[1] & 63),
			Parent:     dom.NoRef,
		}
		if up := dom.Ref(data[1] >> 6); up > 0 && up <= e.Ref {
			e.Parent = e.Ref - up
		}
		if e.Level%2 == 1 {
			e.Frame = "F"
		}
		all = append(all, e)
	}
	return &dom.Snapshot{Elements: dom.ListOf(all)}, o
}

func seeds(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x0b\x00\x00.....the quick brown fox jumps over the lazy dog and then some more"))
	f.Add([]byte("\x00\x00\x00\x20\x03.....the quick brown fox jumps over the lazy dog and then some more"))
	f.Add([]byte("\x04\x01\x0a\x40\x09.....the quick brown fox jumps over the lazy dog and then some more"))
}

func FuzzLimitsAreKept(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		v, err := Of(s, o)
		if err != nil {
			return
		}
		if o.MaxElements > 0 && v.Elements.Len() > o.MaxElements {
			t.Fatalf("%d elements, limit %d", v.Elements.Len(), o.MaxElements)
		}
		if o.MaxTokens > 0 {
			sum := o.Overhead
			for _, e := range v.Elements.Slice() {
				sum += o.Cost(e)
			}
			if sum != v.Tokens || sum > max(o.MaxTokens, o.Overhead) {
				t.Fatalf("costs %d, said %d, budget %d, overhead %d", sum, v.Tokens, o.MaxTokens, o.Overhead)
			}
		}
		omitted := 0
		for _, n := range v.OmittedByRole {
			omitted += n
		}
		if v.Elements.Len()+omitted != v.Total || (v.Reason == NotTruncated) != (omitted == 0) {
			t.Fatalf("%d of %d elements, %d omitted, reason %q", v.Elements.Len(), v.Total, omitted, v.Reason)
		}
	})
}

func FuzzViewIsASubsequence(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		before := slices.Clone(s.Elements.Slice())
		v, err := Of(s, o)
		if !slices.Equal(s.Elements.Slice(), before) {
			t.Fatal("the snapshot was written to")
		}
		if err != nil {
			return
		}
		rest := s.Elements.Slice()
		for _, e := range v.Elements.Slice() {
			i := slices.Index(rest, e)
			if i < 0 {
				t.Fatalf("element %d is made up, twice there or out of order", e.Ref)
			}
			rest = rest[i+1:]
			switch {
			case o.InteractiveOnly && e.Kind != dom.Interactive,
				o.ViewportOnly && !e.InViewport,
				o.HasFrame && e.Frame != o.Frame,
				o.HasRoot && !below(s, e, o.Root):
				t.Fatalf("element %d does not pass the filters", e.Ref)
			}
		}
	})
}

// below walks up from an element, in contrast to the view.
func below(s *dom.Snapshot, e *dom.Element, root dom.Ref) bool {
	for ; ; e = s.Elements.Slice()[e.Parent] {
		if e.Ref == root {
			return true
		}
		if e.Parent == dom.NoRef {
			return false
		}
	}
}

func FuzzNothingBetterIsOmitted(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		v, err := Of(s, o)
		if err != nil {
			return
		}
		o.MaxElements, o.MaxTokens = 0, 0
		whole, err := Of(s, o)
		if err != nil || whole.Elements.Len() != v.Total {
			t.Fatalf("without limits: %d elements, %v, want %d", whole.Elements.Len(), err, v.Total)
		}
		worst, last := maxScore+1, dom.Ref(0)
		for _, e := range v.Elements.Slice() {
			if score := Score(e); score <= worst {
				worst, last = score, e.Ref
			}
		}
		for _, e := range whole.Elements.Slice() {
			better := Score(e) > worst || Score(e) == worst && e.Ref < last
			if better && !slices.Contains(v.Elements.Slice(), e) {
				t.Fatalf("element %d is omitted and element %d is kept", e.Ref, last)
			}
		}
	})
}

func FuzzEqualKeysGiveEqualViews(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		other := o
		if !o.HasRoot {
			other.Root++
		}
		if !o.HasFrame {
			other.Frame += "x"
		}
		if o.MaxTokens <= 0 {
			other.Overhead++
		}
		if o.Key() != other.Key() {
			t.Fatalf("keys %q and %q differ by what does not apply", o.Key(), other.Key())
		}
		a, errA := Of(s, o)
		b, errB := Of(s, other)
		if (errA == nil) != (errB == nil) || !slices.Equal(a.Elements.Slice(), b.Elements.Slice()) || a.Total != b.Total ||
			a.Reason != b.Reason || a.Tokens != b.Tokens || !maps.Equal(a.OmittedByRole, b.OmittedByRole) {
			t.Fatalf("two views under the key %q differ", o.Key())
		}
	})
}
