package client

import domtapv1 "github.com/domtap/domtap/gen/domtap/v1"

// The steps and targets that most programs need. Package domtapv1 has the others.

// Ref is the element with a ref.
func Ref(ref uint32) *domtapv1.Target { return &domtapv1.Target{Ref: &ref} }

// Named is the element with an ARIA role and an accessible name: Named("button", "Pay now").
func Named(role, name string) *domtapv1.Target { return &domtapv1.Target{Role: role, Name: name} }

// Label is the field with a label.
func Label(label string) *domtapv1.Target { return &domtapv1.Target{Label: label} }

// Selector is the element that matches a CSS selector.
func Selector(css string) *domtapv1.Target { return &domtapv1.Target{Selector: css} }

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

// Select selects options of a select by their values or labels, and deselects the others.
func Select(t *domtapv1.Target, options ...string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: t, Values: options}}}
}

// Check checks a checkbox, radio button or switch.
func Check(t *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: t}}}
}
