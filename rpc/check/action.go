package check

import (
	"fmt"
	"slices"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const stepsThatWork = "use click, double_click, hover, type, fill, press, scroll or wait"

func (c *collector) interact(r *domtapv1.InteractRequest) {
	c.tabID(r.GetTabId())
	if r.GetUrl() != "" {
		c.url("url", r.GetUrl())
	}
	steps := r.GetSteps()
	c.want(len(steps) > 0 || r.GetUrl() != "", "steps", "must have a step, or url must be set")
	c.want(len(steps) <= maxSteps, "steps", fmt.Sprintf("must have at most %d steps", maxSteps))
	for i, step := range steps {
		c.step(fmt.Sprintf("steps[%d]", i), step)
	}
}

func (c *collector) step(at string, s *domtapv1.Step) {
	switch a := s.GetAction().(type) {
	case nil:
		c.want(false, at, "must have an action, such as click")
	case *domtapv1.Step_Click:
		c.click(at+".click", a.Click)
	case *domtapv1.Step_DoubleClick:
		c.target(at+".double_click.target", a.DoubleClick.GetTarget())
	case *domtapv1.Step_Hover:
		c.target(at+".hover.target", a.Hover.GetTarget())
	case *domtapv1.Step_Type:
		c.target(at+".type.target", a.Type.GetTarget())
		c.text(at+".type.text", a.Type.GetText())
	case *domtapv1.Step_Fill:
		c.target(at+".fill.target", a.Fill.GetTarget())
		c.text(at+".fill.text", a.Fill.GetText())
	case *domtapv1.Step_Press:
		c.press(at+".press", a.Press)
	case *domtapv1.Step_Scroll:
		c.scroll(at+".scroll", a.Scroll)
	case *domtapv1.Step_Wait:
		c.waitStep(at+".wait", a.Wait)
	default:
		oneof := s.ProtoReflect().Descriptor().Oneofs().ByName("action")
		field := s.ProtoReflect().WhichOneof(oneof)
		c.unsupported(fmt.Sprintf("%s.%s", at, field.Name()), stepsThatWork)
	}
}

func (c *collector) click(at string, s *domtapv1.ClickStep) {
	c.target(at+".target", s.GetTarget())
	c.want(slices.Contains([]string{"", "left", "middle", "right"}, s.GetButton()),
		at+".button", "must be left, middle or right")
	for i, name := range s.GetModifiers() {
		c.want(slices.Contains([]string{"Alt", "Control", "Meta", "Shift"}, name),
			fmt.Sprintf("%s.modifiers[%d]", at, i), "must be Alt, Control, Meta or Shift")
	}
}

func (c *collector) press(at string, s *domtapv1.PressStep) {
	key := s.GetKey()
	c.want(key != "" && len(key) <= maxID, at+".key", "must be a key, such as Enter or Control+a")
	if s.GetTarget() != nil {
		c.target(at+".target", s.GetTarget())
	}
}

func (c *collector) scroll(at string, s *domtapv1.ScrollStep) {
	if s.GetDeltaX() != 0 || s.GetDeltaY() != 0 {
		c.unsupported(at+".delta_x and delta_y", "give a target with a ref, which is scrolled into view")
		return
	}
	c.target(at+".target", s.GetTarget())
}

// target checks that the target names one element, and that it does so by ref.
func (c *collector) target(at string, t *domtapv1.Target) {
	set := targetWays(t)
	if !c.want(len(set) == 1, at, "must name the element in exactly one way, such as {\"ref\": 12}") {
		return
	}
	c.ref(at+".ref", t.Ref)
	if set[0] != "ref" {
		c.unsupported(at+"."+set[0], "give the element's ref, from GetDom or GetCompact")
	}
}

// targetWays lists the ways in which a target names its element. role goes with name, x with y.
func targetWays(t *domtapv1.Target) []string {
	var set []string
	add := func(is bool, name string) {
		if is {
			set = append(set, name)
		}
	}
	add(t != nil && t.Ref != nil, "ref")
	add(t.GetRole() != "" || t.GetName() != "", "role")
	add(t.GetText() != "", "text")
	add(t.GetLabel() != "", "label")
	add(t.GetPlaceholder() != "", "placeholder")
	add(t.GetTestId() != "", "test_id")
	add(t.GetSelector() != "", "selector")
	add(t != nil && (t.X != nil || t.Y != nil), "x")
	return set
}

func (c *collector) text(at, text string) {
	c.want(utf8.RuneCountInString(text) <= maxText, at, "must have at most 100000 characters")
}
