package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/internal/truncate"
)

// picker chooses options of a field that the page draws: a combobox, a listbox, or a button that opens a list.
type picker struct {
	filler
	field *Field
	at    resolved
	// listed are the elements that there were before the list was open.
	listed map[dom.Ref]bool
	// acted says that the list was opened, or something else was done.
	acted bool
	// before are what the elements said before anything was chosen.
	before map[dom.Ref]string
}

const (
	// maxScrolls is how often a list of options is scrolled in search of one, by scrollBy pixels each.
	maxScrolls = 40
	scrollBy   = 200
)

// pick chooses the options that have the values of a field, and no others where it takes several.
func (t filler) pick(ctx context.Context, f *Field, at resolved) (Result, error) {
	if !t.x.State().Structural { // what is chosen may be shown by a text beside the field
		if _, err := t.x.Read(ctx, actor.ReadOptions{Structural: true}); err != nil {
			return Result{}, err
		}
	}
	p := &picker{filler: t, field: f, at: at, listed: t.listed(), before: t.said()}
	if at.el.States.Expanded == dom.True || at.el.Role == "listbox" {
		p.listed = nil // the options are among them
	}
	before := t.shownIn(at.ref)
	r, chosen, err := p.chooseAll(ctx)
	if err != nil {
		return r, err
	}
	if r.Err != nil || len(f.Values) != 1 {
		if closed, err := p.close(ctx); err != nil || r.Err == nil && closed.Err != nil {
			return closed, err
		}
	}
	if r.Err != nil {
		return r, nil
	}
	return p.verify(r, before, chosen), nil
}

// chooseAll chooses the options that have the values, and no others.
func (p *picker) chooseAll(ctx context.Context) (r Result, chosen []*dom.Element, err error) {
	for _, value := range p.field.Values {
		var option *dom.Element
		if option, r, err = p.choose(ctx, value); err != nil || r.Err != nil {
			return r, nil, err
		}
		chosen = append(chosen, option)
	}
	if cleared, err := p.clearOthers(ctx, chosen); err != nil || cleared.Err != nil {
		return cleared, nil, err
	}
	return r, chosen, nil
}

// choose chooses one option, unless it is chosen already.
func (p *picker) choose(ctx context.Context, value string) (*dom.Element, Result, error) {
	if r, err := p.open(ctx); err != nil || r.Err != nil {
		return nil, r, err
	}
	option, err := p.find(ctx, value)
	if err != nil {
		delivered := driver.DeliveredNone
		if p.acted {
			delivered = driver.DeliveredPart
		}
		r, err := notFilled(ctx, p.field, delivered, err)
		return nil, r, err
	}
	if isChosen(option) && p.isShown(option) {
		return option, Result{Done: true, Delivered: driver.DeliveredAll}, nil
	}
	r, err := p.press(ctx, driver.Action{Kind: driver.Click, Spot: driver.At(option.Ref), Clicks: 1})
	return option, r, err
}

// press does one action of the choice.
func (p *picker) press(ctx context.Context, a driver.Action) (Result, error) {
	p.acted = true
	return p.perform(ctx, Step{Action: a, found: true})
}

// open opens the list, unless options are there.
func (p *picker) open(ctx context.Context) (Result, error) {
	if len(p.options()) > 0 || p.at.el.Role == "listbox" {
		return Result{}, nil
	}
	r, err := p.press(ctx, driver.Action{Kind: driver.Click, Spot: driver.At(p.at.ref), Clicks: 1})
	e, ok := errors.AsType[*apierr.Error](r.Err)
	if err != nil || !ok || e.Kind != apierr.NotActionable {
		return r, err
	}
	// A field that takes no clicks where it is may be opened by its box, or by keys.
	if box := p.x.Head().Snapshot.Find(p.at.el.Parent); box != nil && box.Kind == dom.Interactive && !target.IsField(box) {
		return p.press(ctx, driver.Action{Kind: driver.Click, Spot: driver.At(box.Ref), Clicks: 1})
	}
	if e.Detail["cause"] == "untouchable" || strings.HasPrefix(e.Detail["covered_by"], "nothing") { // it stands outside of the page
		return p.openByKey(ctx)
	}
	return r, err
}

// openByKey opens the list as the keyboard does.
func (p *picker) openByKey(ctx context.Context) (Result, error) {
	return p.press(ctx, driver.Action{Kind: driver.Press, Spot: driver.At(p.at.ref), Text: "ArrowDown"})
}

// optionRoles are the roles of what a list offers.
var optionRoles = []string{"option", "menuitemradio", "menuitemcheckbox", "menuitem", "treeitem"}

// options are what the list offers now: what has the role of an option, or else whatever the list brought.
func (p *picker) options() []*dom.Element {
	var options, others []*dom.Element
	for _, el := range p.elements() {
		switch isNew := p.listed != nil && !p.listed[el.Ref]; {
		case el.Kind != dom.Interactive || el.Ref == p.at.ref:
		case p.at.el.Role == "listbox" && !p.within(el, p.at.ref):
		case slices.Contains(optionRoles, el.Role) && (isNew || p.listed == nil && el.Role == "option"):
			options = append(options, el)
		case isNew && !target.IsField(el) && el.Tag != "input":
			others = append(others, el)
		}
	}
	if len(options) > 0 {
		return options
	}
	return others
}

// named are the options that fit a value closest, and how well they do.
func (p *picker) named(value string) ([]*dom.Element, target.Fit) {
	fit := func(el *dom.Element) target.Fit { return target.Compare(el.WholeText(), value) }
	found := target.Best(p.options(), fit)
	if len(found) == 0 {
		return nil, target.Not
	}
	return found, fit(found[0])
}

// find finds the option that has a value: as the list is now, or else by its search field, or further down.
func (p *picker) find(ctx context.Context, value string) (*dom.Element, error) {
	if err := p.await(ctx, value); err != nil {
		return nil, err
	}
	if len(p.options()) == 0 && p.at.el.Role == "combobox" && p.searchField() == nil {
		if _, err := p.openByKey(ctx); err != nil {
			return nil, err
		}
		if err := p.await(ctx, value); err != nil {
			return nil, err
		}
	}
	for _, look := range []func(context.Context, string) error{p.search, p.scroll} {
		if _, fit := p.named(value); fit <= target.Folded {
			break
		}
		if err := look(ctx, value); err != nil {
			return nil, err
		}
	}
	found, _ := p.named(value)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, p.noOption(value)
	}
	contexts := elementcontext.Tell(p.elements(), found)
	return nil, &apierr.Error{
		Kind: apierr.Ambiguous, Candidates: found[:min(len(found), maxCandidates)], Contexts: contexts,
		Message: strconv.Itoa(len(found)) + " options are meant by " + target.Quote(value) + ": " + target.ListWithin(found, contexts, maxCandidates) + "; click the one that is meant",
	}
}

// noOption is the error of a value that no option has.
func (p *picker) noOption(value string) error {
	options := p.options()
	message := p.field.name() + " has no option " + target.Quote(value)
	if len(options) > 0 {
		message += "; it has: " + target.List(options, maxCandidates)
	} else {
		message += ": no options appeared; read the page"
	}
	return &apierr.Error{Kind: apierr.NotActionable, Message: message, Candidates: options[:min(len(options), maxCandidates)]}
}

// await waits until an option has a value, while the page changes: options may come from a server.
func (p *picker) await(ctx context.Context, value string) error {
	defer p.x.Hold(actor.WatchOptions{Structural: p.x.State().Structural})()
	if err := p.x.Subscribe(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, appearLimit)
	defer cancel()
	for {
		before := p.x.Head()
		options := p.options()
		for _, el := range options {
			p.offered[el.WholeText()] = true
		}
		if found, _ := p.named(value); len(found) > 0 || len(options) > 1 {
			return nil
		}
		if p.x.Head() == before && !p.x.AwaitHead(bounded) {
			return ctx.Err()
		}
	}
}

// search types a value into the search field of the list, if it has one: the field itself, or one that the list brought.
func (p *picker) search(ctx context.Context, value string) error {
	at := p.searchField()
	if at == nil {
		return nil
	}
	typed, err := p.press(ctx, driver.Action{Kind: driver.Fill, Spot: driver.At(at.Ref), Text: value})
	if err != nil || typed.Err != nil {
		return cmp.Or(err, typed.Err)
	}
	return p.await(ctx, value)
}

// searchField is where a text is typed that narrows the list; nil: nowhere.
func (p *picker) searchField() *dom.Element {
	for _, el := range p.elements() {
		isText := el.Tag == "input" || el.Tag == "textarea" || el.Role == "searchbox"
		if isText && el.States.Readonly != dom.True && (el.Ref == p.at.ref || p.listed != nil && !p.listed[el.Ref] && isTyped(el) || p.within(el, p.at.ref) && isTyped(el)) {
			return el
		}
	}
	return nil
}

// isTyped reports whether a field takes a text.
func isTyped(el *dom.Element) bool {
	return el.Role == "textbox" || el.Role == "searchbox" || el.Role == "combobox"
}

// scroll scrolls the list until an option has a value, or nothing new comes.
func (p *picker) scroll(ctx context.Context, value string) error {
	for range maxScrolls {
		options := p.options()
		if len(options) == 0 {
			return nil
		}
		last := wordsOf(options[len(options)-1])
		r, err := p.press(ctx, driver.Action{Kind: driver.Scroll, Spot: driver.At(options[len(options)/2].Ref), Delta: driver.Point{Y: scrollBy}})
		if err != nil || r.Err != nil {
			return err
		}
		now := p.options()
		if _, fit := p.named(value); fit <= target.Folded || len(now) == 0 || wordsOf(now[len(now)-1]) == last {
			return nil
		}
	}
	return nil
}

// clearOthers takes the choice from the options that were not asked for, where the list still shows that several are chosen.
func (p *picker) clearOthers(ctx context.Context, chosen []*dom.Element) (Result, error) {
	isAsked := func(el *dom.Element) bool {
		return slices.ContainsFunc(chosen, func(one *dom.Element) bool { return one.Ref == el.Ref })
	}
	if len(p.field.Values) == 0 {
		if r, err := p.open(ctx); err != nil || r.Err != nil {
			return r, err
		}
	}
	for _, el := range p.options() {
		if isAsked(el) || !isChosen(el) || !p.isShown(el) {
			continue
		}
		if r, err := p.press(ctx, driver.Action{Kind: driver.Click, Spot: driver.At(el.Ref), Clicks: 1}); err != nil || r.Err != nil {
			return r, err
		}
	}
	return Result{}, nil
}

// close closes the list if it is still open, as it may be where several options are chosen, or one was not found.
func (p *picker) close(ctx context.Context) (Result, error) {
	now := p.x.Head().Snapshot.Find(p.at.ref)
	if now == nil || now.States.Expanded != dom.True || !p.acted {
		return Result{}, nil
	}
	return p.press(ctx, driver.Action{Kind: driver.Press, Spot: driver.At(p.at.ref), Text: "Escape"})
}

// verify looks whether the field shows what was chosen.
func (p *picker) verify(r Result, before string, chosen []*dom.Element) Result {
	r.Ref, r.Element, r.Done, r.Delivered = p.at.ref, p.at.el, true, driver.DeliveredAll
	what := summarize(driver.Action{Kind: driver.Select, Spot: driver.At(p.at.ref)}, p.at.el)
	r.Summary = what + ": ok"
	now := p.x.Head().Snapshot.Find(p.at.ref)
	if now == nil {
		return r // the page went on, or drew the field anew: the answer says so
	}
	r.Asked = []Asked{{Kind: driver.Select, Element: now, Values: p.field.Values}}
	shown := p.shownIn(p.at.ref)
	missing := slices.DeleteFunc(slices.Clone(chosen), func(option *dom.Element) bool { return p.shows(shown, option) })
	if len(missing) == 0 {
		return r
	}
	quoted := strconv.Quote(truncate.Runes(missing[0].WholeText(), text.Long))
	if shown != before {
		r.Summary += ", but it does not show " + quoted + ": read the page"
		return r
	}
	r.Done, r.Delivered, r.Asked = false, driver.DeliveredPart, nil
	r.Err = apierr.Errorf(apierr.NotActionable, "option %s was clicked, but the field does not show that it is chosen: read the page", quoted)
	r.Summary = what + ": " + word(driver.DoResult{}, r.Err)
	return r
}

// shows reports whether a field, or the option itself, shows that the option is chosen.
func (p *picker) shows(shown string, option *dom.Element) bool {
	if target.Compare(shown, option.WholeText()) < target.Not || p.isNew(option) {
		return true
	}
	for _, value := range p.field.Values {
		if target.Compare(option.WholeText(), value) < target.Not && target.Compare(shown, value) < target.Not {
			return true
		}
	}
	now := p.x.Head().Snapshot.Find(option.Ref)
	return now != nil && isChosen(now)
}

// isNew reports whether an element that is no option, such as the box around the field or a chip, has come to say what an option says.
func (p *picker) isNew(option *dom.Element) bool {
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool { return says(el, option) && !isIn(p.before[el.Ref], option) })
}

// isShown reports whether an element that is no option says what an option says: many lists mark the option that keys would choose as selected.
func (p *picker) isShown(option *dom.Element) bool {
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool { return says(el, option) })
}

// says reports whether an element that is no option says what an option says.
func says(el, option *dom.Element) bool {
	return el.Ref != option.Ref && el.Role != "listbox" && !slices.Contains(optionRoles, el.Role) && isIn(wordsOf(el), option)
}

// isIn reports whether the words of an option are in a text.
func isIn(words string, option *dom.Element) bool {
	return target.Compare(words, option.WholeText()) <= target.Worded
}

// said are the words of all elements.
func (t filler) said() map[dom.Ref]string {
	said := map[dom.Ref]string{}
	for _, el := range t.elements() {
		said[el.Ref] = wordsOf(el)
	}
	return said
}

// wordsOf is what an element says, with its value.
func wordsOf(el *dom.Element) string { return el.WholeText() + " " + el.Value }

// pickTyped takes the option that a text has brought which is that, where a box around a field is filled in: the text alone chooses nothing
// there. Of other fields with a list it is not known whether they take a text that is not chosen, so that the answer says that it is open.
func (t filler) pickTyped(ctx context.Context, f *Field, at resolved, typed Result, listed map[dom.Ref]bool) (Result, error) {
	now := t.x.Head().Snapshot.Find(at.ref)
	if now == nil || now.Role != "combobox" {
		return typed, nil
	}
	p := &picker{filler: t, field: f, at: at, listed: listed, before: t.said()}
	if found, fit := p.named(f.value()); now.Tag != "input" && now.Tag != "textarea" && len(found) == 1 && fit <= target.Folded {
		before := t.shownIn(at.ref)
		r, err := p.press(ctx, driver.Action{Kind: driver.Click, Spot: driver.At(found[0].Ref), Clicks: 1})
		if err != nil || r.Err != nil {
			return r, err
		}
		return p.verify(r, before, found), nil
	}
	if now.States.Expanded == dom.True {
		typed.Summary += ", and its list is open: click the option that is meant, unless it takes any text"
	}
	return typed, nil
}

// listed are the elements that there are before the list of a field is open.
func (t filler) listed() map[dom.Ref]bool {
	listed := map[dom.Ref]bool{}
	for _, el := range t.elements() {
		listed[el.Ref] = true
	}
	return listed
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

// isChosen reports whether an option says that it is chosen.
func isChosen(el *dom.Element) bool {
	return el.States.Selected == dom.True || el.States.Checked == dom.True
}

// offersOptions reports whether a field that takes no text, or is no select, is one that opens a list of options when it is pressed, or shows one: a
// combobox, a listbox, or a button with a list, or one that the caller named by its label.
func offersOptions(el *dom.Element, f *Field, refused error) bool {
	e, ok := errors.AsType[*apierr.Error](refused)
	if !ok || el == nil {
		return false
	}
	cause := e.Detail["cause"]
	switch {
	case cause != "unselectable" && (cause != "uneditable" || f.value() == ""):
		return false
	case el.Role == "combobox":
		return true
	case el.Role == "listbox":
		return cause == "unselectable"
	case el.Role == "button":
		return f.Ways[0].By == target.Label || cause == "unselectable" && el.States.Expanded != dom.Absent
	}
	return cause == "unselectable" && el.States.Expanded != dom.Absent
}
