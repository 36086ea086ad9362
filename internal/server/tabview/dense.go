package tabview

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// fullEnough is the percentage of a budget at which the search for more elements stops.
const fullEnough = 97

// densePage prepares the page of a view in DENSE. All elements that pass the filters may be mentioned around the listed elements, including
// those that interactive_only excludes.
func densePage(v *View, o view.Options) *dense.Page {
	o.InteractiveOnly, o.MaxElements, o.MaxTokens = false, 0, 0
	var mentioned []*dom.Element
	if around, err := view.Of(v.Snapshot, o); err == nil { // otherwise the view itself fails
		mentioned = around.Elements.Slice()
	}
	printed := dense.Options{Base: compact.NewBase(v.Snapshot.URL), HRefs: v.Selection.hrefs, Brief: v.Selection.brief}
	return dense.NewPage(printed, v.Snapshot.Elements.Slice(), mentioned)
}

// BehindModal returns the number of elements of a view that are behind a modal.
func (v *View) BehindModal() (n int) {
	for _, e := range v.Elements() {
		if e.Covered {
			n++
		}
	}
	return n
}

// LeftOutBehindModal returns the number of elements behind a modal that the printed view counts instead of listing.
func (v *View) LeftOutBehindModal() int {
	if v.page == nil || !v.page.Folds(v.Elements()) {
		return 0
	}
	return v.BehindModal()
}

// fitter fits a view in DENSE and its lines into a budget. The cost of an element depends on the other elements. So fitting prints the
// view repeatedly with fewer elements, the best ones, until the lines fit.
type fitter struct {
	*View
	tab     *Tab
	options view.Options
	// room is the token budget of the lines. limited reports whether the budget applies.
	room    int
	limited bool
}

// fit computes the elements and the lines of a view in DENSE.
func fit(v *View, t *Tab, o view.Options) error {
	f := &fitter{View: v, tab: t, options: o, room: o.MaxTokens - o.Overhead, limited: o.MaxTokens > 0}
	f.options.MaxTokens = 0
	all, err := f.choose()
	if err != nil {
		return err
	}
	mention := dense.MentionAll
	if all.Reason != view.NotTruncated || len(v.given) > 0 {
		mention = dense.MentionNeeded
	}
	for _, m := range slices.Compact([]dense.Mention{mention, dense.MentionNeeded}) {
		if cost := f.print(all, m); !f.limited || cost <= f.room {
			return nil
		}
	}
	for _, m := range []dense.Mention{dense.MentionNeeded, dense.MentionNone} {
		if err := f.reduce(m); err != nil || v.view.Elements.Len() > 0 {
			return err
		}
	}
	return nil
}

func (f *fitter) choose() (view.View, error) {
	all, err := f.tab.choose(f.Snapshot, f.options, f.Selection)
	if err != nil {
		return view.View{}, err
	}
	return all.view(f.options)
}

// print sets the lines of a view and returns their cost. Without a budget, it counts nothing and returns 0.
func (f *fitter) print(shown view.View, m dense.Mention) (cost int) {
	f.view, f.lines = shown, f.page.Lines(shown.Elements.Slice(), m)
	if !f.limited {
		return 0
	}
	for line := range strings.Lines(f.lines) {
		cost += f.tab.count(line)
	}
	f.view.Tokens = f.overhead + cost
	return cost
}

// reduce finds the largest number of elements, best first, whose lines fit. The view has no elements if not even one fits.
func (f *fitter) reduce(m dense.Mention) error {
	f.options.Overhead, f.options.Cost = 1, func(*dom.Element) int { return 1 }
	best := func(n int) (cost int, err error) {
		f.options.MaxTokens = f.options.Overhead + n
		shown, err := f.choose()
		return f.print(shown, m), err
	}
	fits, spent, tooMany, tooMuch := 0, 0, f.view.Elements.Len(), f.view.Tokens-f.overhead
	for step := 1; tooMany-fits > 1 && 100*spent < fullEnough*f.room; step++ {
		n := fits + (tooMany-fits)*(f.room-spent)/max(tooMuch-spent, 1)
		if step%3 == 0 { // bisect sometimes, because the costs are uneven
			n = (fits + tooMany) / 2
		}
		n = min(max(n, fits+1), tooMany-1)
		switch cost, err := best(n); {
		case err != nil:
			return err
		case cost <= f.room:
			fits, spent = n, cost
		default:
			tooMany, tooMuch = n, cost
		}
	}
	_, err := best(fits)
	return err
}
