package turn

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// chipRemovers start the names of buttons that remove a chip. The chip's text follows, possibly after one of chipWords.
var (
	chipRemovers = []string{"remove", "deselect", "unselect"}
	chipWords    = []string{"item", "tag", "chip", "option"}
)

// removesAll are the words after one of chipRemovers in the name of a button that removes all chips.
var removesAll = []string{"all", "everything"}

// isRemover reports whether an element removes a chip, or all chips.
func isRemover(el *dom.Element) bool {
	verb, _, named := strings.Cut(el.WholeText(), " ")
	return named && el.Kind == dom.Interactive && slices.Contains(chipRemovers, strings.ToLower(verb))
}

// chipOf returns the text of the chip that a button removes, or an empty string for other elements.
func chipOf(el *dom.Element) string {
	if !isRemover(el) {
		return ""
	}
	_, rest, _ := strings.Cut(el.WholeText(), " ")
	word, after, found := strings.Cut(rest, " ")
	switch {
	case slices.Contains(removesAll, strings.ToLower(word)):
		return ""
	case found && slices.Contains(chipWords, strings.ToLower(strings.TrimSuffix(word, ":"))):
		return after
	}
	return rest
}

// chips returns the buttons that remove a value which the field shows in its value, or as a text before the button.
func (p *picker) chips() []*dom.Element {
	now := p.x.Head().Snapshot.Find(p.at.ref)
	return slices.DeleteFunc(slices.Clone(p.beside()), func(el *dom.Element) bool {
		return chipOf(el) == "" || now == nil || !listsWhole(now.Value, chipOf(el)) && !p.followsText(el)
	})
}

// listsWhole reports whether a value contains the words of a chip as whole words.
func listsWhole(value, chip string) bool {
	words := func(s string) string { return " " + strings.Join(strings.FieldsFunc(s, isBetween), " ") + " " }
	return strings.Contains(words(value), words(chip))
}

// isBetween reports whether a character separates the words or the chips of a value.
func isBetween(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }

// followsText reports whether the text of a chip is right before the button that removes it.
func (p *picker) followsText(button *dom.Element) bool {
	const mark = "\x00"
	return slices.ContainsFunc(p.elements(), func(el *dom.Element) bool {
		if el.Kind == dom.Interactive && el.Role == "button" || !p.within(button, el.Ref) {
			return false
		}
		words := strings.ReplaceAll(el.WholeText(), button.WholeText(), mark)
		return strings.Contains(" "+words, " "+chipOf(button)+" "+mark)
	})
}

// hasChip reports whether the field shows a value as a chip.
func (p *picker) hasChip(value string) bool {
	return slices.ContainsFunc(p.chips(), func(el *dom.Element) bool { return target.Compare(chipOf(el), value) <= target.Folded })
}

// isAsked reports whether an option or a chip has one of the requested values, or the text of an option that was chosen for one.
func (p *picker) isAsked(words string, chosen []*dom.Element) bool {
	is := func(value string) bool { return target.Compare(words, value) <= target.Folded }
	return slices.ContainsFunc(p.field.Values, is) || slices.ContainsFunc(chosen, func(one *dom.Element) bool { return is(one.WholeText()) })
}

// removeChips removes the chips of options that were not requested, because many lists do not offer options that are chosen already.
func (p *picker) removeChips(ctx context.Context, chosen []*dom.Element) (Result, error) {
	for range p.chips() {
		others := slices.DeleteFunc(p.chips(), func(el *dom.Element) bool { return p.isAsked(chipOf(el), chosen) })
		if len(others) == 0 {
			break
		}
		words, before := chipOf(others[0]), p.countChips(chipOf(others[0]))
		isGone := func() bool { return p.countChips(words) < before }
		r, err := p.press(ctx, click(others[0].Ref))
		if err == nil && r.Err == nil {
			r, err = p.checkGone(ctx, others[0], words, isGone)
		}
		if err != nil || r.Err != nil {
			return r, err
		}
	}
	return Result{}, nil
}

// countChips returns how many chips have a text.
func (p *picker) countChips(words string) int {
	return len(slices.DeleteFunc(p.chips(), func(el *dom.Element) bool { return chipOf(el) != words }))
}

// checkGone checks that a click on an option, or on the button of its chip, deselected it. The result is an error if isGone does not hold soon.
func (p *picker) checkGone(ctx context.Context, el *dom.Element, words string, isGone func() bool) (Result, error) {
	if err := p.awaitHeads(ctx, isGone); err != nil {
		return Result{}, err
	}
	if !isGone() {
		return notFilled(ctx, p.field, driver.DeliveredPart, apierr.Errorf(apierr.NotActionable, "%s was clicked, but %s is still selected: read the page", target.Describe(el), target.Quote(words)))
	}
	p.removed = append(p.removed, words)
	return Result{}, nil
}

// addTag types a value that the list does not offer into the search field, and reports whether the field took it as a tag.
func (p *picker) addTag(ctx context.Context, value string) (bool, Result, error) {
	at := p.searchField()
	if at == nil {
		return false, Result{}, nil
	}
	p.unsearched = cmp.Or(p.unsearched, at)
	r, err := p.press(ctx, driver.Action{Kind: driver.Fill, Location: driver.At(at.Ref), Text: value})
	if err != nil || r.TagAdded {
		return err == nil, r, err
	}
	return false, r, p.restoreSearch(ctx)
}

// tags returns the actions that enter each value of a field as a tag.
func tags(f *Field, el *dom.Element) []driver.Action {
	actions := make([]driver.Action, len(f.Values))
	for i, value := range f.Values {
		actions[i] = driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref), Text: value, Tag: true}
	}
	return actions
}

// noTag returns an error if a value of several for one field did not become a tag.
func noTag(f *Field, actions []driver.Action, done Result) error {
	if len(actions) < 2 || actions[0].Ref != actions[1].Ref || done.TagAdded {
		return nil
	}
	return apierr.Errorf(apierr.NotActionable, "%s takes one value, because it made no tag of %s: give one", f.name(), target.Quote(actions[0].Text))
}

// quoteAll quotes texts.
func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, one := range texts {
		quoted[i] = target.Quote(one)
	}
	return strings.Join(quoted, ", ")
}
