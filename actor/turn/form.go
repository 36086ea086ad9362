package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// Form is a form that a turn fills in. It remembers the last field that was filled in.
type Form struct{ last dom.Ref }

// NewForm returns a Form without any filled-in field.
func NewForm() *Form { return &Form{last: dom.NoRef} }

// Field describes a field of any kind to fill in.
type Field struct {
	Form *Form
	// Ways are targets for the field, best first. If a target matches nothing, the next one is tried.
	Ways []target.Target
	// Values are the values to set. Only a select, a file input and a group of checkboxes accept several. No value means "true".
	Values []string
	// Type is the required type of the field, such as "select", "checkbox" or "date". If empty, any type is accepted.
	Type string
	// Files returns which of the values, as paths, may be set on a file input.
	Files func(paths []string) ([]string, error)
	// Contents are the files for a file input, used instead of Values.
	Contents []driver.File
}

// name returns the caller's name of the field.
func (f *Field) name() string { return f.Ways[0].String() }

// filler fills in the fields of forms.
type filler struct{ *run }

// fill finds a field, fills it in as its kind requires, and checks its value.
func (t filler) fill(ctx context.Context, f *Field) (Result, error) {
	at, err := t.field(ctx, f)
	if group, is := t.groupInstead(ctx, Step{Target: f.Ways[0]}, err); is {
		at, err = group, nil
	}
	if thumbs := t.thumbsMeant(f, err); thumbs != nil {
		return t.fillAll(ctx, f, resolved{ref: thumbs[0].Ref, el: t.x.Head().Snapshot.Find(thumbs[0].Ref)}, thumbs)
	}
	if dates := t.meant(f, err); len(dates) > 0 {
		return t.fillDates(ctx, f, dates)
	}
	if err != nil {
		return notFilled(ctx, f, driver.DeliveredNone, err)
	}
	return t.fillAt(ctx, f, at)
}

// fillAt fills in a field as its kind requires and checks its value.
func (t filler) fillAt(ctx context.Context, f *Field, at resolved) (Result, error) {
	if dates, err := t.datesIn(ctx, f, at.el); len(dates) > 0 || err != nil {
		if err != nil {
			return notFilled(ctx, f, driver.DeliveredNone, err)
		}
		return t.fillDates(ctx, f, dates)
	}
	if dates := rangeOf(f); dates != nil {
		if end := t.endOf(at.el); end != nil {
			return t.fillRange(ctx, f, at.el, end, dates)
		}
	}
	actions, err := t.actionsFor(f, at)
	if err != nil {
		return notFilled(ctx, f, driver.DeliveredNone, err)
	}
	return t.fillAll(ctx, f, at, actions)
}

// fillAll performs the actions that set a field's values and checks its value.
func (t filler) fillAll(ctx context.Context, f *Field, at resolved, actions []driver.Action) (Result, error) {
	f.Form.last = at.ref
	listed := t.listed()
	var r Result
	var all []FieldRequest
	for i, one := range actions {
		before := t.x.Head().Snapshot.Find(one.Ref)
		done, err := t.perform(ctx, Step{Action: one, found: at.ref != one.Ref || !at.named})
		if err == nil && offersOptions(at.el, f, done.Err) {
			return t.pick(ctx, f, at)
		}
		if err == nil && opensCalendar(at.el, f, done.Err) {
			return t.pickDate(ctx, f, at, done)
		}
		if err == nil && isMovedByKeys(before, done.Err) {
			done, err = t.slide(ctx, before, one.Text, done)
		}
		if err == nil && done.Err == nil && !t.live.Hung() {
			if done.Err = cmp.Or(t.tookBack(one, before, &done), noTag(f, actions, done)); done.Err != nil {
				done.Done, done.Delivered = false, driver.DeliveredPart
			}
		}
		if i > 0 && done.Delivered == driver.DeliveredNone {
			done.Delivered = driver.DeliveredPart // earlier actions have set a part of the values
		}
		all = append(all, done.FieldRequests...)
		if i == 0 || done.Err != nil {
			r = done
		}
		r.FieldRequests = all
		if err != nil || done.Err != nil {
			return r, err
		}
	}
	if len(actions) == 1 && actions[0].Kind == driver.Fill {
		if now := t.x.Head().Snapshot.Find(at.ref); isDateOrTime(f.value()) && (now == nil || now.Role != "combobox" || now.Tag == "input") {
			return t.leaveDate(ctx, actions[0], r, listed)
		}
		return t.pickTyped(ctx, f, at, r, listed)
	}
	return r, nil
}

// performOrDraw performs one action. If the element is a custom widget that needs other actions than its native counterpart, the widget is
// filled in with those.
func (t filler) performOrDraw(ctx context.Context, a Step) (Result, error) {
	f := &Field{Form: NewForm(), Ways: []target.Target{a.Target}, Values: a.Values}
	if whole := (&Field{Values: []string{a.Text}}); a.Kind == driver.Fill && rangeOf(whole) != nil {
		if at, err := t.resolve(ctx, a); err == nil && at.el != nil && t.endOf(at.el) != nil {
			return t.fillRange(ctx, f, at.el, t.endOf(at.el), rangeOf(whole))
		}
	}
	r, err := t.performAndLeave(ctx, a)
	switch {
	case err != nil || r.Err == nil:
		return r, err
	case a.Kind == driver.Fill:
		f.Values = []string{a.Text}
	case a.Kind != driver.Select:
		return r, nil
	}
	at := resolved{ref: r.Ref, el: r.Element}
	switch {
	case apierr.Is(r.Err, apierr.Ambiguous) && a.Kind == driver.Fill:
		return t.fillSeveral(ctx, f, a, r)
	case apierr.Is(r.Err, apierr.NoMatch):
		if group, is := t.group(ctx, a); is {
			return t.fillAt(ctx, f, group)
		}
		return r, nil
	case isHidden(r.Err):
		if group, is := t.groupInstead(ctx, a, r.Err); is {
			return t.fillAt(ctx, f, group)
		}
		return r, nil
	case opensCalendar(at.el, f, r.Err):
		return t.pickDate(ctx, f, at, r)
	case isMovedByKeys(at.el, r.Err):
		return t.slide(ctx, at.el, a.Text, r)
	case offersOptions(at.el, f, r.Err):
		return t.pick(ctx, f, at)
	case isGroup(at.el) && !t.live.Hung():
		return t.fillAt(ctx, f, at)
	}
	return r, nil
}

// fillSeveral fills in several fields that share a label: the fields of a code, the thumbs of a slider, the controls of a group, or the fields
// of dates. It returns refused if the fields are none of these.
func (t filler) fillSeveral(ctx context.Context, f *Field, a Step, refused Result) (Result, error) {
	e, _ := errors.AsType[*apierr.Error](refused.Err)
	if code := spread(e.Candidates, f.value()); code != nil && areBeside(e.Candidates) {
		return t.fillAll(ctx, f, resolved{ref: e.Candidates[0].Ref, el: e.Candidates[0]}, code)
	}
	if thumbs := t.thumbsMeant(f, refused.Err); thumbs != nil {
		return t.fillAll(ctx, f, resolved{ref: e.Candidates[0].Ref, el: e.Candidates[0]}, thumbs)
	}
	if group, is := t.groupInstead(ctx, a, refused.Err); is {
		return t.fillAt(ctx, f, group)
	}
	if dates := t.meant(f, refused.Err); len(dates) > 0 {
		return t.fillDates(ctx, f, dates)
	}
	return refused, nil
}

// group resolves the label of a step to a group of choices or sections, or to another container of controls, the outermost of nested ones.
// If the step has a number, it resolves to the field in the group with that number.
func (t filler) group(ctx context.Context, a Step) (resolved, bool) {
	if a.Target.By != target.Label {
		return resolved{}, false
	}
	nth := a.Target.Nth
	a.Target.By, a.Target.Nth = target.Group, 0
	at, is := t.outermost(ctx, a)
	if at.isContainer = is; !is || nth == 0 {
		return at, is
	}
	fields := slices.DeleteFunc(slices.Clone(t.elements()), func(el *dom.Element) bool { return !target.IsField(el) || !t.within(el, at.ref) })
	a.Target.Nth = nth
	field, err := t.nth(a.Target, fields)
	return field, err == nil
}

// outermost resolves a step to one element, the outermost of nested ones.
func (t filler) outermost(ctx context.Context, a Step) (resolved, bool) {
	at, err := t.resolve(ctx, a)
	if e, ok := errors.AsType[*apierr.Error](err); ok && e.Kind == apierr.Ambiguous { // one inside the other
		outer := e.Candidates[0]
		isOther := func(el *dom.Element) bool { return el != outer && !t.within(el, outer.Ref) }
		return resolved{ref: outer.Ref, el: outer}, !slices.ContainsFunc(e.Candidates, isOther)
	}
	return at, err == nil
}

// groupInstead returns the group that has exactly the label of a step, if the label means several fields or an invisible one.
func (t filler) groupInstead(ctx context.Context, a Step, refused error) (resolved, bool) {
	if !apierr.Is(refused, apierr.Ambiguous) && !isHidden(refused) {
		return resolved{}, false
	}
	group, is := t.group(ctx, a)
	return group, is && target.Compare(group.el.WholeText(), a.Target.Words) <= target.Folded
}

// isHidden reports whether an action failed because its element is not visible.
func isHidden(err error) bool {
	e, ok := errors.AsType[*apierr.Error](err)
	return ok && e.Detail["cause"] == "hidden"
}

// isGroup reports whether an element is a group of choices.
func isGroup(el *dom.Element) bool {
	return el != nil && (el.Role == "radiogroup" || el.Role == "group")
}

// notFilled returns the result for a field that does not hold the requested value.
func notFilled(ctx context.Context, f *Field, delivered driver.Delivered, err error) (Result, error) {
	if fatal(ctx, err) {
		return Result{}, err
	}
	return Result{Err: err, Delivered: delivered, Ref: dom.NoRef, Summary: "fill " + f.name() + ": " + word(driver.DoResult{}, err)}, nil
}

// field resolves the field to one element.
func (t filler) field(ctx context.Context, f *Field) (at resolved, err error) {
	for _, way := range f.Ways {
		at, err = t.resolve(ctx, Step{Action: driver.Action{Location: driver.At(dom.NoRef)}, Target: way})
		if !apierr.Is(err, apierr.NoMatch) {
			at.named, at.isContainer = way.By == target.Ref, way.By == target.Group
			if better, is := t.byPlaceholder(ctx, f, at, err); is {
				return better, nil
			}
			return at, t.narrowed(&at, err, f)
		}
	}
	// Radio buttons and checkboxes can also be named by the name attribute of their group.
	if name := f.Ways[0].Words; f.Ways[0].By == target.Label {
		group := func(el *dom.Element) bool { return isChoice(el) && strings.EqualFold(el.Name, name) }
		if one := slices.IndexFunc(t.elements(), group); one >= 0 {
			el := t.elements()[one]
			return resolved{ref: el.Ref, el: el}, nil
		}
		return at, noField(f.Ways[0], t.elements())
	}
	return at, err
}

// byPlaceholder returns the field whose placeholder is exactly the label of f, if the field found by the label has only a part of it in its
// name.
func (t filler) byPlaceholder(ctx context.Context, f *Field, found resolved, err error) (resolved, bool) {
	if f.Ways[0].By != target.Label || err != nil || found.el == nil || target.Compare(found.el.WholeText(), f.Ways[0].Words) <= target.Folded {
		return resolved{}, false
	}
	wanted := f.Ways[0]
	wanted.By = target.Placeholder
	at, err := t.resolve(ctx, Step{Action: driver.Action{Location: driver.At(dom.NoRef)}, Target: wanted})
	return at, err == nil && target.Compare(at.el.Placeholder, wanted.Words) <= target.Folded && target.Compare(found.el.WholeText(), wanted.Words) < target.Not
}

const (
	// maxFields limits how many fields an error lists. maxFieldName limits the length of each name in characters.
	maxFields    = 12
	maxFieldName = 40
)

// noField returns the error for a field that was not found. It lists the fields of the page.
func noField(wanted target.Target, elements []*dom.Element) error {
	var names []string
	for _, el := range elements {
		if name := fieldName(el); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	here := "; the page has no fields: read it, or wait for them with a wait step"
	if more := len(names) - maxFields; more > 0 {
		names = append(names[:maxFields], "and "+strconv.Itoa(more)+" more")
	}
	if len(names) > 0 {
		here = "; fields here: " + strings.Join(names, ", ") + ": use one of these names, or a ref"
	}
	return &apierr.Error{
		Kind: apierr.NoMatch, Message: "no field called " + target.Quote(wanted.Words) + inWords(wanted) + here, Candidates: target.Nearest(wanted, elements, maxNearest),
	}
}

// fieldName returns a name for a field, or an empty string for other elements.
func fieldName(el *dom.Element) string {
	switch el.Role {
	case "textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider", "checkbox", "radio", "switch":
	default:
		if el.Tag != "input" && el.Tag != "select" && el.Tag != "textarea" || slices.Contains(buttonTypes, el.Type) {
			return ""
		}
	}
	name := cmp.Or(el.Text, el.Placeholder, el.Name, "ref "+strconv.FormatUint(uint64(el.Ref), 10))
	return truncate.Runes(name, maxFieldName)
}

// buttonTypes are the types of inputs that hold no value.
var buttonTypes = []string{"submit", "button", "reset", "image", "hidden"}

// narrowed handles a name that matches a whole group of choices: it resolves to the group's first choice. choose then selects the choice
// with the value.
func (t filler) narrowed(at *resolved, err error, f *Field) error {
	var e *apierr.Error
	if !errors.As(err, &e) || e.Kind != apierr.Ambiguous || len(f.Values) != 1 {
		return err
	}
	for _, el := range e.Candidates {
		if !isChoice(el) || el.Name != e.Candidates[0].Name {
			return err
		}
	}
	*at = resolved{ref: e.Candidates[0].Ref, el: e.Candidates[0]}
	return nil
}

// isChoice reports whether an element is a radio button or a checkbox.
func isChoice(el *dom.Element) bool { return el.Role == "radio" || el.Role == "checkbox" }

// actionsFor returns the actions that set the values of a field.
func (t filler) actionsFor(f *Field, at resolved) ([]driver.Action, error) {
	el := at.el
	if f.Type != "" && !isOfType(el, f.Type) {
		return nil, apierr.Errorf(apierr.NotActionable, "%s is %s, not a %s: leave the type unset, or name another field", f.name(), target.Describe(el), f.Type)
	}
	one := driver.Action{Location: driver.At(el.Ref)}
	switch {
	case el.Tag == "input" && el.Type == "file":
		one.Kind, one.Files = driver.Upload, f.Contents
		if len(f.Contents) == 0 {
			paths, err := f.Files(f.Values)
			if err != nil {
				return nil, err
			}
			one.Paths = paths
		}
	case len(f.Contents) > 0:
		return nil, apierr.Errorf(apierr.Invalid, "%s is %s, which takes no files: name a file input", f.name(), target.Describe(el))
	case el.Tag == "select":
		one.Kind, one.Values = driver.Select, f.Values
	case isGroup(el) || at.isContainer:
		return t.choicesIn(f, el.Ref)
	case isChoice(el) || el.Role == "switch" || el.Role == "menuitemcheckbox" || el.Role == "menuitemradio":
		return t.choose(f, el)
	case len(f.Values) > 1 && (el.Role == "combobox" || el.Role == "listbox"), el.Role == "listbox":
		one.Kind, one.Values = driver.Select, f.Values // the page refuses this, and then the option is picked
	case len(f.Values) > 1 && el.Role == "textbox" && el.Type != "password" && el.Tag != "textarea":
		return tags(f, el), nil
	case len(f.Values) > 1:
		return nil, apierr.Errorf(apierr.Invalid, "%s is %s, which takes one value: give one", f.name(), target.Describe(el))
	default:
		one.Kind, one.Text = driver.Fill, f.value()
	}
	return []driver.Action{one}, nil
}

func (f *Field) value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// isOfType reports whether a field has the type that the caller expects.
func isOfType(el *dom.Element, kind string) bool {
	switch kind = strings.ToLower(kind); kind {
	case el.Tag, el.Role, el.Type:
		return kind != ""
	case "text":
		return el.Role == "textbox" || el.Role == "searchbox" || el.Tag == "textarea" || el.Tag == "input" && el.Role == "combobox"
	case "textarea":
		return el.Role == "textbox" && el.Tag != "input"
	}
	return false
}

// choose checks or unchecks a box, or selects the choices of its group that have the values.
func (t filler) choose(f *Field, el *dom.Element) ([]driver.Action, error) {
	if len(f.Values) <= 1 {
		switch value := strings.ToLower(f.value()); {
		case value == "" || slices.Contains([]string{"true", "yes", "on", "checked"}, value), target.Compare(el.WholeText(), f.value()) <= target.Folded:
			return []driver.Action{{Kind: driver.Check, Location: driver.At(el.Ref)}}, nil
		case slices.Contains([]string{"false", "no", "off", "unchecked"}, value):
			return []driver.Action{{Kind: driver.Uncheck, Location: driver.At(el.Ref)}}, nil
		}
	}
	if el.Name == "" {
		return nil, apierr.Errorf(apierr.Invalid, "%s is %s: its value must be true or false", f.name(), target.Describe(el))
	}
	return t.choices(f, func(c *dom.Element) bool { return c.Role == el.Role && c.Name == el.Name && c.Frame == el.Frame })
}

// choicesIn selects the choices in a group that have the values: radio buttons and checkboxes, or else other elements to click, such as
// stars.
func (t filler) choicesIn(f *Field, group dom.Ref) ([]driver.Action, error) {
	inside := func(el *dom.Element) bool { return t.within(el, group) }
	all := t.elements()
	if slices.ContainsFunc(all, func(el *dom.Element) bool { return isChoice(el) && inside(el) }) {
		return t.choices(f, inside)
	}
	pressed := slices.DeleteFunc(slices.Clone(all), func(el *dom.Element) bool { return el.Kind != dom.Interactive || !inside(el) })
	if thumbs := thumbs(pressed, f.Values); thumbs != nil {
		return thumbs, nil
	}
	if code := spread(pressed, f.value()); code != nil && len(f.Values) == 1 {
		return code, nil
	}
	one := marked(pressed, f.value())
	if one == nil || len(f.Values) != 1 {
		what := " is a group without radio buttons or checkboxes; click the element for the value: "
		if isOther := func(el *dom.Element) bool { return el.Role != "slider" }; len(pressed) > 1 && !slices.ContainsFunc(pressed, isOther) {
			what = " has " + strconv.Itoa(len(pressed)) + " sliders; give as many numbers, such as 20-80, or fill one of them: "
		}
		return nil, &apierr.Error{Kind: apierr.NoMatch, Candidates: pressed[:min(len(pressed), maxCandidates)], Message: f.name() + what + target.List(pressed, maxCandidates)}
	}
	return []driver.Action{click(one.Ref)}, nil
}

// areBeside reports whether elements are all in one parent, as the fields of a code are. Equal fields of several rows are not.
func areBeside(all []*dom.Element) bool {
	return len(all) < maxCandidates && !slices.ContainsFunc(all, func(el *dom.Element) bool { return el.Parent != all[0].Parent || el.Frame != all[0].Frame })
}

// minCode is the minimum length of a code that is entered in fields of one character each.
const minCode = 3

// spread enters the characters of a code in as many fields, one per field. It returns nil if the fields do not match the code.
func spread(fields []*dom.Element, code string) []driver.Action {
	characters := []rune(strings.NewReplacer(" ", "", "-", "").Replace(code))
	fields = slices.DeleteFunc(slices.Clone(fields), func(el *dom.Element) bool { return el.Role == "button" || el.Role == "link" })
	if len(characters) < minCode || len(fields) != len(characters) {
		return nil
	}
	actions := make([]driver.Action, len(fields))
	for i, el := range fields {
		if el.Tag != "input" || el.Role != "textbox" && el.Role != "spinbutton" {
			return nil
		}
		actions[i] = driver.Action{Kind: driver.Fill, Location: driver.At(el.Ref), Text: string(characters[i])}
	}
	return actions
}

// marked returns the element whose name is a value. If there is none, and the elements form a scale without words, such as stars, it
// returns the element with that number. It returns nil if the result is ambiguous.
func marked(pressed []*dom.Element, value string) *dom.Element {
	found := target.Best(pressed, func(el *dom.Element) target.Fit { return target.Compare(el.WholeText(), value) })
	if len(found) == 1 {
		return found[0]
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > len(pressed) || !isScale(pressed) {
		return nil
	}
	return pressed[n-1]
}

// isScale reports whether there are three or more elements of the same kind without letters or digits, and with at most two different
// texts. A minus and a plus button beside a number are not a scale.
func isScale(all []*dom.Element) bool {
	signs := map[string]bool{}
	for _, el := range all {
		signs[el.WholeText()] = true
		words := strings.ContainsFunc(el.WholeText(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if words || el.Tag != all[0].Tag || el.Role != all[0].Role {
			return false
		}
	}
	return len(all) >= 3 && len(signs) <= 2
}

// choices selects the members of a group that have the values. Other checkboxes of the group are cleared.
func (t filler) choices(f *Field, member func(*dom.Element) bool) ([]driver.Action, error) {
	group := slices.DeleteFunc(slices.Clone(t.elements()), func(el *dom.Element) bool { return !isChoice(el) || !member(el) })
	var actions []driver.Action
	for _, value := range f.Values {
		found := choicesOf(group, value)
		if len(found) != 1 {
			return nil, &apierr.Error{Kind: apierr.NoMatch, Candidates: group[:min(len(group), maxCandidates)],
				Message: f.name() + " has no single choice " + strconv.Quote(value) + "; its choices: " + target.List(group, maxCandidates)}
		}
		action := driver.Action{Kind: driver.Check, Location: driver.At(found[0].Ref)}
		if isBelowChecked(group, found[0]) {
			action = click(found[0].Ref)
		}
		actions = append(actions, action)
	}
	for _, el := range group {
		wanted := slices.ContainsFunc(actions, func(a driver.Action) bool { return a.Ref == el.Ref })
		if !wanted && el.Role == "checkbox" && len(actions) > 0 {
			actions = append(actions, driver.Action{Kind: driver.Uncheck, Location: driver.At(el.Ref)})
		}
	}
	if len(actions) == 0 {
		return nil, apierr.Errorf(apierr.Invalid, "%s is a group: name one of its choices: %s", f.name(), target.List(group, maxCandidates))
	}
	return actions, nil
}

// choicesOf returns the choices that match a value: by name, or by number on a scale of radio buttons that all have the same name.
func choicesOf(group []*dom.Element, value string) []*dom.Element {
	isOther := func(el *dom.Element) bool { return el.Role != "radio" || el.WholeText() != group[0].WholeText() }
	if n, err := strconv.Atoi(value); err == nil && n >= 1 && n <= len(group) && len(group) > 2 && !slices.ContainsFunc(group, isOther) {
		return group[n-1 : n]
	}
	return target.Best(group, func(el *dom.Element) target.Fit { return target.Compare(el.WholeText(), value) })
}

// isBelowChecked reports whether a radio button and a later one of its group are both checked, as the stars of a rating up to its value are.
func isBelowChecked(group []*dom.Element, el *dom.Element) bool {
	isChecked := func(one *dom.Element) bool { return one.Role == "radio" && one.States.Checked == dom.True }
	return isChecked(el) && slices.ContainsFunc(group[slices.Index(group, el)+1:], isChecked)
}

// tookBack returns an error if a field does not hold the text that was filled in, because pages with controlled fields may reset them. A
// page may also reformat the text; that is not an error, but is added to the summary.
func (t filler) tookBack(a driver.Action, before *dom.Element, r *Result) error {
	now := t.x.Head().Snapshot.Find(a.Ref)
	if a.Kind != driver.Fill || now == nil || before == nil || len(r.FieldRequests) == 0 { // the summary reports another outcome
		return nil
	}
	wanted := strings.Join(strings.Fields(a.Text), " ")
	if kept, isCut := strings.CutSuffix(now.Value, "…"); now.Value == wanted || isCut && strings.HasPrefix(wanted, kept) || isMask(now.Value) {
		return nil
	}
	if now.Value == before.Value || now.Value == "" {
		return apierr.Errorf(apierr.NotActionable, "the page did not accept %s: the field holds %s; type the text with a type step, or read the page for the format it expects",
			strconv.Quote(truncate.Runes(a.Text, text.Long)), strconv.Quote(now.Value))
	}
	if holds := ", holds " + strconv.Quote(now.Value); !strings.HasSuffix(r.Summary, holds) { // the page may have said so already
		r.Summary += holds
	}
	r.FieldRequests = []FieldRequest{{Kind: driver.Fill, Element: now, Text: now.Value}}
	return nil
}

// wasDropped reports whether a field that was filled in before the last one is empty now, and its text is nowhere on the page: the page has
// dropped it, for example because it was not chosen from a list. The result then says so.
func (t *run) wasDropped(ctx context.Context, r *Result) bool {
	if r.Err != nil || r.Element == nil || len(r.FieldRequests) != 1 || r.FieldRequests[0].Kind != driver.Fill || t.live.Hung() || t.x.Ready() != nil {
		return false
	}
	filled := r.FieldRequests[0].Text
	now := t.x.Head().Snapshot.Find(r.Ref)
	isShown := func(el *dom.Element) bool { return target.Compare(wordsOf(el), filled) <= target.Worded }
	if filled == "" || now == nil || now.Value != "" || t.readStructure(ctx) != nil || slices.ContainsFunc(t.elements(), isShown) {
		return false // a chip may show it
	}
	r.Err = &apierr.Error{Kind: apierr.NotActionable, Detail: map[string]string{"ref": number(r.Ref), "cause": "reset"},
		Message: "the page dropped " + target.Quote(filled) + " when the focus left the field: choose an option of its list, or read the page for what it accepts"}
	r.Done, r.Delivered, r.FieldRequests = false, driver.DeliveredPart, nil
	r.Summary = summarize(driver.Action{Kind: driver.Fill, Location: driver.At(r.Ref)}, r.Element) + ": " + word(driver.DoResult{}, r.Err)
	return true
}

// isMask reports whether a value is masked.
func isMask(value string) bool { return value != "" && strings.Trim(value, "•") == "" }

// submit submits the form as a person would: with its button, or with Enter in the last filled-in field.
func (t filler) submit(ctx context.Context, f *Form) (Result, error) {
	at, err := t.resolve(ctx, Step{Action: driver.Action{Location: driver.At(dom.NoRef)}, Target: target.Target{By: target.Submitter, Ref: f.last}})
	switch {
	case err == nil:
		return t.perform(ctx, Step{Action: click(at.ref), found: true})
	case apierr.Is(err, apierr.NoMatch):
		return t.perform(ctx, Step{Action: driver.Action{Kind: driver.Press, Location: driver.At(f.last), Text: "Enter"}, found: true})
	case fatal(ctx, err):
		return Result{}, err
	}
	return Result{Err: err, Delivered: driver.DeliveredNone, Ref: dom.NoRef, Summary: "submit: " + word(driver.DoResult{}, err)}, nil
}
