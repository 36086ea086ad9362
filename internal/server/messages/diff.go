package messages

import (
	"slices"

	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/elementcontext"
)

// Visible removes changes that messages cannot represent, such as the frame that an element holds. It does not modify d.
func Visible(d diff.Diff) diff.Diff {
	hidden := func(c diff.Changed) bool { return len(fields(c)) == 0 }
	if slices.ContainsFunc(d.Changed, hidden) {
		d.Changed = slices.DeleteFunc(slices.Clone(d.Changed), hidden)
	}
	return d
}

// Diff converts a diff. It lists at most limit entries of each kind; zero means all. The counts always include all entries.
func Diff(d diff.Diff, limit int) *domtapv1.Diff {
	m := &domtapv1.Diff{
		FromRevision: d.From,
		ToRevision:   d.To,
		AddedCount:   int32(len(d.Added)),
		RemovedCount: int32(len(d.Removed)),
		ChangedCount: int32(len(d.Changed)),
	}
	m.Added = added(first(d.Added, limit))
	m.Changed = changes(first(d.Changed, limit))
	for _, r := range first(d.Removed, limit) {
		e := r.Element
		m.Removed = append(m.Removed, &domtapv1.RemovedElement{
			Ref: uint32(e.Ref), Tag: e.Tag, Text: e.Text, Href: e.Href, Name: e.Name,
		})
	}
	for _, v := range first(d.Moved, limit) {
		m.Moved = append(m.Moved, &domtapv1.MovedElement{
			Ref: uint32(v.Element.Ref), FromIndex: int32(v.From), ToIndex: int32(v.To),
		})
	}
	return m
}

// DiffWithin sets the contexts of the added and changed elements of a diff. The diff must not be shared yet.
func DiffWithin(d *domtapv1.Diff, contexts map[dom.Ref]elementcontext.Context) {
	Within(d.GetAdded(), contexts)
	for _, c := range d.GetChanged() {
		Within([]*domtapv1.Element{c.GetElement()}, contexts)
	}
}

func first[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

func added(list []diff.Added) []*domtapv1.Element {
	s := newArena(len(list))
	for _, a := range list {
		s.add(a.Element, a.Index)
	}
	return s.out
}

// changes converts changed elements.
func changes(list []diff.Changed) []*domtapv1.ChangedElement {
	if len(list) == 0 {
		return nil
	}
	out := make([]*domtapv1.ChangedElement, len(list))
	s := newArena(len(list))
	for i, c := range list {
		out[i] = &domtapv1.ChangedElement{
			Ref: uint32(c.New.Ref), Fields: fields(c), Element: s.add(c.New, c.To),
		}
	}
	return out
}

// fields lists the changed fields that the message Element has.
func fields(c diff.Changed) []*domtapv1.FieldChange {
	var out []*domtapv1.FieldChange
	for _, f := range c.Fields() {
		if f.Name != "kind" && f.Name != "child_frame_id" {
			out = append(out, &domtapv1.FieldChange{Field: f.Name, Old: f.Old, New: f.New})
		}
	}
	return out
}
