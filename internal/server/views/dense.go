package views

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// fullEnough is the part of a budget, in percent, at which no more elements are tried.
const fullEnough = 97

// densePage prepares the page of a view in DENSE: what the filters leave of it may be mentioned around the
// elements, also what interactive_only leaves out.
func densePage(v *View, o view.Options) *dense.Page {
	o.InteractiveOnly, o.MaxElements, o.MaxTokens = false, 0, 0
	var mentioned []*dom.Element
	if around, err := view.Of(v.Snapshot, o); err == nil { // else the view itself fails
		mentioned = around.Elements.Slice()
	}
	printed := dense.Options{Base: compact.NewBase(v.Snapshot.URL), HRefs: v.Selection.hrefs, Brief: v.Selection.brief}
	return dense.NewPage(printed, v.Snapshot.Elements.Slice(), mentioned)
}

// fitting makes a view in DENSE and its lines. What an element costs there depends on the others, so that it prints
// the view with fewer elements, the best ones, until the lines cost no more than the budget.
type fitting struct {
	*View
	tab     *Tab
	options view.Options
	// room is what the lines may cost; limited says that it counts.
	room    int
	limited bool
}

// fit makes the view and the lines of a view in DENSE.
func fit(v *View, t *Tab, o view.Options) error {
	f := &fitting{View: v, tab: t, options: o, room: o.MaxTokens - o.Overhead, limited: o.MaxTokens > 0}
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

func (f *fitting) choose() (view.View, error) {
	all, err := f.tab.choose(f.Snapshot, f.options, f.Selection)
	if err != nil {
		return view.View{}, err
	}
	return all.view(f.options)
}

// print makes the lines of a view and returns what they cost; nothing is counted without a budget.
func (f *fitting) print(shown view.View, m dense.Mention) (cost int) {
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

// reduce searches for the most elements, best first, whose lines fit. The view has no elements if not even one
// fits.
func (f *fitting) reduce(m dense.Mention) error {
	f.options.Overhead, f.options.Cost = 1, func(*dom.Element) int { return 1 }
	best := func(n int) (cost int, err error) {
		f.options.MaxTokens = f.options.Overhead + n
		shown, err := f.choose()
		return f.print(shown, m), err
	}
	fits, spent, tooMany, tooMuch := 0, 0, f.view.Elements.Len(), f.view.Tokens-f.overhead
	for step := 1; tooMany-fits > 1 && 100*spent < fullEnough*f.room; step++ {
		n := fits + (tooMany-fits)*(f.room-spent)/max(tooMuch-spent, 1)
		if step%3 == 0 { // the costs are uneven
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
