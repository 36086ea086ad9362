package script

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Go prints the program as a Go test on package client, formatted as gofmt does.
func (s *Script) Go() ([]byte, error) {
	acts := slices.ContainsFunc(s.orders, func(o order) bool { return o.kind != comment })
	uploads := slices.ContainsFunc(s.orders, func(o order) bool { return o.kind == "upload" })
	var b bytes.Buffer
	b.WriteString("// Made by domtap replay --go-test from " + s.about + ".\npackage recording_test\n\nimport (\n\t\"context\"\n")
	if len(s.inputs) > 0 {
		b.WriteString("\t\"os\"\n")
	}
	if uploads {
		b.WriteString("\t\"path/filepath\"\n")
	}
	b.WriteString("\t\"testing\"\n\t\"time\"\n\n\t\"github.com/domtap/domtap/client\"\n)\n\n")
	b.WriteString("// TestRecording does again what clients did in the recording.\nfunc TestRecording(t *testing.T) {\n")
	for _, in := range s.inputs {
		b.WriteString("\t// " + in.name + ": " + in.what + "\n")
	}
	b.WriteString(opening)
	b.WriteString("\ttab, err := c.Open(ctx, " + expression(s.url) + ")\n")
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tdefer func() { _ = tab.Close(context.WithoutCancel(ctx)) }()\n")
	if acts {
		b.WriteString("\tmust := func(_ any, err error) {\n\t\tt.Helper()\n\t\tif err != nil {\n\t\t\tt.Fatal(err)\n\t\t}\n\t}\n")
	}
	b.WriteString("\n")
	for _, o := range s.orders {
		b.WriteString("\t" + o.goLine() + "\n")
	}
	b.WriteString("}\n")
	if len(s.inputs) > 0 {
		b.WriteString(inputFunc)
	}
	if uploads {
		b.WriteString(fileFunc)
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("print the recording as a Go test: %w", err)
	}
	return text, nil
}

const (
	opening = `	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	c, err := client.Connect(ctx, client.Options{Start: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
`
	inputFunc = `
// input reads a value that the recording does not have from the environment.
func input(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("set %s: the recording does not have the value", name)
	}
	return value
}
`
	fileFunc = `
// contents reads a file to upload.
func contents(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
`
)

// expression returns a value as a Go expression.
func expression(v value) string {
	if v.input != "" {
		return "input(t, " + strconv.Quote(v.input) + ")"
	}
	return goString(v.text)
}

// goString quotes a text as a Go string literal. The literal has the same bytes if the text is valid UTF-8 without NUL.
func goString(s string) string { return strconv.Quote(clean(s)) }

// steps maps orders that have only a target to functions of package client.
var steps = map[string]string{
	"click": "Click", "double_click": "DoubleClick", "hover": "Hover", "check": "Check", "uncheck": "Uncheck", "scroll": "ScrollTo",
}

// calls maps orders without a target to method calls of a tab.
var calls = map[string]string{
	"back": "Back(ctx)", "forward": "Forward(ctx)", "reload": "Reload(ctx)", "accept": "AcceptDialog(ctx)", "dismiss": "DismissDialog(ctx)",
}

// goClick returns the Go statement for a click other than a single left click.
func goClick(o order) string {
	how, step := o.click, "client.Click("+goTarget(o.target)+")"
	switch {
	case how.GetButton() == "middle":
		return "// not done: a click of the middle button"
	case how.GetButton() == "right":
		step = "client.RightClick(" + goTarget(o.target) + ")"
	case how.GetCount() > 1:
		step = "client.ClickTimes(" + goTarget(o.target) + ", " + strconv.Itoa(int(how.GetCount())) + ")"
	case how.GetHold() != nil:
		step = "client.Hold(" + goTarget(o.target) + ", " + strconv.FormatInt(int64(how.GetHold().AsDuration()), 10) + ")"
	}
	for _, key := range how.GetModifiers() {
		step = "client.WithKeys(" + step + ", " + strconv.Quote(key) + ")"
	}
	return act(step)
}

// goLine returns the Go statements for an order.
func (o order) goLine() string {
	if call := calls[o.kind]; call != "" {
		return "must(tab." + call + ")"
	}
	if o.click != nil {
		return goClick(o)
	}
	if f := steps[o.kind]; f != "" {
		return act("client." + f + "(" + goTarget(o.target) + ")")
	}
	switch o.kind {
	case comment:
		return "// " + o.value.text
	case "goto":
		return "must(tab.Navigate(ctx, " + expression(o.value) + "))"
	case "answer":
		return "must(tab.AnswerPrompt(ctx, " + expression(o.value) + "))"
	case "text":
		return act("client.WaitUntil(client.ForText(" + goString(o.value.text) + "))")
	case "url":
		return act("client.WaitUntil(client.ForURL(" + goString(o.value.text) + "))")
	case "wait":
		return act("client.WaitUntil(client.ForElement(" + goString(o.target.GetRole()) + ", " + goString(o.target.GetName()) + "))")
	case "type", "fill":
		step := "client." + strings.ToUpper(o.kind[:1]) + o.kind[1:] + "(" + goTarget(o.target) + ", " + expression(o.value) + ")"
		if o.submit {
			step += `, client.Press("Enter")`
		}
		return act(step)
	case "select":
		options := expression(o.value)
		if o.value.input == "" {
			var quoted []string
			for _, option := range o.options {
				quoted = append(quoted, goString(option))
			}
			options = strings.Join(quoted, ", ")
		}
		return act("client.Select(" + goTarget(o.target) + ", " + options + ")")
	case "press":
		return o.goPress()
	case "mouse":
		return o.goMouse()
	case "upload":
		path := expression(o.value)
		return act("client.Upload(" + goTarget(o.target) + ", client.File(filepath.Base(" + path + "), contents(t, " + path + ")))")
	}
	return "" // no other kind exists
}

// goPress returns the Go statements that press a key, in an element if the order has one.
func (o order) goPress() string {
	made := "client.Press(" + expression(o.value) + ")"
	if hold := o.press.GetHold(); hold != nil {
		made = "client.HoldKey(" + expression(o.value) + ", " + strconv.FormatInt(int64(hold.AsDuration()), 10) + ")"
	}
	if o.target == nil && o.press.GetRepeat() <= 1 {
		return act(made)
	}
	more := ""
	if o.target != nil {
		more = "step.GetPress().Target = " + goTarget(o.target) + "\n"
	}
	if n := o.press.GetRepeat(); n > 1 {
		more += "step.GetPress().Repeat = " + strconv.Itoa(int(n)) + "\n"
	}
	return "{\nstep := " + made + "\n" + more + act("step") + "\n}"
}

func act(step string) string { return "must(tab.Act(ctx, " + step + "))" }

// goTarget returns a target as a Go expression.
func goTarget(t *domtapv1.Target) string {
	made := ""
	switch {
	case t == nil:
		return "nil"
	case t.GetText() != "":
		made = "client.Text(" + goString(t.GetText()) + ")"
	case t.GetLabel() != "":
		made = "client.Label(" + goString(t.GetLabel()) + ")"
	case t.GetPlaceholder() != "":
		made = "client.Placeholder(" + goString(t.GetPlaceholder()) + ")"
	case t.GetTestId() != "":
		made = "client.TestID(" + goString(t.GetTestId()) + ")"
	case t.GetSelector() != "":
		made = "client.Selector(" + goString(t.GetSelector()) + ")"
	case t.X != nil:
		return "client.At(" + number(t.GetX()) + ", " + number(t.GetY()) + ")"
	default:
		made = "client.Named(" + goString(t.GetRole()) + ", " + goString(t.GetName()) + ")"
	}
	if t.GetWithin() != "" {
		made = "client.Within(" + made + ", " + goString(t.GetWithin()) + ")"
	}
	return made
}
