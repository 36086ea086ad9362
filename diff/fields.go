package diff

import (
	"maps"
	"slices"
	"strconv"

	"github.com/domtap/domtap/dom"
)

// Field is a field of an element before and after a change. An absent state or parent is an empty string. States are "true", "false" or
// "mixed", and numbers are decimal.
type Field struct {
	// Name is the field's name in message Element of the protocol, such as "checked" or "parent_ref". The name of an attribute has the
	// prefix "attributes.". Two names are for fields that the message does not have: "kind", between kinds that are not actionable, and
	// "child_frame_id".
	Name     string
	Old, New string
}

// Fields returns the fields that differ, in a fixed order. It computes them at each call, because most diffs are sent or
// printed at most once.
func (c Changed) Fields() []Field {
	a, b := c.Old, c.New
	if a.Same(b) {
		return nil
	}
	var f fields
	f.text("tag", a.Tag, b.Tag)
	f.text("role", a.Role, b.Role)
	f.text("text", a.Text, b.Text)
	f.number("text_left", a.Left, b.Left)
	f.text("href", a.Href, b.Href)
	f.text("name", a.Name, b.Name)
	f.text("type", a.Type, b.Type)
	f.text("value", a.Value, b.Value)
	f.number("value_left", a.ValueLeft, b.ValueLeft)
	f.text("placeholder", a.Placeholder, b.Placeholder)
	f.text("frame_id", string(a.Frame), string(b.Frame))
	f.text("parent_ref", parent(a), parent(b))
	f.number("depth", a.Depth, b.Depth)
	f.number("level", a.Level, b.Level)
	f.states(a.States, b.States)
	f.text("hints", a.Hints, b.Hints)
	f.attributes(a.Attributes, b.Attributes)
	f.kind(a.Kind, b.Kind)
	f.text("child_frame_id", string(a.Child), string(b.Child))
	return f
}

type fields []Field

func (f *fields) text(name, old, current string) {
	if old != current {
		*f = append(*f, Field{Name: name, Old: old, New: current})
	}
}

func (f *fields) number(name string, old, current int) {
	if old != current {
		f.text(name, strconv.Itoa(old), strconv.Itoa(current))
	}
}

func (f *fields) states(a, b dom.States) {
	if a == b {
		return
	}
	f.text("checked", a.Checked.String(), b.Checked.String())
	f.text("disabled", a.Disabled.String(), b.Disabled.String())
	f.text("expanded", a.Expanded.String(), b.Expanded.String())
	f.text("selected", a.Selected.String(), b.Selected.String())
	f.text("pressed", a.Pressed.String(), b.Pressed.String())
	f.text("required", a.Required.String(), b.Required.String())
	f.text("readonly", a.Readonly.String(), b.Readonly.String())
	f.text("focused", a.Focused.String(), b.Focused.String())
	f.text("invalid", a.Invalid.String(), b.Invalid.String())
}

// attributes records the attributes that differ, by name. Adding or removing an attribute with an empty value would not be a difference
// between the two strings, so such a value is reported as "(empty)".
func (f *fields) attributes(a, b map[string]string) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		old, had := a[name]
		current, has := b[name]
		if had != has && old == current {
			old, current = emptyIf(had), emptyIf(has)
		}
		f.text("attributes."+name, old, current)
	}
}

func emptyIf(present bool) string {
	if present {
		return "(empty)"
	}
	return ""
}

func parent(e *dom.Element) string {
	if e.Parent == dom.NoRef {
		return ""
	}
	return strconv.FormatUint(uint64(e.Parent), 10)
}

// kind records a change of the kind: as "actionable", which clients know, if one of the two kinds is.
func (f *fields) kind(a, b dom.Kind) {
	if current := b == dom.Interactive; current != (a == dom.Interactive) {
		f.text("actionable", strconv.FormatBool(!current), strconv.FormatBool(current))
		return
	}
	f.text("kind", kind(a), kind(b))
}

func kind(k dom.Kind) string {
	switch k {
	case dom.Interactive:
		return "interactive"
	case dom.Structural:
		return "structural"
	case dom.FrameHost:
		return "frame_host"
	}
	return strconv.Itoa(int(k))
}
