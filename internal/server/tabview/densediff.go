package tabview

import (
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// denseSide returns the view as one side of a diff in DENSE_DIFF.
func (v *View) denseSide() dense.Side {
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

// MaxListed limits the elements of each kind that the changes after an action list.
const MaxListed = 50

// ChangesForm controls how changes are printed. See dense.Changes.
type ChangesForm struct {
	// Listed returns the elements of a page state that the diff compares.
	Listed      func(*dom.Snapshot) dom.List
	Limit       int
	More, Brief bool
	Expected    func(was, now *dom.Element) *dom.Element
}

// Changes returns the change from one state of a page to another as DENSE_DIFF.
func Changes(from, to *dom.Snapshot, form ChangesForm) string {
	was, now := form.Listed(from), form.Listed(to)
	d := diff.Between(was, now)
	if d.Empty() && from.Elements.Len() == to.Elements.Len() && len(dom.Gaps(from.Elements, to.Elements)) == 0 {
		return dense.None
	}
	return dense.Changes{
		From: dense.Side{Page: pageOf(from), Shown: was.Slice()}, To: dense.Side{Page: pageOf(to), Shown: now.Slice()},
		Diff: d, Limit: form.Limit, More: form.More, Brief: form.Brief, Expected: form.Expected,
	}.Text()
}
