package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// moment holds the states of a turn. The first one is the state before the turn. before is the state after the previous turn.
type moment struct {
	states []*dom.Snapshot
	before *dom.Snapshot
}

// element returns the first version of an element in the turn, and the state that contains it. It returns nil if no state contains the
// element.
func (m *moment) element(ref dom.Ref) (*dom.Element, *dom.Snapshot) {
	for _, s := range m.states {
		if el := s.Find(ref); el != nil {
			return el, s
		}
	}
	return nil, nil
}

// latest returns the last version of an element in the turn, or nil if no state contains it.
func (m *moment) latest(ref dom.Ref) (el *dom.Element) {
	for _, s := range m.states {
		if found := s.Find(ref); found != nil {
			el = found
		}
	}
	return el
}

// step adds the action of a step.
func (b *builder) step(s *domtapv1.TimelineStep, m *moment) {
	switch kind := s.GetKind(); {
	case !s.GetOk():
		b.holding = false
		b.say("%s failed: %s %s: %s", kind, s.GetSummary(), s.GetReason(), s.GetError())
	case kind == "read" || kind == "screenshot":
	case kind == "back":
		b.add(order{kind: "back"})
	case kind == "dialog":
		b.answer()
	case kind == "mouse_down" || kind == "mouse_move" || kind == "mouse_up":
		b.mouse(s, m)
	case kind == "press" && b.holding && s.GetTarget() == nil && s.GetKey() != "" && !strings.ContainsAny(s.GetKey(), " \n\t"):
		o := &b.out.orders[len(b.out.orders)-1]
		o.mouse = append(o.mouse, mousePart{kind: "press", step: s})
	case kind == "wait":
		b.say("not done: %s: the condition is not in the recording", s.GetSummary())
	case kind == "tool":
		b.say("not done: %s: the input is not in the recording", s.GetSummary())
	case kind == "drag":
		b.say("not done: %s: where to is not in the recording", s.GetSummary())
	case kind == "scroll" && s.Ref == nil:
		b.say("not done: %s: the distance is not in the recording", s.GetSummary())
	case !slices.Contains(kinds, kind):
		b.say("not done: %s: this domtap does not know such steps", kind)
	default:
		b.act(s, m)
	}
}

// kinds lists the kinds of steps that act on an element. A kind becomes the name of a command, so only known kinds are used.
var kinds = []string{"click", "double_click", "hover", "type", "fill", "press", "select", "check", "uncheck", "scroll", "upload", "field", "submit"}

// act adds a step that acts on an element.
func (b *builder) act(s *domtapv1.TimelineStep, m *moment) {
	b.holding = false
	o := order{kind: action(s, m), submit: s.GetSubmit(), click: s.GetClick(), press: s.GetPress()}
	target, doubt := locate(s, m)
	toFocus := s.GetTarget() == nil && (s.GetKind() == "press" || s.GetKind() == "type" && s.Ref == nil)
	if target == nil && o.kind != "press" && !toFocus {
		b.say("not done: %s: nothing but a ref names the element in the recording", s.GetSummary())
		return
	}
	if o.target = target; toFocus {
		o.target, doubt = nil, "" // the focused element
	}
	if doubt != "" {
		b.say("%s", doubt)
	}
	if m.isNew(s) && (o.target.GetRole() != "" || o.target.GetName() != "") {
		b.add(order{kind: "wait", target: o.target})
	}
	b.fillIn(&o, s, m)
	b.add(o)
}

// isNew reports whether the element of a step was absent before the turn, taking into account the steps that already waited for other new
// elements.
func (m *moment) isNew(s *domtapv1.TimelineStep) bool {
	ref := dom.Ref(s.GetRef())
	if s.Ref == nil || m.before == nil || m.before.Find(ref) != nil {
		return false
	}
	_, state := m.element(ref)
	if state != nil {
		m.before = state
	}
	return state != nil
}

// action returns the kind of the order for a step. For a field it depends on the role of the field.
func action(s *domtapv1.TimelineStep, m *moment) string {
	el := m.latest(dom.Ref(s.GetRef()))
	switch kind := s.GetKind(); {
	case kind == "submit" && (s.GetRole() == "textbox" || s.GetRole() == "searchbox" || s.GetRole() == "combobox" || s.GetRole() == "spinbutton"):
		return "press"
	case kind == "submit":
		return "click"
	case kind != "field":
		return kind
	case s.GetRole() == "radio":
		return "check"
	case s.GetRole() == "checkbox" || s.GetRole() == "switch":
		if el != nil && el.States.Checked == dom.False {
			return "uncheck"
		}
		return "check"
	case el != nil && el.Tag == "select":
		return "select"
	case el != nil && el.Type == "file":
		return "upload"
	}
	return "fill"
}

// fillIn adds the parameters of a step other than its target to an order.
func (b *builder) fillIn(o *order, s *domtapv1.TimelineStep, m *moment) {
	about := strings.TrimSpace(s.GetRole() + " " + s.GetName())
	if about == "" {
		about = "what had the focus"
	}
	switch o.kind {
	case "type", "fill":
		text, known := typed(s, m, o.kind)
		if o.value = (value{text: text}); !known {
			o.value = b.input(s.GetName(), "what was typed into "+about)
		}
	case "select":
		if v := s.GetValue(); !complete(v) || v == "" {
			o.value = b.input(s.GetName(), "the option of "+about)
		} else if o.options = []string{v}; s.GetRole() == "listbox" {
			o.options = strings.Split(v, ", ")
		}
	case "press":
		switch {
		case s.GetKind() == "submit":
			o.value = value{text: "Enter"}
		case s.GetKey() == "":
			o.value = b.input("KEY", "the character that was pressed in "+about)
		default:
			o.value = value{text: s.GetKey()}
		}
	case "upload":
		o.value = b.input("FILE", "the path of the file for "+about)
	}
}

// isMasked reports whether a text contains the mask character.
func isMasked(text string) bool { return strings.Contains(text, "•") }

// complete reports whether a value is complete, neither masked nor cut.
func complete(value string) bool { return !isMasked(value) && !strings.HasSuffix(value, "…") }

// typed returns the typed or filled text, as far as the field shows it. It returns false if the text is unknown.
func typed(s *domtapv1.TimelineStep, m *moment, kind string) (text string, known bool) {
	v, ref := s.GetValue(), dom.Ref(s.GetRef())
	if s.GetLength() == 0 {
		return "", complete(v)
	}
	if v == "" { // the turn led to another page
		if el := m.latest(ref); el != nil {
			v = el.Value
		}
	}
	if v == "" || !complete(v) {
		return "", false
	}
	if kind == "fill" {
		return v, true
	}
	was := ""
	if el, _ := m.element(ref); el != nil {
		was = el.Value
	}
	added, follows := strings.CutPrefix(v, was)
	switch n := int(s.GetLength()); {
	case follows && utf8.RuneCountInString(added) == n:
		return added, true
	case utf8.RuneCountInString(v) == n:
		return v, true
	}
	return "", false
}

// input adds an environment variable to the script. Its name consists of words from the page.
func (b *builder) input(words, what string) value {
	var name strings.Builder
	for _, r := range strings.ToUpper(words) {
		switch {
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "_"):
			name.WriteByte('_')
		}
		if name.Len() >= maxInput {
			break
		}
	}
	base := "INPUT_" + strings.Trim(name.String(), "_")
	if base == "INPUT_" {
		base = "INPUT_TEXT"
	}
	made := base
	for n := 2; b.named[made]; n++ {
		made = fmt.Sprint(base, "_", n)
	}
	b.named[made] = true
	b.out.inputs = append(b.out.inputs, input{made, oneLine(what)})
	return value{input: made}
}

// maxInput limits the length of the words in the name of a variable.
const maxInput = 30
