package turn

import (
	"context"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// pick opens the list of options of a field, and takes the one that has the value.
func (t filler) pick(ctx context.Context, f *Field, at resolved) (r Result, err error) {
	listed := map[dom.Ref]bool{}
	if at.el.States.Expanded != dom.True {
		listed = t.listed()
		r, err = t.perform(ctx, Step{Action: driver.Action{Kind: driver.Click, Spot: driver.At(at.ref), Clicks: 1}, found: true})
		if err != nil || r.Err != nil {
			return r, err
		}
	}
	option, err := t.option(ctx, f, listed)
	if err != nil {
		return notFilled(ctx, f, driver.DeliveredPart, err)
	}
	return t.take(ctx, f, at, option)
}

// pickTyped takes the option that a text has brought which is that, where a box around a field is filled in: the text alone chooses nothing
// there. Of other fields with a list it is not known whether they take a text that is not chosen, so that the answer says that it is open.
func (t filler) pickTyped(ctx context.Context, f *Field, at resolved, typed Result, listed map[dom.Ref]bool) (Result, error) {
	now := t.x.Head().Snapshot.Find(at.ref)
	if now == nil || now.Role != "combobox" {
		return typed, nil
	}
	if found := t.brought(f, listed); now.Tag != "input" && now.Tag != "textarea" && len(found) == 1 && target.Compare(found[0].WholeText(), f.value()) <= target.Folded {
		return t.take(ctx, f, at, resolved{ref: found[0].Ref, el: found[0]})
	}
	if now.States.Expanded == dom.True {
		typed.Summary += ", and its list is open: click the option that is meant, unless it takes any text"
	}
	return typed, nil
}

// take clicks an option, and looks whether its field shows it then.
func (t filler) take(ctx context.Context, f *Field, at, option resolved) (Result, error) {
	before := t.shownIn(at.ref)
	r, err := t.perform(ctx, Step{Action: driver.Action{Kind: driver.Click, Spot: driver.At(option.ref), Clicks: 1}, found: true})
	if err != nil || r.Err != nil {
		return r, err
	}
	r.Ref, r.Summary = at.ref, "select "+f.name()+": ok"
	now := t.x.Head().Snapshot.Find(at.ref)
	if now == nil {
		return r, nil // the page went on, or drew the field anew: the answer says so
	}
	r.Asked = []Asked{{Kind: driver.Fill, Element: now, Text: f.value()}}
	shown := t.shownIn(at.ref)
	if target.Compare(shown, f.value()) < target.Not || target.Compare(shown, option.el.WholeText()) < target.Not || t.isChosen(option.el) {
		return r, nil
	}
	quoted := strconv.Quote(truncate.Runes(f.value(), text.Long))
	if shown != before {
		r.Summary += ", but it does not show " + quoted + ": read the page"
		return r, nil
	}
	r.Done, r.Delivered, r.Asked = false, driver.DeliveredPart, nil
	r.Err = apierr.Errorf(apierr.NotActionable, "option %s was clicked, but the field does not show that it is chosen: read the page", quoted)
	r.Summary = "select " + f.name() + ": " + word(driver.DoResult{}, r.Err)
	return r, nil
}

// listed are the elements that there are before the list of a field is open.
func (t filler) listed() map[dom.Ref]bool {
	listed := map[dom.Ref]bool{}
	for _, el := range t.elements() {
		listed[el.Ref] = true
	}
	return listed
}

// brought are the options with the value of a field that were not there before its list was open.
func (t filler) brought(f *Field, listed map[dom.Ref]bool) []*dom.Element {
	wanted := target.Target{By: target.Role, Role: "option", Name: f.value()}
	return target.Best(t.elements(), func(el *dom.Element) target.Fit {
		if el.Kind != dom.Interactive || len(listed) == 0 || listed[el.Ref] {
			return target.Not
		}
		return wanted.Fit(el)
	})
}

// option finds the option that has the value of a field: among those that its list brought, if there are such.
func (t filler) option(ctx context.Context, f *Field, listed map[dom.Ref]bool) (resolved, error) {
	if found := t.brought(f, listed); len(found) == 1 {
		return resolved{ref: found[0].Ref, el: found[0]}, nil
	}
	wanted := target.Target{By: target.Role, Role: "option", Name: f.value()}
	return t.resolve(ctx, Step{Action: driver.Action{Kind: driver.Click, Spot: driver.At(dom.NoRef), Clicks: 1}, Target: wanted})
}

// shownIn is what a field shows: its name and value, and those of what stands in it, but for the options that it offers.
func (t filler) shownIn(field dom.Ref) string {
	var out []string
	for _, el := range t.elements() {
		if el.Ref == field || el.Role != "option" && t.within(el, field) {
			out = append(out, el.WholeText(), el.Value, el.Placeholder)
		}
	}
	return strings.Join(out, " ")
}

// isChosen reports whether an option says that it is chosen, and did not say so before it was clicked.
func (t filler) isChosen(was *dom.Element) bool {
	now := t.x.Head().Snapshot.Find(was.Ref)
	is := func(el *dom.Element) bool { return el.States.Selected == dom.True || el.States.Checked == dom.True }
	return now != nil && is(now) && !is(was)
}
