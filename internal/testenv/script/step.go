package script

import (
	"fmt"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func (p *Player) click(words string) *domtapv1.Step {
	p.T.Helper()
	target, _ := p.target(words)
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

// target finds the element that words name.
func (p *Player) target(words string) (target *domtapv1.Target, rest string) {
	p.T.Helper()
	if strings.HasPrefix(words, "= ") {
		return nil, words // the focused element
	}
	if rest, ok := strings.CutPrefix(words, "noted"); ok {
		return p.noted, strings.TrimSpace(rest)
	}
	target, rest = p.Find(words)
	return target, strings.TrimSpace(rest)
}

// step returns the step of a line.
func (p *Player) step(verb, words string) *domtapv1.Step {
	p.T.Helper()
	switch verb {
	case "back":
		return &domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}
	case "press":
		key, name, _ := strings.Cut(words, " ")
		press := &domtapv1.PressStep{Key: key}
		if name != "" {
			press.Target, _ = p.target(name)
		}
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: press}}
	case "scroll":
		if strings.HasPrefix(words, "by ") {
			return p.moving(verb, nil, words)
		}
	}
	target, rest := p.target(words)
	value := strings.ReplaceAll(strings.TrimPrefix(rest, "= "), `\n`, "\n")
	switch verb {
	case "click":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
	case "rightclick":
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target, Button: "right"}}}
	case "dblclick":
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: target}}}
	case "hover":
		return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: target}}}
	case "check":
		return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: target}}}
	case "uncheck":
		return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: target}}}
	case "fill":
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: target, Text: value}}}
	case "type":
		return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: target, Text: value}}}
	case "select":
		return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: target, Values: strings.Split(value, " | ")}}}
	case "upload":
		file := &domtapv1.UploadFile{Name: value, Content: []byte("content")}
		return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: target, Files: []*domtapv1.UploadFile{file}}}}
	case "scroll", "drag":
		return p.moving(verb, target, rest)
	}
	p.T.Fatalf("unknown step %s", verb)
	return nil
}

// moving returns a scroll or drag step.
func (p *Player) moving(verb string, target *domtapv1.Target, rest string) *domtapv1.Step {
	p.T.Helper()
	var x, y float64
	if by, ok := strings.CutPrefix(rest, "by "); ok {
		if _, err := fmt.Sscanf(by, "%f,%f", &x, &y); err != nil {
			p.T.Fatalf("%s %s: %v", verb, rest, err)
		}
	}
	if verb == "scroll" {
		return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: target, DeltaX: x, DeltaY: y}}}
	}
	drag := &domtapv1.DragStep{Target: target, DeltaX: x, DeltaY: y}
	if name, ok := strings.CutPrefix(rest, "-> "); ok {
		drag.To, _ = p.target(name)
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: drag}}
}
