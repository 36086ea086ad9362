// Package steps converts the steps of a request to the actions of a turn. It has no state, and relies on valid requests (package rules).
package steps

import (
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Actions returns the actions of a step in order. It returns none for steps that do not act on the page.
func Actions(s *domtapv1.Step) []driver.Action {
	switch a := s.GetAction().(type) {
	case *domtapv1.Step_Click:
		one := at(driver.Click, a.Click)
		one.Button, one.Modifiers, one.Clicks = a.Click.GetButton(), a.Click.GetModifiers(), max(1, int(a.Click.GetCount()))
		one.Hold = a.Click.GetHold().AsDuration()
		return []driver.Action{one}
	case *domtapv1.Step_DoubleClick:
		one := at(driver.Click, a.DoubleClick)
		one.Clicks = 2
		return []driver.Action{one}
	case *domtapv1.Step_Hover:
		return []driver.Action{at(driver.Hover, a.Hover)}
	case *domtapv1.Step_Type:
		return typing(a.Type)
	case *domtapv1.Step_Fill:
		one := at(driver.Fill, a.Fill)
		one.Text = a.Fill.GetText()
		return []driver.Action{one}
	case *domtapv1.Step_Press:
		one := at(driver.Press, a.Press)
		one.Text, one.Repeat, one.Hold = a.Press.GetKey(), int(a.Press.GetRepeat()), a.Press.GetHold().AsDuration()
		return []driver.Action{one}
	case *domtapv1.Step_Select:
		one := at(driver.Select, a.Select)
		one.Values = a.Select.GetValues()
		return []driver.Action{one}
	case *domtapv1.Step_Check:
		return []driver.Action{at(driver.Check, a.Check)}
	case *domtapv1.Step_Uncheck:
		return []driver.Action{at(driver.Uncheck, a.Uncheck)}
	case *domtapv1.Step_Scroll:
		return []driver.Action{scrolling(a.Scroll)}
	case *domtapv1.Step_Drag:
		return []driver.Action{dragging(a.Drag)}
	case *domtapv1.Step_Upload:
		return []driver.Action{uploading(a.Upload)}
	case *domtapv1.Step_MouseDown:
		one := at(driver.MouseDown, a.MouseDown)
		one.Button, one.Modifiers, one.Hold = a.MouseDown.GetButton(), a.MouseDown.GetModifiers(), a.MouseDown.GetHold().AsDuration()
		return []driver.Action{one}
	case *domtapv1.Step_MouseMove:
		return []driver.Action{moving(a.MouseMove)}
	case *domtapv1.Step_MouseUp:
		return []driver.Action{{Kind: driver.MouseUp, Location: driver.At(dom.NoRef)}}
	}
	return nil
}

// targeted is implemented by steps with a target.
type targeted interface{ GetTarget() *domtapv1.Target }

// at returns the action of a step with its target.
func at(kind driver.ActionKind, s targeted) driver.Action {
	return driver.Action{Kind: kind, Location: Location(s.GetTarget())}
}

// Location returns the element or the point of a target. The result has neither if the target must be resolved first.
func Location(t *domtapv1.Target) driver.Location {
	location := driver.At(dom.NoRef)
	switch {
	case t == nil:
	case t.Ref != nil:
		location.Ref = dom.Ref(t.GetRef())
	case t.X != nil && t.Y != nil:
		location.Point = &driver.Point{X: t.GetX(), Y: t.GetY()}
	}
	return location
}

func scrolling(s *domtapv1.ScrollStep) driver.Action {
	one := at(driver.Scroll, s)
	one.Delta, one.Modifiers = driver.Point{X: s.GetDeltaX(), Y: s.GetDeltaY()}, s.GetModifiers()
	return one
}

func moving(s *domtapv1.MouseMoveStep) driver.Action {
	one := at(driver.MouseMove, s)
	one.Delta, one.Moves, one.Waypoints = driver.Point{X: s.GetDeltaX(), Y: s.GetDeltaY()}, int(s.GetMoves()), locations(s.GetWaypoints())
	return one
}

// Waypoints returns the targets that a step passes, in order.
func Waypoints(s *domtapv1.Step) []*domtapv1.Target {
	if move := s.GetMouseMove(); move != nil {
		return move.GetWaypoints()
	}
	return s.GetDrag().GetWaypoints()
}

func locations(targets []*domtapv1.Target) (out []driver.Location) {
	for _, t := range targets {
		out = append(out, Location(t))
	}
	return out
}

func typing(s *domtapv1.TypeStep) []driver.Action {
	one := at(driver.Type, s)
	one.Text = s.GetText()
	if !s.GetSubmit() {
		return []driver.Action{one}
	}
	enter := at(driver.Press, s)
	enter.Text = "Enter"
	return []driver.Action{one, enter}
}

func dragging(s *domtapv1.DragStep) driver.Action {
	one := at(driver.Drag, s)
	one.Delta, one.Hold = driver.Point{X: s.GetDeltaX(), Y: s.GetDeltaY()}, s.GetHold().AsDuration()
	if s.GetTo() != nil {
		to := Location(s.GetTo())
		one.To = &to
	}
	one.Waypoints = locations(s.GetWaypoints())
	return one
}

func uploading(s *domtapv1.UploadStep) driver.Action {
	one := at(driver.Upload, s)
	one.Paths = s.GetPaths()
	one.Files = Files(s.GetFiles())
	return one
}

// Files converts files for a file input.
func Files(all []*domtapv1.UploadFile) (out []driver.File) {
	for _, f := range all {
		out = append(out, driver.File{Name: f.GetName(), Content: f.GetContent()})
	}
	return out
}
