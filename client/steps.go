package client

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// These functions return the targets and all steps, with the options that most programs need. Package domtapv1 has the other options.

// Ref targets the element with a ref.
func Ref(ref uint32) *domtapv1.Target { return &domtapv1.Target{Ref: &ref} }

// Named targets the element with an ARIA role and an accessible name: Named("button", "Pay now").
func Named(role, name string) *domtapv1.Target { return &domtapv1.Target{Role: role, Name: name} }

// Label targets the field with a label.
func Label(label string) *domtapv1.Target { return &domtapv1.Target{Label: label} }

// Selector targets the element that matches a CSS selector.
func Selector(css string) *domtapv1.Target { return &domtapv1.Target{Selector: css} }

// Text targets the element whose visible text contains text.
func Text(text string) *domtapv1.Target { return &domtapv1.Target{Text: text} }

// Placeholder targets the field with a placeholder.
func Placeholder(text string) *domtapv1.Target { return &domtapv1.Target{Placeholder: text} }

// TestID targets the element with a data-testid, data-test-id, data-test or data-cy attribute.
func TestID(id string) *domtapv1.Target { return &domtapv1.Target{TestId: id} }

// At targets the point at x and y in CSS pixels of the viewport.
func At(x, y float64) *domtapv1.Target { return &domtapv1.Target{X: &x, Y: &y} }

// Within narrows a target by its surroundings: a text of its row, card, group, form or dialog, the heading above it, or a role:
// Within(Named("button", "Delete"), "Ada"). It returns a new target. It does not work with At.
func Within(t *domtapv1.Target, around string) *domtapv1.Target {
	t = proto.CloneOf(t)
	t.Within = around
	return t
}

// Click clicks an element.
func Click(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t}}}
}

// Fill replaces the value of a field.
func Fill(t *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: t, Text: text}}}
}

// Press presses a key, such as Enter or Control+a.
func Press(key string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: key}}}
}

// HoldKey presses a key such as ArrowRight, holds it for at most 10 seconds, and releases it. The key repeats while it is held.
func HoldKey(key string, d time.Duration) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: key, Hold: durationpb.New(d)}}}
}

// Select selects options of a select by their values or labels, and deselects the others.
func Select(t *domtapv1.Target, options ...string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: t, Values: options}}}
}

// Check checks a checkbox, radio button or switch.
func Check(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: t}}}
}

// Uncheck unchecks a checkbox or switch.
func Uncheck(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: t}}}
}

// DoubleClick clicks an element twice.
func DoubleClick(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: t}}}
}

// ClickTimes clicks an element 1 to 3 times. Two clicks are a double click, and three select a paragraph.
func ClickTimes(t *domtapv1.Target, count int32) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Count: count}}}
}

// RightClick clicks an element with the right button, for example to open a context menu.
func RightClick(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Button: "right"}}}
}

// Hold presses the button on an element, holds it for at most 10 seconds, and releases it.
func Hold(t *domtapv1.Target, d time.Duration) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Hold: durationpb.New(d)}}}
}

// WithKeys returns a copy of a step that clicks, presses a mouse button or turns the wheel, with modifier keys held during the step: Alt,
// Control, Meta or Shift. Other steps are returned unchanged.
func WithKeys(step *domtapv1.Step, keys ...string) *domtapv1.Step {
	step = proto.CloneOf(step)
	if click := step.GetClick(); click != nil {
		click.Modifiers = append(click.Modifiers, keys...)
	}
	if down := step.GetMouseDown(); down != nil {
		down.Modifiers = append(down.Modifiers, keys...)
	}
	if scroll := step.GetScroll(); scroll != nil {
		scroll.Modifiers = append(scroll.Modifiers, keys...)
	}
	return step
}

// Hover moves the pointer over an element.
func Hover(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: t}}}
}

// Type types a text after the existing text of a field, key by key. If t is nil, the text goes to the focused element, or to the document.
func Type(t *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: t, Text: text}}}
}

// ScrollTo scrolls an element into view.
func ScrollTo(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: t}}}
}

// ScrollBy turns the mouse wheel over an element by x and y CSS pixels, each from -100,000 to 100,000. If t is nil, it scrolls the page.
func ScrollBy(t *domtapv1.Target, x, y float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: t, DeltaX: x, DeltaY: y}}}
}

// Drag drags an element to the center of another one.
func Drag(t, to *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: t, To: to}}}
}

// DragBy drags an element by x and y CSS pixels, each from -100,000 to 100,000.
func DragBy(t *domtapv1.Target, x, y float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: t, DeltaX: x, DeltaY: y}}}
}

// MouseDown presses the left button on an element and keeps it down for the next steps of the same turn. If t is nil, it presses at the
// current pointer position. A button that is still down at the end of the turn is released.
func MouseDown(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: t}}}
}

// MouseMove moves the pointer to an element or a point, in straight lines through waypoints.
func MouseMove(t *domtapv1.Target, waypoints ...*domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: t, Waypoints: waypoints}}}
}

// MouseMoveBy moves the pointer by x and y CSS pixels from its position after an earlier step of the same turn.
func MouseMoveBy(x, y float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{DeltaX: x, DeltaY: y}}}
}

// MouseUp releases the button that MouseDown pressed.
func MouseUp() *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}
}

// Upload passes files of this program, at most 4 MiB in total, to a file input or to the input that a button opens. UploadStep also accepts
// paths on the daemon's machine.
func Upload(t *domtapv1.Target, files ...*domtapv1.UploadFile) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: t, Files: files}}}
}

// File returns a file for Upload, with a name without a path, and its content.
func File(name string, content []byte) *domtapv1.UploadFile {
	return &domtapv1.UploadFile{Name: name, Content: content}
}

// WaitUntil waits at most 10 s, within the turn, until a condition holds. WaitStep has a timeout field.
func WaitUntil(until *domtapv1.WaitCondition) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{Until: until}}}
}

// ReadText reads the page as text within the turn. The text is in the step's result.
func ReadText() *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}
}

// TakeScreenshot takes a PNG of the viewport within the turn. The image is in the step's result.
func TakeScreenshot() *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{}}}
}

// GoBack goes back in the history, within the turn.
func GoBack() *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}
}
