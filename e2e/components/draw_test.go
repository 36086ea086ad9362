package components

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// control is an element of the last read with its number from the witness.
type control struct {
	id int
	*domtapv1.Element
}

// attempt is a step of the campaign.
type attempt struct {
	kind string
	// on is the target. Its ID is 0 if the step has none.
	on control
	// to is the control at the end of a drag. Its ID is 0 if the drag ends elsewhere.
	to   control
	text string
	// by is the way of naming the target: ref, name, text or within.
	by   string
	row  rowWords
	step *domtapv1.Step
}

func (a attempt) String() string {
	return fmt.Sprintf("%s %d to %d by %s: %v", a.kind, a.on.id, a.to.id, a.by, a.step)
}

// kinds returns the kinds of steps for an element, by its role.
func kinds(e *domtapv1.Element) []string {
	common := []string{"click", "click", "click", "double", "right", "hover", "press", "scroll", "drag"}
	switch e.GetRole() {
	case "textbox", "searchbox", "spinbutton", "slider":
		return append(common, "fill", "fill", "fill", "fill", "fill", "type", "type")
	case "combobox", "listbox":
		return append(common, "fill", "select", "select", "select", "select", "type")
	case "checkbox", "switch", "menuitemcheckbox", "menuitemradio", "radio", "treeitem", "option":
		return append(common, "check", "check", "check", "uncheck", "uncheck")
	}
	if e.Pressed != nil {
		return append(common, "check", "uncheck")
	}
	return append(common, "click", "click", "click", "click", "click", "click")
}

var (
	keys  = []string{"Enter", "Space", "Escape", "Tab", "ArrowDown", "ArrowUp", "ArrowRight", "Home", "x"}
	texts = []string{"Ada", "word", "Zoë 7", "a long text of several words", "42", "p"}
)

// text returns a text to enter into an element.
func text(rng *rand.Rand, e *domtapv1.Element) string {
	switch {
	case e.GetType() == "date":
		return fmt.Sprintf("2026-0%d-1%d", 1+rng.IntN(9), rng.IntN(9))
	case e.GetType() == "time":
		return fmt.Sprintf("0%d:3%d", rng.IntN(9), rng.IntN(9))
	case e.GetType() == "color":
		return fmt.Sprintf("#1020%02x", rng.IntN(256))
	case slices.Contains([]string{"slider", "spinbutton"}, e.GetRole()):
		return strconv.Itoa(rng.IntN(20))
	}
	return texts[rng.IntN(len(texts))]
}

// draw returns a random attempt on the controls of the last read.
func (c *campaign) draw(rng *rand.Rand) attempt {
	if rng.IntN(12) == 0 || len(c.known) == 0 {
		if rng.IntN(3) == 0 {
			return attempt{kind: "scroll", by: "page", step: &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: float64(rng.IntN(800)-300) + 0.5}}}}
		}
		key := keys[rng.IntN(len(keys))]
		return attempt{kind: "press", by: "focus", text: key, step: &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: key}}}}
	}
	a := attempt{on: c.known[rng.IntN(len(c.known))]}
	target := c.name(rng, &a)
	suited := kinds(a.on.Element)
	a.kind = suited[rng.IntN(len(suited))]
	a.text = text(rng, a.on.Element)
	a.step = c.step(rng, &a, target)
	return a
}

// name chooses the way of naming the target, and may replace the target.
func (c *campaign) name(rng *rand.Rand, a *attempt) *domtapv1.Target {
	if rows := c.rows(); len(rows) > 0 && rng.IntN(3) == 0 {
		a.row = rows[rng.IntN(len(rows))]
		if on, ok := c.inRow(rng, a.row); ok {
			a.on, a.by = on, "within"
			return &domtapv1.Target{Role: on.GetRole(), Name: on.GetText(), Within: a.row.Words}
		}
	}
	name := a.on.GetText()
	if name == "" || strings.HasSuffix(name, "…") {
		a.by = "ref"
		return &domtapv1.Target{Ref: proto.Uint32(a.on.GetRef())}
	}
	switch a.by = []string{"ref", "ref", "ref", "name", "name", "text"}[rng.IntN(6)]; a.by {
	case "name":
		return &domtapv1.Target{Role: a.on.GetRole(), Name: name}
	case "text":
		return &domtapv1.Target{Text: name}
	}
	return &domtapv1.Target{Ref: proto.Uint32(a.on.GetRef())}
}

// inRow chooses a control in a row. Its role and name must be unique in the row. It must neither contain the words itself nor be the header
// of a column, because headers do not describe other headers.
func (c *campaign) inRow(rng *rand.Rand, row rowWords) (control, bool) {
	count := map[string]int{}
	var there []control
	for _, k := range c.known {
		if slices.Contains(row.Inside, k.id) {
			count[k.GetRole()+k.GetText()]++
			there = append(there, k)
		}
	}
	there = slices.DeleteFunc(there, func(k control) bool {
		return count[k.GetRole()+k.GetText()] != 1 || k.GetText() == "" || k.GetRole() == "columnheader" || strings.HasSuffix(k.GetText(), "…") || slices.Contains(row.Path, k.id) ||
			strings.Contains(strings.ToLower(k.GetText()), strings.ToLower(row.Words))
	})
	if len(there) == 0 {
		return control{}, false
	}
	return there[rng.IntN(len(there))], true
}

// step returns the step of an attempt.
func (c *campaign) step(rng *rand.Rand, a *attempt, at *domtapv1.Target) *domtapv1.Step {
	switch a.kind {
	case "click":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at}}}
	case "right":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at, Button: "right"}}}
	case "double":
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: at}}}
	case "hover":
		return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: at}}}
	case "scroll":
		return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: at, DeltaY: float64(rng.IntN(3) * 100)}}}
	case "press":
		a.text = keys[rng.IntN(len(keys))]
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: at, Key: a.text}}}
	case "fill":
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at, Text: a.text}}}
	case "type":
		return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: at, Text: a.text}}}
	case "check":
		return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: at}}}
	case "uncheck":
		return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: at}}}
	case "select":
		a.text = c.option(rng, a.on.id)
		return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: at, Values: []string{a.text}}}}
	}
	drag := &domtapv1.DragStep{Target: at}
	if rng.IntN(3) == 0 {
		drag.DeltaX, drag.DeltaY = float64(rng.IntN(160)-80), float64(rng.IntN(80)-40)
	} else {
		a.to = c.known[rng.IntN(len(c.known))]
		drag.To = &domtapv1.Target{Ref: proto.Uint32(a.to.GetRef())}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: drag}}
}

// option returns an option of a select element, or an option that the page has already shown.
func (c *campaign) option(rng *rand.Rand, id int) string {
	options := c.witness.state(id).Options
	if len(options) == 0 {
		options = c.options
	}
	if len(options) == 0 {
		return "Two"
	}
	return options[rng.IntN(len(options))]
}
