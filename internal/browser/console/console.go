package console

import (
	"fmt"
	"strconv"
	"strings"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// console is an undecoded console message.
type console []byte

// object is a JavaScript value as the browser describes it.
type object struct {
	Type        string       `json:"type"`
	Subtype     string       `json:"subtype"`
	Value       jsonv2.Value `json:"value"`
	Unprintable string       `json:"unserializableValue"`
	Description string       `json:"description"`
	Preview     *struct {
		Overflow   bool `json:"overflow"`
		Properties []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Value string `json:"value"`
		} `json:"properties"`
	} `json:"preview"`
}

type stack struct {
	CallFrames []struct {
		URL        string `json:"url"`
		LineNumber int    `json:"lineNumber"`
	} `json:"callFrames"`
}

// place returns the location of a stack's first frame.
func (s *stack) place() (url string, line int) {
	if s == nil || len(s.CallFrames) == 0 {
		return "", 0
	}
	return pagelog.URL(s.CallFrames[0].URL), max(s.CallFrames[0].LineNumber+1, 0)
}

var levels = map[string]string{
	"debug": "debug", "info": "info", "warning": "warning", "error": "error", "assert": "error",
}

// Entry implements pagelog.Record.
func (c console) Entry() pagelog.Entry {
	var e struct {
		Type  string   `json:"type"`
		Args  []object `json:"args"`
		Stack *stack   `json:"stackTrace"`
	}
	if err := decode(c, &e); err != nil {
		return pagelog.Entry{Level: "log", Text: "(a message that is too long or invalid)"}
	}
	out := pagelog.Entry{Level: levels[e.Type], Text: pagelog.Text(format(e.Args))}
	if out.Level == "" {
		out.Level = "log"
	}
	out.URL, out.Line = e.Stack.place()
	return out
}

// format formats the arguments of a message as the console shows them.
func format(args []object) string {
	var b strings.Builder
	if len(args) > 1 && args[0].Type == "string" {
		if text := args[0].text(); strings.Contains(text, "%") {
			var used int
			text, used = fill(text, args[1:])
			b.WriteString(text)
			args = args[1+used:]
		}
	}
	for _, a := range args {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text())
		if b.Len() > 4*pagelog.MaxText {
			break
		}
	}
	return b.String()
}

// fill replaces the % verbs in a text with arguments. It returns the text and the number of arguments used.
func fill(text string, args []object) (string, int) {
	var b strings.Builder
	used := 0
	for {
		before, rest, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found || rest == "" {
			if found {
				b.WriteByte('%')
			}
			return b.String(), used
		}
		switch verb := rest[0]; {
		case verb == '%':
			b.WriteByte('%')
		case used < len(args) && strings.IndexByte("sdifoOc", verb) >= 0:
			if verb != 'c' { // %c only styles the text
				b.WriteString(args[used].text())
			}
			used++
		default:
			b.WriteByte('%')
			b.WriteByte(verb)
		}
		text = rest[1:]
	}
}

// text returns a value as the console shows it.
func (o *object) text() string {
	switch {
	case o.Type == "undefined":
		return "undefined"
	case o.Type == "string":
		var s string
		if decode(o.Value, &s) == nil {
			return s
		}
	case o.Unprintable != "":
		return o.Unprintable
	case o.Preview != nil && o.Subtype != "error" && o.Type == "object":
		return o.preview()
	case o.Description != "":
		return o.Description
	}
	return string(o.Value)
}

// preview shows the first properties of an object or an array.
func (o *object) preview() string {
	parts := make([]string, 0, len(o.Preview.Properties)+1)
	for _, p := range o.Preview.Properties {
		value := p.Value
		if p.Type == "string" {
			value = strconv.Quote(value)
		}
		if o.Subtype != "array" {
			value = p.Name + ": " + value
		}
		parts = append(parts, value)
	}
	if o.Preview.Overflow {
		parts = append(parts, "…")
	}
	inner := strings.Join(parts, ", ")
	if o.Subtype == "array" {
		return "[" + inner + "]"
	}
	if o.Description == "" || o.Description == "Object" {
		return "{" + inner + "}"
	}
	return fmt.Sprintf("%s {%s}", o.Description, inner)
}

// uncaughtError is an undecoded uncaught error.
type uncaughtError []byte

// Entry implements pagelog.Record.
func (t uncaughtError) Entry() pagelog.Entry {
	var e struct {
		Details struct {
			Text       string  `json:"text"`
			URL        string  `json:"url"`
			LineNumber int     `json:"lineNumber"`
			Stack      *stack  `json:"stackTrace"`
			Exception  *object `json:"exception"`
		} `json:"exceptionDetails"`
	}
	out := pagelog.Entry{Level: "error"}
	if err := decode(t, &e); err != nil {
		out.Text = "(an error that is too long or invalid)"
		return out
	}
	text := e.Details.Text
	if x := e.Details.Exception; x != nil {
		text = strings.TrimSpace(text + " " + x.text())
	}
	out.Text = pagelog.Text(text)
	out.URL, out.Line = e.Details.Stack.place()
	if e.Details.URL != "" {
		out.URL, out.Line = pagelog.URL(e.Details.URL), e.Details.LineNumber+1
	}
	return out
}
