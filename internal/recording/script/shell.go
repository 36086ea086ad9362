package script

import (
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Shell prints the program as a script for a POSIX shell. It ends with the exit code of the first command that fails.
func (s *Script) Shell() []byte {
	var body strings.Builder
	body.WriteString("DOMTAP_TAB=$(domtap open -q " + argument(s.url) + ")\nexport DOMTAP_TAB\ntrap 'domtap close \"$DOMTAP_TAB\"' EXIT\n\n")
	for _, o := range s.orders {
		body.WriteString(o.shell() + "\n")
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Made by domtap replay --script from " + s.about + ".\n")
	b.WriteString("# It opens a tab at the daemon of this user, or the one of $DOMTAP_ADDR, and closes it at the end.\nset -eu\n")
	for _, in := range s.inputs {
		b.WriteString("# " + in.name + ": " + in.what + "\n: \"${" + in.name + ":?set it: the recording does not have the value}\"\n")
	}
	if strings.Contains(body.String(), `"$nl"`) {
		b.WriteString(lineBreak)
	}
	b.WriteString("\n" + body.String())
	return []byte(b.String())
}

// commands maps kinds of orders to commands with a different name.
var commands = map[string]string{
	"double_click": "dblclick", "text": "wait", "url": "wait", "accept": "dialog accept", "answer": "dialog accept", "dismiss": "dialog dismiss",
}

// shell returns an order as a line of the shell script.
func (o order) shell() string {
	if o.kind == comment {
		return "# " + o.value.text
	}
	command := o.kind
	if other := commands[o.kind]; other != "" {
		command = other
	}
	line := "domtap " + command + flags(o.target)
	switch o.kind {
	case "mouse":
		return o.mousing()
	case "click":
		return line + clicking(o.click)
	case "text", "url":
		return line + " --" + o.kind + " " + shellWord(o.value.text)
	case "press":
		return line + pressing(o.press) + " " + argument(o.value)
	case "goto", "upload", "answer":
		return line + " " + argument(o.value)
	case "type", "fill":
		if o.target == nil {
			line += " --focused"
		}
		if o.submit {
			line += " --submit"
		}
		if o.value.input != "" {
			return "printf '%s' \"$" + o.value.input + "\" | " + line + " -"
		}
		if o.value.text == "-" {
			return "printf '%s' - | " + line + " -"
		}
		return line + " " + argument(o.value)
	case "select":
		if o.value.input != "" {
			return line + " " + argument(o.value)
		}
		line += " --"
		for _, option := range o.options {
			line += " " + shellWord(option)
		}
	}
	return line
}

// clicking returns the flags for a click other than a single left click.
func clicking(how *domtapv1.ClickStep) string {
	var b strings.Builder
	if how.GetButton() != "" {
		b.WriteString(" --button " + how.GetButton())
	}
	for _, key := range how.GetModifiers() {
		b.WriteString(" --modifier " + key)
	}
	if how.GetCount() > 1 {
		b.WriteString(" --count " + strconv.Itoa(int(how.GetCount())))
	}
	if how.GetHold() != nil {
		b.WriteString(" --hold " + how.GetHold().AsDuration().String())
	}
	return b.String()
}

// pressing returns the flags for a key that is not pressed exactly once.
func pressing(how *domtapv1.PressStep) (text string) {
	if n := how.GetRepeat(); n > 1 {
		text += " --repeat " + strconv.Itoa(int(n))
	}
	if how.GetHold() != nil {
		text += " --hold " + how.GetHold().AsDuration().String()
	}
	return text
}

// argument returns a value as an argument that the command cannot parse as a flag.
func argument(v value) string {
	switch {
	case v.input != "":
		return "-- \"$" + v.input + "\""
	case strings.HasPrefix(v.text, "-"):
		return "-- " + shellWord(v.text)
	}
	return shellWord(v.text)
}

// flags returns the command-line flags of a target.
func flags(t *domtapv1.Target) string {
	var b strings.Builder
	for _, one := range []struct{ flag, text string }{
		{"role", t.GetRole()}, {"name", t.GetName()}, {"text", t.GetText()}, {"label", t.GetLabel()}, {"placeholder", t.GetPlaceholder()},
		{"test-id", t.GetTestId()}, {"selector", t.GetSelector()}, {"within", t.GetWithin()},
	} {
		if one.text != "" {
			b.WriteString(" --" + one.flag + " " + shellWord(one.text))
		}
	}
	if t.GetNth() != 0 {
		b.WriteString(" --nth " + strconv.Itoa(int(t.GetNth())))
	}
	if t != nil && t.X != nil {
		b.WriteString(" --at " + number(t.GetX()) + "," + number(t.GetY()))
	}
	return b.String()
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
