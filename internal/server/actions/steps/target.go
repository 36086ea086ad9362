package steps

import (
	"cmp"

	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TargetOf returns the target of a valid step. It returns the empty target for steps without a target and for points, which are part of the
// action.
func TargetOf(step *domtapv1.Step) target.Target {
	targeted, ok := ActionIn(step).(interface{ GetTarget() *domtapv1.Target })
	if !ok {
		return target.Target{}
	}
	return Target(targeted.GetTarget())
}

// ActionIn returns the message of a step's action.
func ActionIn(step *domtapv1.Step) any {
	m := step.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("action"))
	if field == nil {
		return nil
	}
	return m.Get(field).Message().Interface()
}

// Target converts a target. It returns the empty target for nil and for points.
func Target(t *domtapv1.Target) target.Target {
	out := named(t)
	if out.By != target.None {
		out.Within, out.Nth = t.GetWithin(), int(t.GetNth())
	}
	return out
}

// named converts a target without its surroundings.
func named(t *domtapv1.Target) target.Target {
	switch {
	case t == nil:
		return target.Target{}
	case t.Ref != nil:
		return target.Target{By: target.Ref, Ref: dom.Ref(t.GetRef())}
	case t.GetRole() != "" || t.GetName() != "":
		return target.Target{By: target.Role, Role: t.GetRole(), Name: cmp.Or(t.GetName(), t.GetText())}
	case t.GetText() != "":
		return target.Target{By: target.Text, Words: t.GetText()}
	case t.GetLabel() != "":
		return target.Target{By: target.Label, Words: t.GetLabel()}
	case t.GetPlaceholder() != "":
		return target.Target{By: target.Placeholder, Words: t.GetPlaceholder()}
	case t.GetTestId() != "":
		return target.Target{By: target.TestID, Words: t.GetTestId()}
	case t.GetSelector() != "":
		return target.Target{By: target.Selector, Words: t.GetSelector()}
	}
	return target.Target{}
}
