package views

import (
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// side returns what a diff as DENSE_DIFF leads from or to.
func (v *View) side() dense.Side {
	page := v.page
	if page == nil {
		page = pageOf(v.Snapshot)
	}
	return dense.Side{Page: page, Shown: v.Elements()}
}

// pageOf prepares the page of a snapshot.
func pageOf(s *dom.Snapshot) *dense.Page {
	all := s.Elements.Slice()
	return dense.NewPage(dense.Options{Base: compact.NewBase(s.URL)}, all, all)
}

// Changes returns what leads from one state of a page to another as DENSE_DIFF, with lines for at most limit added and
// as many changed elements. listed returns the elements that count of a state; more says that the answer tells of other
// changes, too.
func Changes(from, to *dom.Snapshot, listed func(*dom.Snapshot) dom.List, limit int, more bool) string {
	was, now := listed(from), listed(to)
	d := diff.Between(was, now)
	if d.Empty() && from.Elements.Len() == to.Elements.Len() && len(dom.Gaps(from.Elements, to.Elements)) == 0 {
		return dense.None
	}
	return dense.Changes{
		From: dense.Side{Page: pageOf(from), Shown: was.Slice()}, To: dense.Side{Page: pageOf(to), Shown: now.Slice()},
		Diff: d, Limit: limit, More: more,
	}.Text()
}
