package view

import (
	"cmp"
	"slices"

	"github.com/domtap/domtap/dom"
)

// Memo caches the selection from each chunk of a snapshot, so that the view of a later snapshot with the same options examines only new
// chunks. It is immutable; nil caches nothing.
type Memo struct {
	options string
	list    dom.List
	chunks  []*dom.Chunk
	parts   []*part
}

// Incremental reports whether Follow accepts these options. Follow accepts neither a root nor the continuation of an answer, because the
// selection then depends on other elements or on the caller.
func (o Options) Incremental() bool { return !o.HasRoot && o.Given == nil }

// Follow returns the Memo of a snapshot, which holds what the options select before any limit. It reuses the selections of the Memo m,
// which may belong to any snapshot. The options must be Incremental.
func Follow(m *Memo, s *dom.Snapshot, o Options) *Memo { return m.next(s.Elements, o) }

// View applies the limits of the options. The options must have the filters and attributes of the Memo.
func (m *Memo) View(o Options) (View, error) {
	if o.MaxTokens > 0 && o.Cost == nil {
		return View{}, errNoCost
	}
	return m.view(o), nil
}

// Selected returns everything that the options select. Successive lists share their unchanged chunks.
func (m *Memo) Selected() dom.List {
	for i, p := range m.parts {
		if p.chunk != m.chunks[i] {
			return m.selection()
		}
	}
	return m.list
}

// part is the selection from one chunk.
type part struct {
	// chunk holds the selected elements. It is the snapshot's chunk if all are selected.
	chunk *dom.Chunk
	// scores is parallel to the elements. counts holds the number of elements with each score, by descending score.
	scores []uint8
	counts []count[uint8]
	// roles counts the elements by role.
	roles []count[string]
}

type count[K comparable] struct {
	of K
	n  int
}

// increment counts another element of a kind. There are few kinds.
func increment[K comparable](counts []count[K], of K) []count[K] {
	for i := range counts {
		if counts[i].of == of {
			counts[i].n++
			return counts
		}
	}
	return append(counts, count[K]{of, 1})
}

// selectionKey returns the Key of the options that determine the parts, which excludes limits.
func (o Options) selectionKey() string {
	o.MaxElements, o.MaxTokens = 0, 0
	return o.Key()
}

// maxSkew limits how many chunks may have been added or removed between two known chunks.
const maxSkew = 8

// next returns the Memo of a list. It reuses the parts of known chunks.
func (m *Memo) next(list dom.List, o Options) *Memo {
	n := &Memo{options: o.selectionKey(), list: list, chunks: list.Chunks()}
	var known []*dom.Chunk
	if m != nil && m.options == n.options {
		known = m.chunks
	}
	n.parts = make([]*part, len(n.chunks))
	at := 0
	for i, c := range n.chunks {
		window := known[min(at, len(known)):min(at+maxSkew, len(known))]
		if k := slices.Index(window, c); k >= 0 {
			n.parts[i] = m.parts[at+k]
			at += k + 1
			continue
		}
		n.parts[i] = o.part(c)
		if at < len(known) && !slices.Contains(n.chunks[i+1:min(i+1+maxSkew, len(n.chunks))], known[at]) {
			at++ // the chunk that this one replaces
		}
	}
	return n
}

// part selects from one chunk.
func (o Options) part(c *dom.Chunk) *part {
	all := c.Elements()
	selected, _ := o.choose(all) // fails only without a root
	shown := o.project(selected)
	if len(shown) != len(all) || len(all) > 0 && &shown[0] != &all[0] {
		c = dom.NewChunk(shown)
	}
	return newPart(c)
}

// newPart returns a part that selects all elements of a chunk.
func newPart(c *dom.Chunk) *part {
	p := &part{chunk: c, scores: make([]uint8, len(c.Elements()))}
	for i, e := range c.Elements() {
		p.scores[i] = uint8(Score(e))
		p.counts = increment(p.counts, p.scores[i])
		p.roles = increment(p.roles, e.Role)
	}
	slices.SortFunc(p.counts, func(a, b count[uint8]) int { return cmp.Compare(b.of, a.of) })
	return p
}

// view joins the parts and applies the limits.
func (m *Memo) view(o Options) View {
	var v View
	for _, p := range m.parts {
		v.Total += len(p.scores)
	}
	most := v.Total
	if o.MaxElements > 0 && o.MaxElements < most {
		most, v.Reason = o.MaxElements, ElementLimit
	}
	if most < v.Total || o.MaxTokens > 0 {
		best := m.best(most)
		if o.MaxTokens > 0 {
			best, v.Tokens = m.afford(best, o)
			if len(best) < most {
				v.Reason = TokenBudget
			}
		}
		if len(best) < v.Total {
			v.Elements, v.OmittedByRole = m.split(best)
			return v
		}
	}
	v.Elements = m.Selected()
	return v
}

// selection returns the list of the parts.
func (m *Memo) selection() dom.List {
	chunks := make([]*dom.Chunk, 0, len(m.parts))
	for _, p := range m.parts {
		if len(p.scores) > 0 {
			chunks = append(chunks, p.chunk)
		}
	}
	return dom.NewList(chunks)
}

// position is the position of a selected element: its part, and its index in it.
type position struct{ part, index int32 }

// best returns the positions of the n best elements, best first. Parts count their elements by score, so best examines only parts that have
// an element with the score.
func (m *Memo) best(n int) []position {
	var held [maxScore + 1]int
	for _, p := range m.parts {
		for _, c := range p.counts {
			held[c.of] += c.n
		}
	}
	order := make([]position, 0, n)
	for score := maxScore; score >= 0 && len(order) < n; score-- {
		if held[score] == 0 {
			continue
		}
		for i, p := range m.parts {
			if len(order) == n {
				break
			}
			order = p.take(order, n, int32(i), uint8(score))
		}
	}
	return order
}

// take appends the positions of the elements with a score, until there are n.
func (p *part) take(order []position, n int, at int32, score uint8) []position {
	left := 0
	for _, c := range p.counts {
		if c.of == score {
			left = c.n
		}
	}
	for k := 0; left > 0 && len(order) < n; k++ {
		if p.scores[k] == score {
			order = append(order, position{at, int32(k)})
			left--
		}
	}
	return order
}

func (m *Memo) at(s position) *dom.Element { return m.parts[s.part].chunk.Elements()[s.index] }

// afford keeps the best elements within the budget, and returns their cost. It stops at the first element that exceeds the budget, even if
// a cheaper one follows, because a lower-ranked element must not be shown instead of a higher-ranked one.
func (m *Memo) afford(best []position, o Options) (kept []position, tokens int) {
	tokens = o.Overhead
	for k, s := range best {
		cost := o.Cost(m.at(s))
		if tokens+cost > o.MaxTokens {
			return best[:k], tokens
		}
		tokens += cost
	}
	return best, tokens
}

// split returns the elements at the kept positions in document order, and counts the others by role.
func (m *Memo) split(kept []position) (dom.List, map[string]int) {
	slices.SortFunc(kept, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.index, b.index))
	})
	omitted := map[string]int{}
	for _, p := range m.parts {
		for _, c := range p.roles {
			omitted[c.of] += c.n
		}
	}
	out := make([]*dom.Element, len(kept))
	for i, s := range kept {
		out[i] = m.at(s)
		omitted[out[i].Role]--
	}
	if n, generic := omitted[""]; generic {
		delete(omitted, "")
		omitted["generic"] += n
	}
	for role, n := range omitted {
		if n == 0 {
			delete(omitted, role)
		}
	}
	return dom.ListOf(out), omitted
}
