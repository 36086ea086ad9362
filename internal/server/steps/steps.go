// Package steps converts the steps of a request to the actions of a turn. It is pure, and relies on the
// checks of package check.
package steps

import (
	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Actions returns the actions of a step, in order; none for steps that do not act on the page.
func Actions(s *domtapv1.Step) []actor.Action {
	switch a := s.GetAction().(type) {
	case *domtapv1.Step_Click:
		one := at(actor.Click, a.Click)
		one.Button, one.Modifiers, one.Clicks = a.Click.GetButton(), a.Click.GetModifiers(), 1
		return []actor.Action{one}
	case *domtapv1.Step_DoubleClick:
		one := at(actor.Click, a.DoubleClick)
		one.Clicks = 2
		return []actor.Action{one}
	case *domtapv1.Step_Hover:
		return []actor.Action{at(actor.Hover, a.Hover)}
	case *domtapv1.Step_Type:
		return typing(a.Type)
	case *domtapv1.Step_Fill:
		one := at(actor.Fill, a.Fill)
		one.Text = a.Fill.GetText()
		return []actor.Action{one}
	case *domtapv1.Step_Press:
		one := at(actor.Press, a.Press)
		one.Text, one.Repeat = a.Press.GetKey(), int(a.Press.GetRepeat())
		return []actor.Action{one}
	case *domtapv1.Step_Select:
		one := at(actor.Select, a.Select)
		one.Values = a.Select.GetValues()
		return []actor.Action{one}
	case *domtapv1.Step_Check:
		return []actor.Action{at(actor.Check, a.Check)}
	case *domtapv1.Step_Uncheck:
		return []actor.Action{at(actor.Uncheck, a.Uncheck)}
	case *domtapv1.Step_Scroll:
		return []actor.Action{scrolling(a.Scroll)}
	case *domtapv1.Step_Drag:
		return []actor.Action{dragging(a.Drag)}
	case *domtapv1.Step_Upload:
		return []actor.Action{uploading(a.Upload)}
	}
	return nil
}

// targeted is a step that has a target.
type targeted interface{ GetTarget() *domtapv1.Target }

// at makes the action of a step with its target.
func at(kind actor.ActionKind, s targeted) actor.Action {
	spot := Spot(s.GetTarget())
	return actor.Action{Kind: kind, Ref: spot.Ref, Point: spot.Point}
}

// Spot returns the element or the point of a target; neither for a target that must be resolved.
func Spot(t *domtapv1.Target) actor.Spot {
	spot := actor.Spot{Ref: dom.NoRef}
	switch {
	case t == nil:
	case t.Ref != nil:
		spot.Ref = dom.Ref(t.GetRef())
	case t.X != nil && t.Y != nil:
		spot.Point = &actor.Point{X: t.GetX(), Y: t.GetY()}
	}
	return spot
}

func scrolling(s *domtapv1.ScrollStep) actor.Action {
	one := at(actor.Scroll, s)
	one.Delta = actor.Point{X: s.GetDeltaX(), Y: s.GetDeltaY()}
	return one
}

func typing(s *domtapv1.TypeStep) []actor.Action {
	one := at(actor.Type, s)
	one.Text = s.GetText()
	if !s.GetSubmit() {
		return []actor.Action{one}
	}
	enter := at(actor.Press, s)
	enter.Text = "Enter"
	return []actor.Action{one, enter}
}

func dragging(s *domtapv1.DragStep) actor.Action {
	one := at(actor.Drag, s)
	one.Delta = actor.Point{X: s.GetDeltaX(), Y: s.GetDeltaY()}
	if s.GetTo() != nil {
		to := Spot(s.GetTo())
		one.To = &to
	}
	return one
}

func uploading(s *domtapv1.UploadStep) actor.Action {
	one := at(actor.Upload, s)
	one.Paths = s.GetPaths()
	for _, f := range s.GetFiles() {
		one.Files = append(one.Files, actor.File{Name: f.GetName(), Content: f.GetContent()})
	}
	return one
}
