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

// picker selects options of a custom field: a combobox, a listbox, or a button that opens a list.
type picker struct {
	filler
	field *Field
	at    resolved
	// listed holds the elements that existed before the list was opened.
	listed map[dom.Ref]bool
	// acted reports whether the list was opened or another action was performed.
	acted bool
	// before holds the texts of all elements before anything was selected. The texts that a search changed are those after the search.
	before map[dom.Ref]string
	// was is the text of the field before an option was clicked, without a search text.
	was string
	// searched is the field that a search text was typed into, or dom.NoRef. typed is the value that it then had.
	searched dom.Ref
	typed    string
	// marked holds the options that were marked as selected before one was clicked.
	marked []dom.Ref
	// removed holds the texts of the options that were deselected.
	removed []string
	// unsearched is the search field, as it was before a text was typed into it, or nil.
	unsearched *dom.Element
}

const (
	// maxScrolls limits how often a list of options is scrolled to find an option, by scrollBy pixels each time.
	maxScrolls = 40
	scrollBy   = 200
)

// pick selects the options that have the values of a field, and deselects all others if it accepts several.
func (t filler) pick(ctx context.Context, f *Field, at resolved) (Result, error) {
	if err := t.readStructure(ctx); err != nil { // the selection may be shown by a text beside the field
		return Result{}, err
	}
	p := &picker{filler: t, field: f, at: at, listed: t.listed(), before: t.textsByRef(), searched: dom.NoRef}
	if at.el.States.Expanded == dom.True || at.el.Role == "listbox" {
		if err := p.findOpenList(ctx); err != nil {
			return Result{}, err
		}
	}
	p.was = p.shown()
	r, chosen, err := p.chooseAll(ctx)
	if err != nil {
		return r, err
	}
	var closed Result
	if r.Err != nil || len(f.Values) != 1 {
		if closed, err = p.close(ctx); err != nil {
			return closed, err
		}
	}
	if r.Err != nil {
		return r, nil
	}
	r = p.verify(r, chosen)
	if r.Err == nil && len(p.removed) > 0 {
		r.Summary += ", and deselected " + quoteAll(p.removed)
	}
	if r.Err == nil && closed.Err != nil {
		r.Summary += ", but its list is still open"
	}
	return r, nil
}

// findOpenList removes the options of the list that is open already from the elements that existed before it was opened. If several lists
// may be the field's, or none has options by role, it closes the field's list, so that opening it again shows which options are its own.
func (p *picker) findOpenList(ctx context.Context) error {
	lists, err := p.awaitLists(ctx)
	if err != nil {
		return err
	}
	if len(lists) != 1 && p.at.el.Role != "listbox" {
		return p.closeList(ctx, len(lists) > 0)
	}
	p.unlist(lists)
	return nil
}

// unlist removes the options of lists from the elements that existed before the list was opened.
func (p *picker) unlist(lists []dom.Ref) {
	for _, el := range p.elements() {
		isOption := slices.Contains(optionRoles, el.Role)
		if isOption && slices.ContainsFunc(lists, func(list dom.Ref) bool { return p.within(el, list) }) {
			delete(p.listed, el.Ref)
		}
	}
}

// unlistShownAgain unlists the options of a list that was still closing when it was opened again. All columns of a cascading list are its lists.
func (p *picker) unlistShownAgain() {
	now, lists := p.x.Head().Snapshot.Find(p.at.ref), p.openLists()
	isListbox := func(list dom.Ref) bool {
		el := p.x.Head().Snapshot.Find(list)
		return el == nil || el.Role == "listbox"
	}
	if len(p.options()) == 0 && now != nil && now.States.Expanded == dom.True && (len(lists) == 1 || !slices.ContainsFunc(lists, isListbox)) {
		p.unlist(lists)
	}
}

// awaitLists returns the open lists. It waits for the options of a list that is still loading.
func (p *picker) awaitLists(ctx context.Context) ([]dom.Ref, error) {
	if lists := p.openLists(); len(lists) > 0 || !p.isLoading() {
		return lists, nil
	}
	err := p.awaitHeads(ctx, func() bool { return len(p.openLists()) > 0 })
	return p.openLists(), err
}

// isLoading reports whether options may still be loading: the page shows a progress bar, another list, or a text that begins with "loading".
func (p *picker) isLoading() bool {
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool {
		return el.Role == "progressbar" || el.Role == "listbox" && el.Ref != p.at.ref || strings.HasPrefix(strings.ToLower(el.WholeText()), "loading")
	})
}

// closeList closes a list that is open from before the step, by a click on the field or with Escape. In a dialog without any list, Escape would
// close the dialog.
func (p *picker) closeList(ctx context.Context, mayEscape bool) error {
	actions := []driver.Action{click(p.at.ref)}
	if escape := (driver.Action{Kind: driver.Press, Location: driver.At(p.at.ref), Text: "Escape"}); mayEscape || !p.isInDialog() {
		actions = []driver.Action{escape, click(p.at.ref)}
	}
	for _, a := range actions {
		if _, err := p.press(ctx, a); err != nil {
			return err
		}
		if now := p.x.Head().Snapshot.Find(p.at.ref); now != nil && now.States.Expanded != dom.True {
			p.listed = p.filler.listed()
			return nil
		}
	}
	return nil
}

// isInDialog reports whether the field is in a dialog.
func (p *picker) isInDialog() bool {
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool {
		return (el.Role == "dialog" || el.Role == "alertdialog") && p.within(p.at.el, el.Ref)
	})
}

// openLists returns the elements that may hold the options of a field whose list is open: the field itself, or else every visible list
// that has no other field's name.
func (p *picker) openLists() []dom.Ref {
	var lists []dom.Ref
	for _, el := range p.elements() {
		if !slices.Contains(optionRoles, el.Role) {
			continue
		}
		if p.within(el, p.at.ref) || p.at.el.Role == "listbox" {
			return []dom.Ref{p.at.ref}
		}
		if list := p.listOf(el); list != nil && !slices.Contains(lists, list.Ref) && (list.Text == "" || target.Compare(list.WholeText(), p.at.el.WholeText()) < target.Not) {
			lists = append(lists, list.Ref)
		}
	}
	return lists
}

// listOf returns the element around an option and its siblings, without the groups in a list, or nil if there is none.
func (p *picker) listOf(option *dom.Element) *dom.Element {
	h := p.x.Head()
	list := h.Snapshot.Find(option.Parent)
	for list != nil && (list.Role == "group" || slices.Contains(optionRoles, list.Role)) {
		list = h.Snapshot.Find(list.Parent)
	}
	return list
}

// chooseAll selects exactly the options that have the values.
func (p *picker) chooseAll(ctx context.Context) (r Result, chosen []*dom.Element, err error) {
	for _, value := range p.field.Values {
		var option *dom.Element
		if option, r, err = p.choose(ctx, value); err != nil || r.Err != nil {
			return r, nil, err
		}
		if option != nil {
			chosen = append(chosen, option)
		}
	}
	if cleared, err := p.clearOthers(ctx, chosen); err != nil || cleared.Err != nil {
		return cleared, nil, err
	}
	return r, chosen, nil
}

// choose selects one option, unless it is already selected. The option is nil if a chip shows that the field has the value.
func (p *picker) choose(ctx context.Context, value string) (*dom.Element, Result, error) {
	if p.hasChip(value) {
		return nil, Result{Done: true, Delivered: driver.DeliveredAll}, nil
	}
	if r, err := p.open(ctx); err != nil || r.Err != nil {
		return nil, r, err
	}
	option, err := p.find(ctx, value)
	if e, ok := errors.AsType[*apierr.Error](err); ok && e.Kind == apierr.NotActionable && len(p.field.Values) > 1 {
		if tagged, r, err := p.addTag(ctx, value); tagged || err != nil {
			return nil, r, err
		}
	}
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
	p.marked = p.chosen()
	wasShown, before := p.showsBeside(option), len(p.repeats(option))
	r, err := p.press(ctx, click(option.Ref))
	if err != nil || r.Err != nil {
		return option, r, err
	}
	now := p.x.Head().Snapshot.Find(option.Ref)
	isDeselected := now != nil && !isChosen(now) && (isChosen(option) || len(p.repeats(option)) < before)
	if now == nil && wasShown && len(p.repeats(option)) == 0 { // the list closed
		if r, err = p.open(ctx); err != nil || r.Err != nil {
			return option, r, err
		}
		if found, fit := p.named(value); len(found) == 1 && fit <= target.Folded {
			option, isDeselected = found[0], true
		}
	}
	if isDeselected {
		r, err = p.press(ctx, click(option.Ref)) // it was chosen already, and the first click deselected it
	}
	return option, r, err
}

// click returns a click on an element.
func click(ref dom.Ref) driver.Action {
	return driver.Action{Kind: driver.Click, Location: driver.At(ref), Clicks: 1}
}

// press performs one action of the selection.
func (p *picker) press(ctx context.Context, a driver.Action) (Result, error) {
	p.acted = true
	return p.perform(ctx, Step{Action: a, found: true})
}

// open opens the list, unless options are already present.
func (p *picker) open(ctx context.Context) (Result, error) {
	if len(p.options()) > 0 || p.at.el.Role == "listbox" {
		return Result{}, nil
	}
	r, err := p.press(ctx, click(p.at.ref))
	e, ok := errors.AsType[*apierr.Error](r.Err)
	if err != nil || !ok || e.Kind != apierr.NotActionable {
		return r, err
	}
	if cause := e.Detail["cause"]; cause == "disabled" || cause == "hidden" {
		return r, nil
	}
	// A field that cannot be clicked may be opened through its box, or with keys.
	if box := p.x.Head().Snapshot.Find(p.at.el.Parent); box != nil && box.Kind == dom.Interactive && !target.IsField(box) {
		return p.press(ctx, click(box.Ref))
	}
	if e.Detail["cause"] == "untouchable" || strings.HasPrefix(e.Detail["covered_by"], "nothing") { // the field is outside of the page
		return p.openByKey(ctx)
	}
	return r, err
}

// openByKey opens the list with the keyboard.
func (p *picker) openByKey(ctx context.Context) (Result, error) {
	return p.press(ctx, driver.Action{Kind: driver.Press, Location: driver.At(p.at.ref), Text: "ArrowDown"})
}

// optionRoles are the roles of options in a list.
var optionRoles = []string{"option", "menuitemradio", "menuitemcheckbox", "menuitem", "treeitem"}

// options returns the options that the list offers now: the elements with a role of options, or else all elements that the list added.
func (p *picker) options() []*dom.Element {
	var options, others []*dom.Element
	for _, el := range p.elements() {
		switch {
		case el.Kind != dom.Interactive || el.Ref == p.at.ref || p.listed[el.Ref]:
		case p.at.el.Role == "listbox" && !p.within(el, p.at.ref):
		case slices.Contains(optionRoles, el.Role):
			options = append(options, el)
		case !target.IsField(el) && el.Tag != "input" && !isRemover(el):
			others = append(others, el)
		}
	}
	if len(options) > 0 {
		return options
	}
	return others
}

// named returns the options that match a value best, and how well they match.
func (p *picker) named(value string) ([]*dom.Element, target.Fit) {
	fit := func(el *dom.Element) target.Fit { return target.Compare(el.WholeText(), value) }
	found := target.Best(p.options(), fit)
	if len(found) == 0 {
		return nil, target.Not
	}
	return found, fit(found[0])
}

// find returns the option with a value: in the list as it is, or else through its search field, or by scrolling.
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
	p.unlistShownAgain()
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
		if err := p.restoreSearch(ctx); err != nil {
			return nil, err
		}
		if path := pathOf(value); path != nil && len(p.levels(path[0], p.options())) > 0 {
			return p.follow(ctx, path)
		}
		return nil, p.noOption(value)
	}
	contexts := elementcontext.Distinguish(p.elements(), found)
	return nil, &apierr.Error{
		Kind: apierr.Ambiguous, Candidates: found[:min(len(found), maxCandidates)], Contexts: contexts,
		Message: strconv.Itoa(len(found)) + " options match " + target.Quote(value) + ": " + target.ListWithin(found, contexts, maxCandidates) + "; click one of them",
	}
}

// noOption returns the error for a value without an option.
func (p *picker) noOption(value string) error {
	options := p.options()
	if near := target.Nearest(target.Target{By: target.Text, Words: value}, options, maxNearest); len(options) > maxCandidates && len(near) > 0 {
		options = near
	}
	message := p.field.name() + " has no option " + target.Quote(value)
	if len(options) > 0 {
		message += "; it has: " + target.List(options, maxCandidates)
	} else {
		message += ": no options appeared; read the page"
	}
	return &apierr.Error{Kind: apierr.NotActionable, Message: message, Candidates: options[:min(len(options), maxCandidates)]}
}

// await waits until an option has a value, while the page changes, because options may come from a server.
func (p *picker) await(ctx context.Context, value string) error {
	return p.awaitHeads(ctx, func() bool {
		options := p.options()
		for _, el := range options {
			p.offered[el.WholeText()] = true
		}
		found, _ := p.named(value)
		return len(found) > 0 || len(options) > 1
	})
}

// awaitHeads waits until isThere holds, while the page changes.
func (p *picker) awaitHeads(ctx context.Context, isThere func() bool) error {
	defer p.x.Hold(actor.WatchOptions{Structural: p.x.State().Structural})()
	if err := p.x.Subscribe(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, appearLimit)
	defer cancel()
	for {
		before := p.x.Head()
		if isThere() {
			return nil
		}
		if p.x.Head() == before && !p.x.AwaitHead(bounded) {
			return ctx.Err()
		}
	}
}

// search types a value into the search field of the list, if it has one: the field itself, or one that the list added.
func (p *picker) search(ctx context.Context, value string) error {
	at := p.searchField()
	if at == nil {
		return nil
	}
	p.unsearched = cmp.Or(p.unsearched, at)
	before := p.textsByRef()
	typed, err := p.press(ctx, driver.Action{Kind: driver.Fill, Location: driver.At(at.Ref), Text: value, Search: true})
	if err != nil || typed.Err != nil {
		return cmp.Or(err, typed.Err)
	}
	err = p.await(ctx, value)
	p.searched = at.Ref
	if now := p.x.Head().Snapshot.Find(at.Ref); now != nil {
		p.typed = now.Value
	}
	for ref, words := range p.textsByRef() {
		if words != before[ref] {
			p.before[ref] = words // the page repeats the search text; the choice does not show there
		}
	}
	p.was = p.shown()
	return err
}

// restoreSearch restores the earlier text of the search field, because a text without an option would stay there, and the list offers all
// options again.
func (p *picker) restoreSearch(ctx context.Context) error {
	if p.unsearched == nil || p.unsearched.ValueLeft > 0 || isMask(p.unsearched.Value) {
		return nil
	}
	_, err := p.press(ctx, driver.Action{Kind: driver.Fill, Location: driver.At(p.unsearched.Ref), Text: p.unsearched.Value, Search: true})
	return err
}

// searchField returns the field that filters the list, or nil if there is none.
func (p *picker) searchField() *dom.Element {
	for _, el := range p.elements() {
		isText := el.Tag == "input" || el.Tag == "textarea" || el.Role == "searchbox"
		if isText && el.States.Readonly != dom.True && (el.Ref == p.at.ref || !p.listed[el.Ref] && isTyped(el) || p.within(el, p.at.ref) && isTyped(el)) {
			return el
		}
	}
	return nil
}

// isTyped reports whether a field accepts a text.
func isTyped(el *dom.Element) bool {
	return el.Role == "textbox" || el.Role == "searchbox" || el.Role == "combobox"
}

// scroll scrolls the list until an option has a value, or no new options appear.
func (p *picker) scroll(ctx context.Context, value string) error {
	for range maxScrolls {
		options := p.options()
		if len(options) == 0 {
			return nil
		}
		last := wordsOf(options[len(options)-1])
		r, err := p.press(ctx, driver.Action{Kind: driver.Scroll, Location: driver.At(options[len(options)/2].Ref), Delta: driver.Point{Y: scrollBy}})
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

// clearOthers deselects the options that were not requested, if the list still shows several selected options and the field is not known to
// hold only one.
func (p *picker) clearOthers(ctx context.Context, chosen []*dom.Element) (Result, error) {
	if p.at.el.Type == "select-one" {
		return Result{}, nil
	}
	if len(p.field.Values) == 0 {
		if r, err := p.open(ctx); err != nil || r.Err != nil {
			return r, err
		}
	}
	for _, el := range p.options() {
		if p.isAsked(el.WholeText(), chosen) || !isChosen(el) || !p.isShown(el) && !p.isOneOfSeveral() {
			continue
		}
		if r, err := p.deselect(ctx, el); err != nil || r.Err != nil {
			return r, err
		}
	}
	return p.removeChips(ctx, chosen)
}

// deselect deselects a selected option, and checks that the list does not mark it any more, or that the field does not show it any more: a
// list may also mark the option that was clicked last. A list that closed at the click is opened again for that.
func (p *picker) deselect(ctx context.Context, el *dom.Element) (Result, error) {
	wasShown, before := p.isShown(el), p.countChosen(el)
	isGone := func() bool { return len(p.options()) > 0 && p.countChosen(el) < before || wasShown && !p.isShown(el) }
	r, err := p.press(ctx, click(el.Ref))
	if err == nil && r.Err == nil && len(p.options()) == 0 && !isGone() {
		r, err = p.open(ctx)
	}
	if err != nil || r.Err != nil {
		return r, err
	}
	return p.checkGone(ctx, el, el.WholeText(), isGone)
}

// countChosen returns how many options with the text of an option are marked as selected.
func (p *picker) countChosen(option *dom.Element) int {
	return len(slices.DeleteFunc(p.options(), func(el *dom.Element) bool { return el.WholeText() != option.WholeText() || !isChosen(el) }))
}

// isOneOfSeveral reports whether several options are marked while the list hides the field. The keyboard highlight marks only one option.
func (p *picker) isOneOfSeveral() bool {
	return p.x.Head().Snapshot.Find(p.at.ref) == nil && len(p.chosen()) > 1
}

// close closes the list if it is still open, which can happen after several selections or if an option was not found. The list may have the
// focus in place of the field.
func (p *picker) close(ctx context.Context) (Result, error) {
	escape := driver.Action{Kind: driver.Press, Location: driver.At(p.at.ref), Text: "Escape"}
	r := Result{}
	for _, escape.Ref = range []dom.Ref{p.at.ref, dom.NoRef} {
		now := p.x.Head().Snapshot.Find(p.at.ref)
		isOpen := len(p.options()) > 0
		if now != nil && (now.Role != "combobox" || now.States.Expanded != dom.Absent) {
			isOpen = now.States.Expanded == dom.True
		}
		if !isOpen || !p.acted {
			return Result{}, nil
		}
		if now == nil && escape.Ref != dom.NoRef {
			continue // the list hides the field
		}
		var err error
		if r, err = p.press(ctx, escape); err != nil || r.Err == nil {
			return r, err
		}
	}
	return r, nil
}

// verify checks whether the field shows the selection.
func (p *picker) verify(r Result, chosen []*dom.Element) Result {
	r.Ref, r.Element, r.Done, r.Delivered = p.at.ref, p.at.el, true, driver.DeliveredAll
	what := summarize(driver.Action{Kind: driver.Select, Location: driver.At(p.at.ref)}, p.at.el)
	r.Summary = what + ": ok"
	now := p.x.Head().Snapshot.Find(p.at.ref)
	if now == nil {
		return r // the page navigated or rendered the field again; the answer reports that
	}
	r.FieldRequests = []FieldRequest{{Kind: driver.Select, Element: now, Values: p.field.Values}}
	shown := p.shown()
	missing := slices.DeleteFunc(slices.Clone(chosen), func(option *dom.Element) bool { return p.shows(shown, option) })
	if len(missing) == 0 {
		return r
	}
	quoted := strconv.Quote(truncate.Runes(missing[0].WholeText(), text.Long))
	if shown != p.was {
		r.Summary += ", but it does not show " + quoted + ": read the page"
		return r
	}
	r.Done, r.Delivered, r.FieldRequests = false, driver.DeliveredPart, nil
	r.Err = apierr.Errorf(apierr.NotActionable, "option %s was clicked, but the field does not show that it is chosen: read the page", quoted)
	r.Summary = what + ": " + word(driver.DoResult{}, r.Err)
	return r
}

// shows reports whether the field or the option itself shows that the option is selected.
func (p *picker) shows(shown string, option *dom.Element) bool {
	isValue := func(value string) bool {
		return target.Compare(option.WholeText(), value) < target.Not && target.Compare(shown, value) < target.Not
	}
	if shown != p.was || !p.isOpen() { // else the words were there before, for instance in the field's label
		if isValue(option.WholeText()) || slices.ContainsFunc(p.field.Values, isValue) {
			return true
		}
	}
	return p.isNew(option) || p.isMarked(option) || p.isItem(option)
}

// isItem reports whether the closed field shows the option's text as a selected item that it did not have before.
func (p *picker) isItem(option *dom.Element) bool {
	now := p.x.Head().Snapshot.Find(p.at.ref)
	return now != nil && now.States.Expanded == dom.False && slices.ContainsFunc(p.elements(), func(el *dom.Element) bool {
		return !p.listed[el.Ref] && el.States.Selected == dom.True && p.within(el, p.at.ref) && isIn(wordsOf(el), option)
	})
}

// isMarked reports whether the list marks an option as selected. A list may also mark the option that the pointer or the keys are at: such
// a mark leaves another option, while the field shows what it showed before.
func (p *picker) isMarked(option *dom.Element) bool {
	now := p.x.Head().Snapshot.Find(option.Ref)
	if now == nil || !isChosen(now) {
		return false
	}
	chosen := p.chosen()
	isLost := func(ref dom.Ref) bool { return !slices.Contains(chosen, ref) && p.x.Head().Snapshot.Find(ref) != nil }
	return now.States.Checked == dom.True || p.at.el.Role == "listbox" || !slices.ContainsFunc(p.marked, isLost)
}

// chosen returns the options that are marked as selected.
func (p *picker) chosen() []dom.Ref {
	var refs []dom.Ref
	for _, el := range p.options() {
		if isChosen(el) {
			refs = append(refs, el.Ref)
		}
	}
	return refs
}

// isNew reports whether an element that is not an option, such as the box around the field or a chip, now has the option's text but did not
// have it before.
func (p *picker) isNew(option *dom.Element) bool {
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool { return p.hasOptionText(el, option) && !isIn(p.before[el.Ref], option) })
}

// isShown reports whether the field or a text beside it, such as a chip, has the option's text. This is needed because many lists mark the
// option that keys would choose as selected.
func (p *picker) isShown(option *dom.Element) bool {
	return isIn(p.shown(), option) || slices.ContainsFunc(p.beside(), func(el *dom.Element) bool { return p.hasOptionText(el, option) })
}

// showsBeside reports whether the option's text is shown in or beside the field by an element that is older than the list, such as a chip.
func (p *picker) showsBeside(option *dom.Element) bool {
	return slices.ContainsFunc(p.repeats(option), func(el *dom.Element) bool { return p.listed[el.Ref] || el.Ref == p.at.ref })
}

// repeats returns the elements in or beside the field that have the option's text, except the search field.
func (p *picker) repeats(option *dom.Element) []*dom.Element {
	isOther := func(el *dom.Element) bool { return el.Ref == p.searched || !p.hasOptionText(el, option) }
	return slices.DeleteFunc(slices.Clone(p.beside()), isOther)
}

// beside returns the elements around the field, as far as the next heading, field or label on each side.
func (p *picker) beside() []*dom.Element {
	all := p.elements()
	at := slices.IndexFunc(all, func(el *dom.Element) bool { return el.Ref == p.at.ref })
	isApart := func(el *dom.Element) bool {
		return !p.within(el, p.at.ref) && (el.Role == "heading" || target.IsField(el) || el.Role == "listbox" || slices.Contains(optionRoles, el.Role) || el.Text != "" && el.Text == p.at.el.Text)
	}
	if at < 0 {
		return nil
	}
	from, to := at, at+1
	for from > 0 && !isApart(all[from-1]) {
		from--
	}
	for to < len(all) && !isApart(all[to]) {
		to++
	}
	return all[from:to]
}

// hasOptionText reports whether an element that is neither an option nor a part of the given one has that option's text.
func (p *picker) hasOptionText(el, option *dom.Element) bool {
	return el.Role != "listbox" && !slices.Contains(optionRoles, el.Role) && el.Ref != option.Ref && isIn(wordsOf(el), option) && !p.within(el, option.Ref)
}

// isIn reports whether a text contains the option's text.
func isIn(words string, option *dom.Element) bool {
	return target.Compare(words, option.WholeText()) <= target.Worded
}

// textsByRef returns the texts of all elements.
func (t filler) textsByRef() map[dom.Ref]string {
	said := map[dom.Ref]string{}
	for _, el := range t.elements() {
		said[el.Ref] = wordsOf(el)
	}
	return said
}

// wordsOf returns an element's text and value.
func wordsOf(el *dom.Element) string { return el.WholeText() + " " + el.Value }

// pickTyped selects the option that matches the typed text, if a custom combobox was filled in, because text alone selects nothing there.
// For native text fields with a list, it is unknown whether they accept a text that was not selected, so the summary reports that the list
// is open.
func (t filler) pickTyped(ctx context.Context, f *Field, at resolved, typed Result, listed map[dom.Ref]bool) (Result, error) {
	now := t.x.Head().Snapshot.Find(at.ref)
	if now == nil || now.Role != "combobox" {
		return typed, nil
	}
	p := &picker{filler: t, field: f, at: at, listed: listed, before: t.textsByRef(), searched: dom.NoRef}
	if found, fit := p.named(f.value()); now.Tag != "input" && now.Tag != "textarea" && len(found) == 1 && fit <= target.Folded {
		p.was = p.shown()
		r, err := p.press(ctx, click(found[0].Ref))
		if err != nil || r.Err != nil {
			return r, err
		}
		return p.verify(r, found), nil
	}
	if now.States.Expanded == dom.True && len(typed.FieldRequests) > 0 {
		typed.Summary += ", and its list is open: click an option, unless the field accepts any text"
	}
	return typed, nil
}

// listed returns the elements that exist before the list of a field is opened.
func (t filler) listed() map[dom.Ref]bool {
	listed := map[dom.Ref]bool{}
	for _, el := range t.elements() {
		listed[el.Ref] = true
	}
	return listed
}

// shown returns what the field shows: its name and value, and those of its descendants, except for its options and the text of a search
// whose list is still open.
func (p *picker) shown() string {
	var out []string
	for _, el := range p.elements() {
		switch {
		case el.Ref != p.at.ref && (el.Role == "option" || !p.within(el, p.at.ref)):
		case el.Ref == p.searched && el.Value == p.typed && p.isOpen():
			out = append(out, el.WholeText())
		default:
			out = append(out, el.WholeText(), el.Value, el.Placeholder)
		}
	}
	return strings.Join(out, " ")
}

// isOpen reports whether the list is open.
func (p *picker) isOpen() bool {
	now := p.x.Head().Snapshot.Find(p.at.ref)
	return len(p.options()) > 0 && (now == nil || now.States.Expanded != dom.False)
}

// isChosen reports whether an option is marked as selected: by a state, or else by a class that the hints repeat.
func isChosen(el *dom.Element) bool {
	if el.States.Selected == dom.Absent && el.States.Checked == dom.Absent {
		return slices.Contains(strings.Fields(el.Hints), "selected")
	}
	return el.States.Selected == dom.True || el.States.Checked == dom.True
}

// offersOptions reports whether a field that rejected a text or a selection opens or shows a list of options: a combobox, a listbox, a
// button with a list, or a button that the caller named by its label.
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
	case el.Role == "listbox" || el.Role == "textbox" && el.States.Readonly == dom.True:
		return cause == "unselectable"
	case el.Role == "button":
		return f.Ways[0].By == target.Label || cause == "unselectable" && el.States.Expanded != dom.Absent
	}
	return cause == "unselectable" && el.States.Expanded != dom.Absent
}
