package script

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/css"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/internal/refs"
)

// locate returns a target for the element of a step that does not use refs. It prefers the caller's own target, then role and name, with
// surrounding text if several elements share these. A non-empty doubt states why the target may match another element. locate returns nil
// if no target describes the element.
func locate(s *domtapv1.TimelineStep, m *moment) (t *domtapv1.Target, doubt string) {
	asked := s.GetTarget()
	if isName(asked) && s.GetKind() != "field" {
		return proto.CloneOf(asked), ""
	}
	if s.Ref != nil {
		el, state := m.element(dom.Ref(s.GetRef()))
		if el != nil {
			if t := name(el, state); t != nil {
				return t, ""
			}
		}
		if el == nil && s.GetName() != "" && !isName(asked) {
			return &domtapv1.Target{Role: s.GetRole(), Name: s.GetName()}, "the recording has no state with this element: others may have its name"
		}
	}
	if isName(asked) {
		return proto.CloneOf(asked), ""
	}
	if asked.GetX() != 0 || asked.GetY() != 0 {
		return &domtapv1.Target{X: asked.X, Y: asked.Y}, ""
	}
	if p := s.GetPoint(); p != nil {
		return &domtapv1.Target{X: proto.Float64(p.GetX()), Y: proto.Float64(p.GetY())}, "nothing tells this element from others: it is named by its place"
	}
	return nil, ""
}

// isName reports whether a target describes its element in a person's words, not by a ref or coordinates.
func isName(t *domtapv1.Target) bool {
	if t == nil || t.Ref != nil || t.X != nil || t.Y != nil {
		return false
	}
	_, isRef := refs.Parse(t.GetWithin())
	return !isRef && (t.GetRole() != "" || t.GetName() != "" || t.GetText() != "" || t.GetLabel() != "" || t.GetPlaceholder() != "" || t.GetTestId() != "" || t.GetSelector() != "")
}

// name returns a target that matches only the given element of a state, or nil if there is none.
func name(el *dom.Element, s *dom.Snapshot) *domtapv1.Target {
	all := s.Elements.Slice()
	role := el.Role
	if role == "" {
		role = el.Tag
	}
	by := target.Target{By: target.Role, Role: role, Name: el.Text}
	if matchesOnly(by, all, el) {
		return &domtapv1.Target{Role: by.Role, Name: by.Name}
	}
	if el.Text == "" && el.Placeholder != "" && isOnly(all, func(o *dom.Element) bool { return o.Placeholder == el.Placeholder }) {
		return &domtapv1.Target{Placeholder: el.Placeholder}
	}
	for _, words := range around(by, all, el) {
		if by.Within = words; matchesOnly(by, all, el) {
			return &domtapv1.Target{Role: by.Role, Name: by.Name, Within: words}
		}
	}
	if el.Name != "" && el.Tag != "" && isOnly(all, func(o *dom.Element) bool { return o.Tag == el.Tag && o.Name == el.Name }) {
		return &domtapv1.Target{Selector: el.Tag + "[name=" + css.String(el.Name) + "]"}
	}
	return nil
}

// isOnly reports whether match returns true for exactly one element.
func isOnly(all []*dom.Element, match func(*dom.Element) bool) bool {
	i := slices.IndexFunc(all, match)
	return i >= 0 && !slices.ContainsFunc(all[i+1:], match)
}

// matchesOnly reports whether a target matches only the given element, by the rules of turns: if several elements match, elements covered
// by a modal do not count.
func matchesOnly(t target.Target, all []*dom.Element, el *dom.Element) bool {
	found := target.Match(t, all)
	if len(found) > 1 {
		if free := slices.DeleteFunc(slices.Clone(found), func(o *dom.Element) bool { return o.Covered }); len(free) > 0 {
			found = free
		}
	}
	return len(found) == 1 && found[0].Ref == el.Ref
}

// around returns texts around an element that may distinguish it from the other matches of a target, best first.
func around(t target.Target, all []*dom.Element, el *dom.Element) (words []string) {
	told, ok := elementcontext.Distinguish(all, target.Match(t, all))[el.Ref]
	if !ok {
		return nil
	}
	whole := strings.TrimSpace(strings.TrimSuffix(told.Words, "…"))
	if whole == "" {
		return nil
	}
	return []string{whole}
}
