package turn

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/heal"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

const (
	// maxCandidates limits how many elements the error of an ambiguous target lists.
	maxCandidates = 10
	// maxNearest limits how many similar elements the error of a missing target lists.
	maxNearest = 3
)

// resolver resolves the targets of steps to elements.
type resolver struct {
	x    *actor.Exclusive
	live *actor.Liveness
	base baseline
}

// resolved is the element of an action. An action without an element has the ref dom.NoRef and no el.
type resolved struct {
	ref dom.Ref
	el  *dom.Element
	// healed reports that el replaces the named element, which is gone.
	healed bool
	// named reports that the caller named the element by its ref.
	named bool
	// over holds the elements that were hovered to make el appear.
	over []*dom.Element
	// isContainer reports that el is a group or another container of controls, which the caller named by its label.
	isContainer bool
	// doubt is the error for an element that seems to be a different one, unless the page recognizes it.
	doubt error
}

// resolve finds the element of a step. The head must be up to date.
func (t *resolver) resolve(ctx context.Context, a Step) (resolved, error) {
	if err := t.readAround(ctx, a.Target); err != nil {
		return resolved{}, err
	}
	switch {
	case a.toFocus():
		return t.focused(), nil
	case a.Target.By == target.None && a.Ref == dom.NoRef:
		return resolved{ref: dom.NoRef}, nil
	case a.Target.By == target.None:
		return t.byRef(ctx, a.Ref, a.named())
	case a.Target.By == target.Ref:
		at, err := t.byRef(ctx, a.Target.Ref, true)
		if err == nil {
			err = t.namedInside(a.Target, at)
		}
		return at, err
	case a.Target.InPage():
		at, err := t.byPage(ctx, a.Target, a.takesText())
		if a.Target.By == target.Label && apierr.Is(err, apierr.NoMatch) {
			return t.byOtherWords(ctx, a, err)
		}
		return at, err
	}
	return t.byName(ctx, a)
}

// byName finds the element that a step names by role and name, or by a text.
func (t *resolver) byName(ctx context.Context, a Step) (resolved, error) {
	found, err := t.bySnapshot(ctx, a.Target)
	if a.Target.By == target.Text && a.Kind != driver.Check && a.Kind != driver.Uncheck {
		found = target.ItemsOfBoxes(found, t.elements())
	}
	if err == nil && a.pointedWords() != "" {
		found, err = t.innermost(ctx, a.Target, found)
		if err == nil && len(found) == 0 {
			found, err = t.titled(ctx, a.Target)
		}
	}
	if err != nil {
		return resolved{}, err
	}
	if words := a.pointedWords(); words != "" && !a.Kind.IsPassive() && a.Target.Nth == 0 {
		found = slices.DeleteFunc(slices.Clone(found), func(el *dom.Element) bool { return target.Mentions(el, words) })
	}
	if found, err = t.orShown(ctx, a.Target, found); err != nil {
		return resolved{}, err
	}
	return t.only(ctx, a.Target, found)
}

// pointedWords returns the text that a step points at, or an empty string if it points at none.
func (a Step) pointedWords() string {
	if a.Target.By == target.Text && a.Kind.IsPointed() {
		return a.Target.Words
	}
	return ""
}

// toFocus reports whether a step types into the focused element.
func (a Step) toFocus() bool {
	return a.Target.By == target.None && a.Ref == dom.NoRef && a.Kind == driver.Type
}

// focused returns the innermost element that has the focus, because a frame has it together with its content. If no element has it, the
// document receives the keys.
func (t *resolver) focused() resolved {
	at := resolved{ref: dom.NoRef}
	for _, el := range t.elements() {
		if el.States.Focused == dom.True {
			at = resolved{ref: el.Ref, el: el}
		}
	}
	return at
}

// byRef returns the element of a ref, or its replacement. If the caller named the element, it must still be the element that the caller was
// told about.
func (t *resolver) byRef(ctx context.Context, ref dom.Ref, named bool) (resolved, error) {
	el, err := t.x.Head().Element(ref)
	switch {
	case err == nil && !named:
		return resolved{ref: ref, el: el}, nil
	case err == nil:
		use, err := t.base.use(ref, el)
		if use == heal.Doubtful {
			return resolved{ref: ref, el: el, doubt: err}, nil
		}
		return resolved{ref: ref, el: el}, err
	case !apierr.Is(err, apierr.Stale):
		return resolved{}, err
	}
	if t.base.heal {
		replacement, err := t.heal(ctx, ref)
		if replacement != nil || err != nil {
			return resolved{ref: refOf(replacement), el: replacement, healed: true}, err
		}
	}
	wanted := target.Target{By: target.Ref, Ref: ref}
	if finding, err := t.ask(ctx, wanted); err == nil && finding.Inert != "" {
		return resolved{}, inertError(wanted, finding)
	}
	return resolved{}, t.lost(ref)
}

// refOf returns the ref of an element, or dom.NoRef for nil.
func refOf(el *dom.Element) dom.Ref {
	if el == nil {
		return dom.NoRef
	}
	return el.Ref
}

// bySnapshot finds elements in the stored DOM. It reads structural elements only if nothing else matches.
func (t *resolver) bySnapshot(ctx context.Context, wanted target.Target) ([]*dom.Element, error) {
	found := target.Match(wanted, t.elements())
	if len(found) == 0 && wanted.MayBeShown() && !t.x.State().Structural {
		if err := t.readStructure(ctx); err != nil {
			return nil, err
		}
		found = target.Match(wanted, t.elements())
	}
	return found, nil
}

// readStructure reads structural elements, unless the stored DOM has them.
func (t *resolver) readStructure(ctx context.Context) error {
	if t.x.State().Structural {
		return nil
	}
	_, err := t.x.Read(ctx, actor.ReadOptions{Structural: true})
	return err
}

// maxContainers limits in how many elements the page searches for a text. More than that are ambiguous anyway.
const maxContainers = 4

// innermost replaces elements that may contain others by the innermost elements in them that have a text. These have no refs until they are
// searched for.
func (t *resolver) innermost(ctx context.Context, wanted target.Target, found []*dom.Element) ([]*dom.Element, error) {
	holders := 0
	for _, el := range found {
		if target.MayHold(el) {
			holders++
		}
	}
	if holders == 0 || holders > maxContainers {
		return found, nil
	}
	var all target.Resolution
	for _, el := range found {
		in := target.Resolution{Matches: []target.PageMatch{{Ref: el.Ref, Fit: wanted.Fit(el)}}}
		if target.MayHold(el) {
			finding, _, err := t.foundInPage(ctx, target.Target{By: target.Innermost, Ref: el.Ref, Words: wanted.Words})
			if err != nil {
				return nil, err
			}
			if len(finding.Matches) > 0 {
				in = finding
			}
		}
		all = all.Merge(in)
	}
	refs, _ := all.Closest()
	found, _ = t.present(refs)
	return found, nil
}

// titled finds elements by a title attribute, if their text is nowhere on the page, such as an icon with a tooltip.
func (t *resolver) titled(ctx context.Context, wanted target.Target) ([]*dom.Element, error) {
	if !utf8.ValidString(wanted.Words) || strings.ContainsFunc(wanted.Words, unicode.IsControl) {
		return nil, nil
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(wanted.Words) + `"`
	_, found, err := t.foundInPage(ctx, target.Target{By: target.Selector, Words: "[title=" + quoted + " i]"})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return t.inside(wanted, found), nil
}

// orShown returns, instead of the elements that were found by name, the controls that have exactly the words as visible text or tooltip but
// a different name. It keeps the elements if the name of a control is exactly the words. Controls that show the words among others are
// returned only if no name contains the words.
func (t *resolver) orShown(ctx context.Context, wanted target.Target, found []*dom.Element) ([]*dom.Element, error) {
	words := cmp.Or(wanted.Words, wanted.Name)
	if words == "" || len(found) > 0 && found[0].Kind != dom.Structural && wanted.Fit(found[0]) <= target.Folded {
		return found, nil
	}
	shown, fit, err := t.shown(ctx, target.Target{By: target.Shown, Role: wanted.Role, Words: words, Within: wanted.Within})
	if err != nil || len(shown) == 0 || len(found) > 0 && fit > target.Folded {
		return found, err
	}
	return shown, nil
}

// shown finds controls by visible text other than their names, and returns how well it matches.
func (t *resolver) shown(ctx context.Context, wanted target.Target) ([]*dom.Element, target.Fit, error) {
	finding, found, err := t.foundInPage(ctx, wanted)
	if err != nil || len(found) == 0 {
		return nil, target.Not, err
	}
	return t.inside(wanted, found), finding.Matches[0].Fit, nil
}

// byOtherWords finds the element that a step names by a label that no field has. To check or uncheck, it searches toggles by name, toggles
// by row, and controls by name; then it searches for any field by visible text. Missing is the error for the label.
func (t *resolver) byOtherWords(ctx context.Context, a Step, missing error) (resolved, error) {
	isMeant := target.IsField
	if a.Kind == driver.Check || a.Kind == driver.Uncheck {
		isMeant = func(el *dom.Element) bool { return el.Kind == dom.Interactive }
		for _, find := range []func(context.Context, target.Target) ([]*dom.Element, error){t.toggles, t.inRow, t.controls} {
			if found, err := find(ctx, a.Target); err != nil {
				return resolved{}, err
			} else if len(found) > 0 {
				return t.only(ctx, a.Target, found)
			}
		}
	}
	found, _, err := t.shown(ctx, target.Target{By: target.Shown, Words: a.Target.Words, Within: a.Target.Within, Field: true})
	if err != nil {
		return resolved{}, err
	}
	if found = slices.DeleteFunc(found, func(el *dom.Element) bool { return !isMeant(el) }); len(found) == 0 {
		return resolved{}, missing
	}
	return t.only(ctx, a.Target, found)
}

// toggles finds elements with a checked state by name.
func (t *resolver) toggles(_ context.Context, wanted target.Target) ([]*dom.Element, error) {
	return t.inside(wanted, target.Best(t.elements(), func(el *dom.Element) target.Fit {
		if !target.IsToggle(el) {
			return target.Not
		}
		return target.Compare(el.WholeText(), wanted.Words)
	})), nil
}

// controls finds controls whose name is exactly the words. Only the page knows whether they are toggles.
func (t *resolver) controls(_ context.Context, wanted target.Target) ([]*dom.Element, error) {
	return t.inside(wanted, slices.DeleteFunc(slices.Clone(t.elements()), func(el *dom.Element) bool {
		return el.Kind != dom.Interactive || target.Compare(el.WholeText(), wanted.Words) > target.Folded
	})), nil
}

// inRow finds the checkbox, switch or radio button in the row, item or card that contains the words, if it has no name or shares its name
// with others.
func (t *resolver) inRow(ctx context.Context, wanted target.Target) ([]*dom.Element, error) {
	around := wanted
	around.Within = wanted.Words
	if err := t.readAround(ctx, around); err != nil {
		return nil, err
	}
	type named struct{ role, name string }
	count := map[named]int{}
	for _, el := range t.elements() {
		count[named{el.Role, el.Text}]++
	}
	marks := slices.DeleteFunc(slices.Clone(t.elements()), func(el *dom.Element) bool {
		return el.Role != "checkbox" && el.Role != "switch" && el.Role != "radio" || el.Text != "" && count[named{el.Role, el.Text}] == 1
	})
	return t.inside(wanted, t.inside(around, marks)), nil
}

// foundInPage lets the page resolve a target. It reads the page if results have no ref yet, or refs that the head does not contain.
func (t *resolver) foundInPage(ctx context.Context, wanted target.Target) (finding target.Resolution, found []*dom.Element, err error) {
	if finding, err = t.ask(ctx, wanted); err != nil {
		return finding, nil, err
	}
	refs, unread := finding.Candidates(wanted)
	found, strange := t.present(refs)
	if !unread && !strange {
		return finding, found, nil
	}
	if _, err := t.x.Read(ctx, actor.ReadOptions{}); err != nil {
		return finding, nil, err
	}
	if finding, err = t.ask(ctx, wanted); err != nil {
		return finding, nil, err
	}
	refs, _ = finding.Candidates(wanted)
	found, _ = t.present(refs)
	return finding, found, nil
}

// takesText reports whether a step enters text into a field that its target identifies by a label.
func (a Step) takesText() bool {
	return a.Target.By == target.Label && a.Target.Nth == 0 && (a.Kind == driver.Fill || a.Kind == driver.Type)
}

// byPage lets the page resolve a target to one element. If several fields match, text excludes toggles, which accept no text.
func (t *resolver) byPage(ctx context.Context, wanted target.Target, text bool) (resolved, error) {
	finding, found, err := t.foundInPage(ctx, wanted)
	if err != nil {
		return resolved{}, err
	}
	_, unread := finding.Closest()
	if role, is := wanted.RoleOfFields(); is && len(found) == 0 && finding.Hidden == 0 {
		return t.resolve(ctx, Step{Target: role})
	}
	switch {
	case finding.Invalid:
		return resolved{}, apierr.Errorf(apierr.Invalid, "the browser does not accept the %s: use a CSS selector, such as button.primary", wanted)
	case len(found) == 0 && finding.Inert != "":
		return resolved{}, inertError(wanted, finding)
	case len(found) == 0 && finding.Hidden > 0:
		return resolved{}, &apierr.Error{
			Kind:    apierr.NotActionable,
			Message: wanted.String() + " is not visible (" + finding.HiddenWas + "): scroll to it, or open what hides it",
			Detail:  map[string]string{"cause": "hidden"},
		}
	case len(found) == 0 && unread:
		return resolved{}, apierr.Errorf(apierr.Aborted, "%s changes faster than it can be read: try again", wanted)
	}
	if wanted.Within != "" && len(found) > 0 {
		inside := t.inside(wanted, found)
		if len(inside) == 0 {
			return resolved{}, t.outside(wanted, found)
		}
		refs, _ := finding.Restrict(inside).Closest()
		found, _ = t.present(refs)
	}
	takesNoText := func(el *dom.Element) bool { return target.IsToggle(el) || el.Role == "listbox" }
	if fields := slices.DeleteFunc(slices.Clone(found), takesNoText); text && len(fields) > 0 {
		found = fields
	}
	return t.only(ctx, wanted, found)
}

// inertError returns the error for a target that the page has made inert.
func inertError(wanted target.Target, finding target.Resolution) error {
	return &apierr.Error{
		Kind:    apierr.NotActionable,
		Message: wanted.String() + " is inert, because " + finding.Inert + " has the attribute inert: close the dialog or finish the step that is in front of it",
		Detail:  map[string]string{"cause": "inert"},
	}
}

// ask lets the page resolve a target.
func (t *resolver) ask(ctx context.Context, wanted target.Target) (target.Resolution, error) {
	var out target.Resolution
	err := t.x.Query(ctx, func(ctx context.Context, page driver.Page) (err error) {
		out, err = page.Find(ctx, wanted)
		return err
	})
	return out, err
}

// present returns the elements of refs in document order. strange reports that some are not in the head.
func (t *resolver) present(refs []dom.Ref) (found []*dom.Element, strange bool) {
	if len(refs) == 0 {
		return nil, false
	}
	wanted := make(map[dom.Ref]bool, len(refs))
	for _, ref := range refs {
		wanted[ref] = true
	}
	for el := range t.x.Head().Snapshot.Elements.All() {
		if wanted[el.Ref] {
			found = append(found, el)
		}
	}
	return found, len(found) < len(wanted)
}

// only returns the one element that was found. If there are several, elements behind a modal do not count.
func (t *resolver) only(ctx context.Context, wanted target.Target, found []*dom.Element) (resolved, error) {
	if len(found) > 1 {
		if _, err := t.x.Read(ctx, actor.ReadOptions{Structural: true, Geometry: true}); err != nil {
			return resolved{}, err
		}
		refs := make([]dom.Ref, len(found))
		for i, el := range found {
			refs[i] = el.Ref
		}
		found, _ = t.present(refs)
		if wanted.By == target.Label {
			found = t.withoutParts(found)
		}
		if free := slices.DeleteFunc(slices.Clone(found), func(el *dom.Element) bool { return el.Covered }); len(free) > 0 {
			found = free
		}
	}
	if wanted.Nth != 0 && len(found) > 0 {
		return t.nth(wanted, found)
	}
	switch len(found) {
	case 0:
		if wanted.By == target.Role || wanted.By == target.Text { // other kinds have asked the page
			if finding, err := t.ask(ctx, wanted); err == nil && finding.Inert != "" {
				return resolved{}, inertError(wanted, finding)
			}
		}
		return resolved{}, t.missing(wanted)
	case 1:
		return resolved{ref: found[0].Ref, el: found[0]}, nil
	}
	return resolved{}, t.ambiguous(wanted, found)
}

// withoutParts removes the parts of a combobox that also matches: its search field, and its list, which often has its name. It also removes the
// box with the role of a toggle around the input of that toggle.
func (t *resolver) withoutParts(found []*dom.Element) []*dom.Element {
	isListOf := func(el, field *dom.Element) bool {
		return el.Role == "listbox" && field.States.Expanded == dom.True && el.WholeText() == field.WholeText() && el.Frame == field.Frame
	}
	return slices.DeleteFunc(slices.Clone(found), func(el *dom.Element) bool {
		return slices.ContainsFunc(found, func(field *dom.Element) bool {
			isBoxOf := field.Tag == "input" && field.Ref != el.Ref && target.IsToggle(field) && target.IsToggle(el) && t.within(field, el.Ref)
			return isBoxOf || field.Role == "combobox" && (t.within(el, field.Ref) || isListOf(el, field))
		})
	})
}

// nth returns the matching element with the target's number.
func (t *resolver) nth(wanted target.Target, found []*dom.Element) (resolved, error) {
	at := wanted.Nth - 1
	if wanted.Nth < 0 {
		at = len(found) + wanted.Nth
	}
	if at < 0 || at >= len(found) {
		return resolved{}, &apierr.Error{
			Kind:       apierr.NoMatch,
			Message:    "there is no " + wanted.String() + ": the page has " + number(dom.Ref(len(found))) + " of them: use a number in that range",
			Candidates: found[:min(len(found), maxCandidates)],
		}
	}
	return resolved{ref: found[at].Ref, el: found[at]}, nil
}

// ambiguous returns the error for a target that matches several elements. It lists them with their distinguishing contexts.
func (t *resolver) ambiguous(wanted target.Target, found []*dom.Element) error {
	found = t.controlsAround(found)
	contexts := elementcontext.Distinguish(t.elements(), found)
	return &apierr.Error{
		Kind: apierr.Ambiguous,
		Message: number(dom.Ref(len(found))) + " elements match " + wanted.String() + ": " +
			target.ListWithin(found, contexts, maxCandidates) + "; use the ref of one of them",
		Candidates: found[:min(len(found), maxCandidates)], Contexts: contexts,
	}
}

// controlsAround returns the controls whose whole text the elements are, such as the cells around the numbers of a calendar. It returns the
// elements unchanged if one of them has no such control, or if two have the same control.
func (t *resolver) controlsAround(found []*dom.Element) []*dom.Element {
	controls := make([]*dom.Element, len(found))
	for i, el := range found {
		around := el
		for around != nil && (around.Kind != dom.Interactive || around.Role == "" || around.Role == "generic") {
			if around = t.x.Head().Snapshot.Find(around.Parent); around != nil && around.WholeText() != el.WholeText() {
				around = nil
			}
		}
		if around == nil || slices.Contains(controls, around) {
			return found
		}
		controls[i] = around
	}
	return controls
}

// missing returns the error for a target that matches nothing.
func (t *resolver) missing(wanted target.Target) error {
	if anywhere := wanted; wanted.Within != "" {
		anywhere.Within = ""
		if found := target.Match(anywhere, t.elements()); len(found) > 0 {
			return t.outside(wanted, found)
		}
	}
	e := &apierr.Error{
		Kind: apierr.NoMatch, Message: "nothing on the page matches " + wanted.String(),
		Candidates: target.Nearest(wanted, t.elements(), maxNearest),
	}
	if len(e.Candidates) > 0 {
		e.Message += "; the nearest: " + target.List(e.Candidates, maxNearest)
	}
	e.Message += ": read the page, or wait for it with a wait step"
	return e
}
