package elementcontext

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// changing is a page whose elements change, come, go and move, and which shares unchanged chunks.
type changing struct {
	random *rand.Rand
	all    []*dom.Element
	next   dom.Ref
	chunks map[dom.Ref]*dom.Chunk
}

// step changes the page at one place.
func (c *changing) step() {
	if len(c.all) == 0 {
		c.insert(0, dom.NoRef, 0)
		return
	}
	i := c.random.IntN(len(c.all))
	switch e := *c.all[i]; c.random.IntN(6) {
	case 0, 1:
		e.Text = c.text()
		c.all[i] = &e
	case 2:
		c.all = slices.Delete(c.all, i, c.end(i))
	case 3: // a part moves to another place at the same depth
		part := slices.Clone(c.all[i:c.end(i)])
		c.all = slices.Delete(c.all, i, c.end(i))
		for j, other := range c.all {
			if other.Depth == part[0].Depth && c.random.IntN(3) == 0 {
				first := *part[0]
				first.Parent, part[0] = other.Parent, &first
				c.all = slices.Insert(c.all, j, part...)
				return
			}
		}
	case 4:
		c.insert(i+1, e.Ref, e.Depth+1)
	default:
		c.insert(i, e.Parent, e.Depth)
	}
}

// end returns the index after the descendants of an element.
func (c *changing) end(i int) int {
	for j := i + 1; j < len(c.all); j++ {
		if c.all[j].Depth <= c.all[i].Depth {
			return j
		}
	}
	return len(c.all)
}

// text returns one of few texts, some of which contain others.
func (c *changing) text() string {
	words := []string{"X", "Edit", "Ann", "Bob", "One Two", strings.Repeat("A long offer ", 6), ""}
	if c.random.IntN(3) == 0 {
		return strings.TrimSpace(words[c.random.IntN(len(words))] + " " + words[c.random.IntN(len(words))])
	}
	return words[c.random.IntN(len(words))]
}

// insert inserts a new element at an index.
func (c *changing) insert(i int, parent dom.Ref, depth int) {
	roles := []string{"row", "cell", "listitem", "heading", "heading", "group", "generic", "rowheader", "article", "list", "link"}
	e := &dom.Element{Ref: c.next, Parent: parent, Depth: depth, Kind: dom.Structural, Role: roles[c.random.IntN(len(roles))], Text: c.text()}
	switch c.random.IntN(5) {
	case 0, 1:
		e.Kind, e.Role, e.Text = dom.Interactive, "button", []string{"X", "X", "Edit"}[c.random.IntN(3)]
	case 2:
		e.Kind, e.Role, e.Href = dom.Interactive, "link", []string{"", "/a"}[c.random.IntN(2)]
	}
	if e.Role == "heading" {
		e.Level = 1 + c.random.IntN(4)
	}
	c.next++
	c.all = slices.Insert(c.all, i, e)
}

// list returns the page with the unchanged chunks of the previous one. Chunks start at certain elements.
func (c *changing) list(of []*dom.Element) dom.List {
	var chunks []*dom.Chunk
	known := map[dom.Ref]*dom.Chunk{}
	for len(of) > 0 {
		n := 1
		for n < len(of) && of[n].Ref%5 != 0 {
			n++
		}
		chunk := c.chunks[of[0].Ref]
		if chunk == nil || !slices.Equal(chunk.Elements(), of[:n]) {
			chunk = dom.NewChunk(slices.Clone(of[:n]))
		}
		known[of[0].Ref], chunks, of = chunk, append(chunks, chunk), of[n:]
	}
	c.chunks = known
	return dom.NewList(chunks)
}

// TestFewAreToldApartLikeAll follows changing pages, and compares the contexts of single elements with those that Distinguish finds for all
// elements.
func TestFewAreToldApartLikeAll(t *testing.T) {
	compared := 0
	for seed := range uint64(150) {
		page := changing{random: rand.New(rand.NewPCG(seed, 1))}
		var tree Tree
		var names Names
		hidden := dom.Ref(2 + seed%4) // excluded from the view
		for range 60 {
			for range 1 + page.random.IntN(4) {
				page.step()
			}
			all := page.list(page.all)
			list := all
			if seed%3 == 0 {
				list = dom.ListOf(slices.DeleteFunc(slices.Clone(page.all), func(e *dom.Element) bool { return e.Ref%hidden == 0 }))
			}
			names.Follow(list)
			tree.Follow(all)
			want := Distinguish(all.Slice(), list.Slice())
			var together Found
			for e := range list.All() {
				if !names.Shares(e) {
					continue
				}
				var alone Found
				for _, f := range []*Found{&alone, &together} {
					compared++
					if ok := names.Distinguish(&tree, []*dom.Element{e}, f); !ok || f.Contexts[e.Ref] != want[e.Ref] {
						t.Fatalf("seed %d: %d %s %q has the context %+v, not %+v", seed, e.Ref, e.Role, e.Text, f.Contexts[e.Ref], want[e.Ref])
					}
				}
			}
		}
		checkTree(t, &tree, page.all)
	}
	if compared < 1000 {
		t.Errorf("only %d contexts were compared", compared)
	}
}

// checkTree compares the positions that a tree finds with the actual ones.
func checkTree(t *testing.T, tree *Tree, all []*dom.Element) {
	t.Helper()
	p := newPage(all)
	if len(tree.of) != len(all) {
		t.Fatalf("%d elements are known of %d", len(tree.of), len(all))
	}
	for i, e := range all {
		at := int32(i)
		if tree.place(e.Ref) != at || tree.at(at) != e || tree.parent(at) != p.parent[i] || tree.end(at, int32(len(all))) != p.end[i] ||
			tree.headingBefore(at) != p.heading[i] || tree.scopedHeading(at) != p.scoped[i] {
			t.Fatalf("element %d of %d is at %d, in %d, to %d, below %d and %d; want in %d, to %d, below %d and %d", i, len(all), tree.place(e.Ref), tree.parent(at),
				tree.end(at, int32(len(all))), tree.headingBefore(at), tree.scopedHeading(at), p.parent[i], p.end[i], p.heading[i], p.scoped[i])
		}
	}
}

// TestManyAreLeftToTell checks that Names.Distinguish leaves elements to Distinguish if many are alike, or if their surroundings are large.
func TestManyAreLeftToTell(t *testing.T) {
	for name, all := range map[string][]*dom.Element{"equal": table(2_000, true), "below many headings": headed(20_000)} {
		var tree Tree
		var names Names
		list := dom.ListOf(all)
		names.Follow(list)
		tree.Follow(list)
		if names.Distinguish(&tree, all[len(all)-1:], new(Found)) {
			t.Errorf("%s: the elements were told apart one by one", name)
		}
		if !names.Distinguish(&tree, all[:1], new(Found)) {
			t.Errorf("%s: nothing was to be told apart, and was left to Tell", name)
		}
	}
}

// headed creates a page with a list of headings followed by some buttons.
func headed(n int) []*dom.Element {
	return pageOf("list\n" + strings.Repeat(" heading H\n", n) + strings.Repeat("*button X\n", 20))
}

// BenchmarkFollowed distinguishes ten elements, of which one is replaced each time.
func BenchmarkFollowed(b *testing.B) {
	page := changing{random: rand.New(rand.NewPCG(1, 1)), all: table(2_000, false)}
	page.next = dom.Ref(len(page.all))
	for i := 4; i < 50; i += 5 {
		page.all[len(page.all)-i].Kind = dom.Structural
	}
	var tree Tree
	var names Names
	at := 0
	b.ReportAllocs()
	for b.Loop() {
		at = (at + 5) % (len(page.all) - 50)
		var some []*dom.Element
		for i := at; len(some) < 10; i++ {
			if e := *page.all[i]; e.Kind == dom.Interactive {
				e.Text = "Edit"
				page.all[i] = &e
				some = append(some, &e)
			}
		}
		list := page.list(page.all)
		names.Follow(list)
		tree.Follow(list)
		names.Distinguish(&tree, some, new(Found))
	}
}
