package view

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domtap/domtap/dom"
)

// FuzzAfterIsOf follows a changing page in chunks, with views that are each computed from the previous one, and with the options of all
// fuzz targets. They must equal views that are computed from scratch.
func FuzzAfterIsOf(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, o := read(data)
		random := rand.New(rand.NewPCG(uint64(len(data)), 7))
		o.Attributes = []string{"id"}
		var chunks []*dom.Chunk
		for c := range slices.Chunk(s.Elements.Slice(), 1+random.IntN(6)) {
			chunks = append(chunks, dom.NewChunk(c))
		}
		var memo *Memo
		for range 8 {
			s = &dom.Snapshot{Elements: dom.NewList(chunks)}
			want, wrong := Of(s, o)
			got, next, err := after(memo, s, o)
			if (err == nil) != (wrong == nil) {
				t.Fatalf("it failed with %v, want %v", err, wrong)
			}
			if err != nil {
				return
			}
			memo = next
			unlimited := o
			unlimited.MaxElements, unlimited.MaxTokens = 0, 0
			if all, err := Of(s, unlimited); memo != nil && (err != nil || !slices.EqualFunc(memo.Selected().Slice(), all.Elements.Slice(), (*dom.Element).Same)) {
				t.Fatalf("%d elements are selected, want %d, %v", memo.Selected().Len(), all.Elements.Len(), err)
			}
			if !slices.EqualFunc(got.Elements.Slice(), want.Elements.Slice(), (*dom.Element).Same) || got.Total != want.Total ||
				got.Reason != want.Reason || got.Tokens != want.Tokens || !maps.Equal(got.OmittedByRole, want.OmittedByRole) ||
				(got.OmittedByRole == nil) != (want.OmittedByRole == nil) {
				t.Fatalf("got %+v, want %+v", got, want)
			}
			chunks = disturb(random, slices.Clone(chunks))
		}
	})
}

// disturb changes, removes, adds or reorders a few chunks.
func disturb(random *rand.Rand, chunks []*dom.Chunk) []*dom.Chunk {
	for range random.IntN(4) {
		if len(chunks) == 0 {
			break
		}
		i := random.IntN(len(chunks))
		switch random.IntN(4) {
		case 0:
			elements := slices.Clone(chunks[i].Elements())
			if len(elements) > 0 {
				k := random.IntN(len(elements))
				e := *elements[k]
				e.Role, e.InViewport = roles[random.IntN(len(roles))], !e.InViewport
				e.Attributes = map[string]string{"id": "x", "class": "y"}
				elements[k] = &e
			}
			chunks[i] = dom.NewChunk(elements)
		case 1:
			chunks = slices.Delete(chunks, i, min(len(chunks), i+random.IntN(12)))
		case 2:
			chunks = slices.Insert(chunks, i, dom.NewChunk([]*dom.Element{{Ref: dom.Ref(random.Uint32()), Role: "link", Parent: dom.NoRef}}))
		default:
			k := random.IntN(len(chunks))
			chunks[i], chunks[k] = chunks[k], chunks[i]
		}
	}
	return chunks
}

// Unchanged chunks are shared, so that the next comparison skips them.
func TestViewsShareWhatDidNotChange(t *testing.T) {
	var chunks []*dom.Chunk
	for i := range 50 {
		var elements []*dom.Element
		for k := range 20 {
			elements = append(elements, &dom.Element{Ref: dom.Ref(i*20 + k), Kind: dom.Kind(k % 2), Role: "button", Attributes: map[string]string{"id": "a"}})
		}
		chunks = append(chunks, dom.NewChunk(elements))
	}
	o := Options{InteractiveOnly: true}
	first, memo, err := after(nil, &dom.Snapshot{Elements: dom.NewList(chunks)}, o)
	if err != nil {
		t.Fatal(err)
	}
	elements := slices.Clone(chunks[9].Elements())
	e := *elements[4]
	e.Text, elements[4] = "another", &e
	chunks = slices.Clone(chunks)
	chunks[9] = dom.NewChunk(elements)
	second, _, err := after(memo, &dom.Snapshot{Elements: dom.NewList(chunks)}, o)
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for i, c := range second.Elements.Chunks() {
		if c == first.Elements.Chunks()[i] {
			shared++
		}
	}
	if shared != 49 || second.Elements.Len() != 500 {
		t.Errorf("%d of 50 chunks are shared, of %d elements", shared, second.Elements.Len())
	}
}

// after returns the view of a snapshot and the Memo for the next one.
func after(m *Memo, s *dom.Snapshot, o Options) (View, *Memo, error) {
	if !o.Incremental() {
		v, err := Of(s, o)
		return v, nil, err
	}
	next := Follow(m, s, o)
	v, err := next.View(o)
	return v, next, err
}
