package script

import (
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// mousePart is a mouse step, or a key press during mouse steps, in an order of the kind "mouse". All parts of an order run in one turn.
type mousePart struct {
	kind string
	// place is the position of the step. If nil, the step happens at the current pointer position.
	place *domtapv1.Target
	// flagged reports that flags of the command already contain the place, so words omits it.
	flagged bool
	step    *domtapv1.TimelineStep
}

// mouse appends a mouse step to the earlier mouse steps of the turn.
func (b *builder) mouse(s *domtapv1.TimelineStep, m *moment) {
	for _, waypoint := range s.GetMouseMove().GetWaypoints() {
		if waypoint.X == nil {
			b.holding = false
			b.say("not done: %s: its waypoints are not in the recording by name", s.GetSummary())
			return
		}
	}
	part := mousePart{kind: s.GetKind(), step: s}
	if s.GetTarget() != nil {
		var doubt string
		if part.place, doubt = locate(s, m); doubt != "" {
			b.say("%s", doubt)
		}
	}
	if !b.holding {
		if s.GetKind() != "mouse_down" {
			b.say("not done: %s: what it goes with is not in the recording", s.GetSummary())
			return
		}
		b.add(order{kind: "mouse"})
		b.holding = true
	}
	o := &b.out.orders[len(b.out.orders)-1]
	if part.place != nil && part.place.X == nil {
		switch {
		case o.target == nil && isFirstPlace(o.mouse):
			o.target, part.flagged = part.place, true
		case s.GetPoint() != nil:
			part.place = &domtapv1.Target{X: &s.GetPoint().X, Y: &s.GetPoint().Y}
		default:
			b.say("not done: %s: nothing but a ref names the element in the recording", s.GetSummary())
			b.holding = false
			return
		}
	}
	o.mouse = append(o.mouse, part)
	b.holding = s.GetKind() != "mouse_up"
}

// isFirstPlace reports whether every mouse_down and mouse_move so far has its own place. A target in flags would also apply to the steps
// without their own place.
func isFirstPlace(parts []mousePart) bool {
	for _, p := range parts {
		if p.place == nil && (p.kind == "mouse_down" || p.kind == "mouse_move") {
			return false
		}
	}
	return true
}

// words returns the arguments for the step in the command.
func (p mousePart) words() string {
	place := ""
	if p.place != nil && !p.flagged {
		place = " " + at(p.place)
	}
	switch move := p.step.GetMouseMove(); p.kind {
	case "mouse_down":
		return "down" + place
	case "mouse_move":
		var b strings.Builder
		b.WriteString("move")
		for _, waypoint := range move.GetWaypoints() {
			b.WriteString(" " + at(waypoint))
		}
		b.WriteString(place)
		if move.GetDeltaX() != 0 || move.GetDeltaY() != 0 {
			b.WriteString(" by " + number(move.GetDeltaX()) + "," + number(move.GetDeltaY()))
		}
		return b.String()
	case "press":
		return "press " + p.step.GetKey()
	}
	return "up"
}

func at(t *domtapv1.Target) string { return number(t.GetX()) + "," + number(t.GetY()) }

// mousing returns the mouse command of an order.
func (o order) mousing() string {
	line := "domtap mouse" + flags(o.target)
	for _, p := range o.mouse {
		if how := p.step.GetMouseDown(); how != nil {
			line += clicking(&domtapv1.ClickStep{Button: how.GetButton(), Modifiers: how.GetModifiers(), Hold: how.GetHold()})
		}
	}
	for _, p := range o.mouse {
		line += " " + shellWord(p.words())
	}
	return line
}

// goMouse returns the Go statement for the mouse steps.
func (o order) goMouse() string {
	var steps []string
	for _, p := range o.mouse {
		place := "nil"
		if p.place != nil {
			place = goTarget(p.place)
		}
		move := p.step.GetMouseMove()
		switch p.kind {
		case "mouse_down":
			step := "client.MouseDown(" + place + ")"
			for _, key := range p.step.GetMouseDown().GetModifiers() {
				step = "client.WithKeys(" + step + ", " + goString(key) + ")"
			}
			steps = append(steps, step)
		case "mouse_move":
			if p.place != nil {
				args := []string{place}
				for _, waypoint := range move.GetWaypoints() {
					args = append(args, goTarget(waypoint))
				}
				steps = append(steps, "client.MouseMove("+strings.Join(args, ", ")+")")
			}
			if move.GetDeltaX() != 0 || move.GetDeltaY() != 0 {
				steps = append(steps, "client.MouseMoveBy("+number(move.GetDeltaX())+", "+number(move.GetDeltaY())+")")
			}
		case "press":
			steps = append(steps, "client.Press("+goString(p.step.GetKey())+")")
		default:
			steps = append(steps, "client.MouseUp()")
		}
	}
	if down := o.mouse[0].step.GetMouseDown(); down.GetButton() == "right" || down.GetButton() == "middle" {
		return "// not done: a press of the " + down.GetButton() + " button"
	}
	made := act(strings.Join(steps, ", "))
	if hold := o.mouse[0].step.GetMouseDown().GetHold(); hold != nil {
		made = "// not done: the button was held for " + hold.AsDuration().String() + " before the next step\n" + made
	}
	return made
}
