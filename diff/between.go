package diff

import (
	"slices"
	"sort"

	"github.com/domtap/domtap/dom"
)

// Between returns the diff from old to current, like Compute. Its cost depends only on the parts that the lists do not share.
func Between(old, current dom.List) Diff {
	gaps := dom.Gaps(old, current)
	if len(gaps) == 0 {
		return Diff{}
	}
	if crossing(gaps) {
		// To minimize the moves, elements between the gaps may have to move, too.
		return Compute(old.Slice(), current.Slice())
	}
	// Elements between the gaps stay and keep their order relative to the gaps, so the comparison can omit them.
	if len(gaps) == 1 {
		d := Compute(gaps[0].Old, gaps[0].Now)
		d.shift(places{{0, gaps[0].OldAt}}, places{{0, gaps[0].NowAt}})
		return d
	}
	var from, to []*dom.Element
	var older, newer places
	for _, g := range gaps {
		older = append(older, place{len(from), g.OldAt})
		newer = append(newer, place{len(to), g.NowAt})
		from, to = append(from, g.Old...), append(to, g.Now...)
	}
	d := Compute(from, to)
	d.shift(older, newer)
	return d
}

// crossing reports whether a node moved from one gap to another.
func crossing(gaps []dom.Gap) bool {
	if len(gaps) == 1 || !slices.ContainsFunc(gaps, func(g dom.Gap) bool { return !slices.EqualFunc(g.Old, g.Now, sameNode) }) {
		return false
	}
	in := map[dom.Ref]int{}
	for i, g := range gaps {
		for _, e := range g.Old {
			in[e.Ref] = i
		}
	}
	for i, g := range gaps {
		for _, e := range g.Now {
			if was, lives := in[e.Ref]; lives && was != i {
				return true
			}
		}
	}
	return false
}

// place maps the index short in a list of gaps to the index long in the whole list.
type place struct{ short, long int }

// places holds the starts of the gaps, in order.
type places []place

// of returns the index in the whole list.
func (p places) of(short int) int {
	k := sort.Search(len(p), func(k int) bool { return p[k].short > short }) - 1
	return p[k].long + short - p[k].short
}

// shift converts the indexes in lists of gaps to indexes in the whole lists.
func (d *Diff) shift(old, current places) {
	for i := range d.Added {
		d.Added[i].Index = current.of(d.Added[i].Index)
	}
	for i := range d.Removed {
		d.Removed[i].Index = old.of(d.Removed[i].Index)
	}
	for i := range d.Changed {
		d.Changed[i].Index, d.Changed[i].To = old.of(d.Changed[i].Index), current.of(d.Changed[i].To)
	}
	for i := range d.Moved {
		d.Moved[i].From, d.Moved[i].To = old.of(d.Moved[i].From), current.of(d.Moved[i].To)
	}
}
