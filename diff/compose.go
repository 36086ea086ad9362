package diff

import (
	"cmp"
	"slices"
	"sort"

	"github.com/domtap/domtap/dom"
)

// Compose returns one diff that does what a and then b do, for every list that a fits and with b
// fitting what a makes of it. Both must carry their indexes, as those of Compute do; of diffs that do
// not fit each other it makes one that Apply may refuse.
//
// Changes that b undoes are left out: elements that were added and removed, or removed and added again,
// and values and places that are as before. Otherwise the moves need not be the fewest, which cannot be
// known without the list.
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

// node is an element that one of the two diffs touches, with its places before the first diff and
// after the second.
type node struct {
	from, to int // gone: not there
	old, now *dom.Element
	stays    bool // neither taken out nor put in
	first    bool // touched by the first diff
}

// gone is the place of a node in a list that does not have it.
const gone = -1

type composer struct {
	first, second moves
	// middle holds the nodes that the list between the two diffs has, by their place in it.
	middle map[int]*node
	nodes  []*node
}

// moves holds, in ascending order, the indexes that a diff takes out of the older list and those that
// it puts into the newer one.
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

// across returns the index in the other list of an element that stays, and has index i in one list, when out
// holds the indexes that the other list lacks and in those that only the other list has.
func across(i int, out, in []int) int {
	r := rank(i, out)
	return r + sort.Search(len(in), func(k int) bool { return in[k]-k > r })
}

// rank counts the places before i that are not in the sorted list without.
func rank(i int, without []int) int {
	return i - sort.SearchInts(without, i)
}

// at returns the node at a place of the list between the diffs.
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

// readFirst notes what the first diff does to each element.
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

// readSecond notes what the second diff does to each element. Of one that the first diff left alone
// it also tells what it was.
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

// see notes an element as it was before and after the second diff.
func (n *node) see(old, now *dom.Element) {
	if !n.first {
		n.old = old
	}
	n.now = now
}

// pairByKey turns a node that the first diff removed and the second added, under the same key, into a node
// that moved.
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

// dropNullMoves drops the moves that change nothing. A node need not move when equally many of the nodes
// that stay are before it in both lists; of several such nodes, those that kept their order.
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

// diff makes the composed diff of the nodes.
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
