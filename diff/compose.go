package diff

import (
	"cmp"
	"slices"
	"sort"

	"github.com/domtap/domtap/dom"
)

// Compose returns one diff with the effect of a followed by b, for every list that a fits, if b fits the result. Both diffs must have
// indexes, as Compute sets them. If the diffs do not fit each other, Apply may reject the result.
//
// Changes that b reverts are omitted: elements that were added and then removed, or removed and then added again, and values and positions
// that are unchanged in the end. Otherwise the number of moves need not be minimal, because minimizing it requires the list.
func Compose(a, b Diff) Diff {
	c := composer{
		first:  movesOf(a),
		second: movesOf(b),
		middle: map[int]*node{},
	}
	c.readFirst(a)
	c.readSecond(b)
	c.pairByKey()
	c.dropNullMoves()
	return c.diff(a.From, b.To)
}

// node is an element that one of the two diffs touches, with its indexes before the first diff and after the second.
type node struct {
	from, to int // or gone
	old, now *dom.Element
	stays    bool // neither removed nor inserted
	first    bool // touched by the first diff
}

// gone is the index of a node in a list that does not contain it.
const gone = -1

type composer struct {
	first, second moves
	// middle holds the nodes of the list between the two diffs, by their index in it.
	middle map[int]*node
	nodes  []*node
}

// moves holds, in ascending order, the indexes that a diff removes from the older list and those that it inserts into the newer one.
type moves struct{ out, in []int }

func movesOf(d Diff) moves {
	var m moves
	for _, r := range d.Removed {
		m.out = append(m.out, r.Index)
	}
	for _, a := range d.Added {
		m.in = append(m.in, a.Index)
	}
	for _, v := range d.Moved {
		m.out = append(m.out, v.From)
		m.in = append(m.in, v.To)
	}
	slices.Sort(m.out)
	slices.Sort(m.in)
	return m
}

// across converts the index i of an unmoved element in one list to its index in the other list. onlyFirst holds the indexes that are only
// in the first list, and onlySecond the indexes that are only in the other list.
func across(i int, onlyFirst, onlySecond []int) int {
	r := rank(i, onlyFirst)
	return r + sort.Search(len(onlySecond), func(k int) bool { return onlySecond[k]-k > r })
}

// rank returns the number of indexes before i that are not in the sorted list excluded.
func rank(i int, excluded []int) int {
	return i - sort.SearchInts(excluded, i)
}

// at returns the node at an index of the list between the diffs.
func (c *composer) at(place int) *node {
	n := c.middle[place]
	if n == nil {
		n = &node{
			from:  across(place, c.first.in, c.first.out),
			to:    across(place, c.second.out, c.second.in),
			stays: true,
		}
		c.middle[place] = n
		c.nodes = append(c.nodes, n)
	}
	return n
}

// readFirst records what the first diff does to each element.
func (c *composer) readFirst(a Diff) {
	for _, r := range a.Removed {
		c.nodes = append(c.nodes, &node{from: r.Index, to: gone, old: r.Element})
	}
	for _, add := range a.Added {
		n := c.at(add.Index)
		n.from, n.now, n.stays = gone, add.Element, false
	}
	places := make(map[int]int, len(a.Moved))
	for _, m := range a.Moved {
		n := c.at(m.To)
		n.from, n.old, n.now, n.stays = m.From, m.Element, m.Element, false
		places[m.From] = m.To
	}
	for _, ch := range a.Changed {
		place, ok := places[ch.Index]
		if !ok {
			place = across(ch.Index, c.first.out, c.first.in)
		}
		n := c.at(place)
		n.old, n.now = ch.Old, ch.New
	}
	for _, n := range c.nodes {
		n.first = true
	}
}

// readSecond records what the second diff does to each element. For an element that the first diff did not touch, it also records the old
// state.
func (c *composer) readSecond(b Diff) {
	for _, r := range b.Removed {
		n := c.at(r.Index)
		n.to, n.stays = gone, false
		n.see(r.Element, nil)
	}
	for _, m := range b.Moved {
		n := c.at(m.From)
		n.to, n.stays = m.To, false
		n.see(m.Element, m.Element)
	}
	for _, ch := range b.Changed {
		c.at(ch.Index).see(ch.Old, ch.New)
	}
	for _, add := range b.Added {
		c.nodes = append(c.nodes, &node{from: gone, to: add.Index, now: add.Element})
	}
}

// see records an element as it was before and after the second diff.
func (n *node) see(old, now *dom.Element) {
	if !n.first {
		n.old = old
	}
	n.now = now
}

// pairByKey merges a node that the first diff removed and a node with the same key that the second added into a node that moved.
func (c *composer) pairByKey() {
	lost := map[dom.Ref]*node{}
	for _, n := range c.nodes {
		if n.from >= 0 && n.to < 0 && n.old != nil {
			lost[n.old.Ref] = n
		}
	}
	for _, n := range c.nodes {
		if n.from >= 0 || n.to < 0 || n.now == nil {
			continue
		}
		if l := lost[n.now.Ref]; l != nil && l.to < 0 && l.old.Key() == n.now.Key() {
			l.to, l.now = n.to, n.now
			n.to = gone
		}
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool { return n.from < 0 && n.to < 0 })
}

// dropNullMoves drops the moves that have no effect. A node need not move if the same number of unmoved nodes precede it in both lists. If
// several nodes qualify, only nodes that kept their relative order stay.
func (c *composer) dropNullMoves() {
	var all moves
	var movers []*node
	for _, n := range c.nodes {
		if n.stays {
			continue
		}
		if n.from >= 0 {
			all.out = append(all.out, n.from)
		}
		if n.to >= 0 {
			all.in = append(all.in, n.to)
		}
		if n.from >= 0 && n.to >= 0 {
			movers = append(movers, n)
		}
	}
	slices.Sort(all.out)
	slices.Sort(all.in)
	movers = slices.DeleteFunc(movers, func(n *node) bool {
		return rank(n.from, all.out) != rank(n.to, all.in)
	})
	slices.SortFunc(movers, func(a, b *node) int { return cmp.Compare(a.to, b.to) })
	from := make([]int, len(movers))
	for i, n := range movers {
		from[i] = n.from
	}
	for i, stays := range longestRise(from) {
		movers[i].stays = stays
	}
}

// diff creates the composed diff from the nodes.
func (c *composer) diff(from, to uint64) Diff {
	d := Diff{From: from, To: to}
	slices.SortFunc(c.nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from))
	})
	for _, n := range c.nodes {
		switch {
		case n.from < 0:
			d.Added = append(d.Added, Added{Index: n.to, Element: n.now})
			continue
		case n.to < 0:
			d.Removed = append(d.Removed, Removed{Index: n.from, Element: n.old})
			continue
		case !n.stays:
			d.Moved = append(d.Moved, Moved{From: n.from, To: n.to, Element: n.now})
		}
		if n.now != nil && (n.old == nil || !n.old.Same(n.now)) {
			d.Changed = append(d.Changed, Changed{Index: n.from, To: n.to, Old: n.old, New: n.now})
		}
	}
	return d
}
