package turn

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// pathOf returns the parts of a value that leads through the levels of a cascading list or a tree, such as "Asia / Japan / Tokyo". It returns
// nil for other values.
func pathOf(value string) []string {
	for _, between := range []string{" / ", " > ", " › ", " » ", " → ", "/"} {
		parts := strings.Split(value, between)
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		if len(parts) > 1 && !slices.Contains(parts, "") {
			return parts
		}
	}
	return nil
}

// follow opens each level of a path and returns the option at its end.
func (p *picker) follow(ctx context.Context, parts []string) (*dom.Element, error) {
	var parent *dom.Element
	above := map[dom.Ref]bool{}
	for i, part := range parts {
		var found []*dom.Element
		err := p.awaitHeads(ctx, func() bool {
			if found = p.levels(part, p.below(parent, above)); i == len(parts)-1 {
				found = target.Best(p.below(parent, above), func(el *dom.Element) target.Fit { return target.Compare(el.WholeText(), part) })
			}
			return len(found) > 0
		})
		if err != nil {
			return nil, err
		}
		if len(found) != 1 {
			return nil, p.noLevel(part, parent, p.below(parent, above))
		}
		if i == len(parts)-1 {
			return found[0], nil
		}
		parent = found[0]
		for _, el := range p.options() {
			above[el.Ref] = true
		}
		if parent.States.Expanded == dom.True {
			p.forgetBranch(parent, above)
		} else if err := p.openLevel(ctx, parent, part, parts[i+1], above); err != nil {
			return nil, err
		}
	}
	return nil, p.noLevel(parts[len(parts)-1], parent, p.below(parent, above))
}

// levels returns the options whose text is exactly a part of a path, except for case. One that only contains it would be another option,
// such as "No" for the "N" of "N/A".
func (p *picker) levels(part string, options []*dom.Element) []*dom.Element {
	return slices.DeleteFunc(slices.Clone(options), func(el *dom.Element) bool { return target.Compare(el.WholeText(), part) > target.Folded })
}

// openLevel opens the level below a parent that has the option next, by a click, unless it opens while the pointer hovers over the parent: a
// click may then close it.
func (p *picker) openLevel(ctx context.Context, parent *dom.Element, part, next string, above map[dom.Ref]bool) error {
	toggle := p.toggleOf(parent, part)
	if toggle == parent {
		_, err := p.press(ctx, driver.Action{Kind: driver.Hover, Location: driver.At(parent.Ref)})
		if err != nil || len(p.below(parent, above)) > 0 {
			return err
		}
		if parent.Role == "option" && parent.States.Expanded == dom.Absent {
			return p.noLevel(next, parent, nil) // a click would choose it
		}
	}
	r, err := p.press(ctx, click(toggle.Ref))
	return cmp.Or(err, r.Err)
}

// below returns the options that are offered below a parent: those that were not there before it was opened.
func (p *picker) below(parent *dom.Element, above map[dom.Ref]bool) []*dom.Element {
	return slices.DeleteFunc(slices.Clone(p.options()), func(el *dom.Element) bool { return above[el.Ref] || parent != nil && el.Ref == parent.Ref })
}

// forgetBranch removes the options of the branch of an open parent from those above it.
func (p *picker) forgetBranch(parent *dom.Element, above map[dom.Ref]bool) {
	for _, el := range branchOf(parent, p.options(), func(el *dom.Element) bool { return p.within(el, parent.Ref) }) {
		delete(above, el.Ref)
	}
}

// branchOf returns the options below an open parent: those in it, or else those after it, up to one that is not on a deeper level. Options
// without levels that have the same parent element may be beside it, so that they are left out.
func branchOf(parent *dom.Element, options []*dom.Element, isWithin func(*dom.Element) bool) []*dom.Element {
	isOutside := func(el *dom.Element) bool { return el.Ref == parent.Ref || !isWithin(el) }
	if inside := slices.DeleteFunc(slices.Clone(options), isOutside); len(inside) > 0 {
		return inside
	}
	at := slices.IndexFunc(options, func(el *dom.Element) bool { return el.Ref == parent.Ref })
	after := slices.Clone(options[at+1:])
	if end := slices.IndexFunc(after, func(el *dom.Element) bool { return el.Level > 0 && el.Level <= parent.Level }); end >= 0 {
		after = after[:end]
	}
	return slices.DeleteFunc(after, func(el *dom.Element) bool { return el.Level == 0 && el.Parent == parent.Parent })
}

// toggleOf returns the control in a tree item that only opens the item, because a click on the item may choose it. If there is none, it
// returns the item.
func (p *picker) toggleOf(item *dom.Element, part string) *dom.Element {
	for _, el := range p.elements() {
		isInside := el.Ref != item.Ref && el.Kind == dom.Interactive && p.within(el, item.Ref) && !slices.Contains(optionRoles, el.Role)
		if item.Role == "treeitem" && isInside && !target.IsField(el) && target.Compare(el.WholeText(), part) == target.Not {
			return el
		}
	}
	return item
}

// noLevel returns the error for a part of a path that does not match exactly one option.
func (p *picker) noLevel(part string, parent *dom.Element, options []*dom.Element) error {
	message := p.field.name() + " has no single option " + target.Quote(part)
	if parent != nil {
		message += " in " + strconv.Quote(parent.WholeText())
	}
	if len(options) > 0 {
		message += "; it has: " + target.List(options, maxCandidates)
	} else {
		message += ": read the page"
	}
	return &apierr.Error{Kind: apierr.NotActionable, Message: message, Candidates: options[:min(len(options), maxCandidates)]}
}
