package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

// printer writes a command's answers in the form that was asked for.
type printer struct {
	w      io.Writer
	json   bool
	colour bool
}

// show prints a message as JSON, or what render makes of it as text.
func (p *printer) show(m proto.Message, render func() string) error {
	if p.json {
		return p.message(m)
	}
	return p.text(render())
}

// message prints a message as one line of JSON. Fields that are zero are printed too: ref 0 is a ref.
func (p *printer) message(m proto.Message) error {
	spaced, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	var line bytes.Buffer // protojson varies its white space on purpose; scripts want it stable
	if err := json.Compact(&line, spaced); err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	return p.raw(line.Bytes())
}

// value prints something that is no message of the API as one line of JSON.
func (p *printer) value(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	return p.raw(line)
}

// raw prints one line of JSON, which may hold words of a page.
func (p *printer) raw(line []byte) error {
	_, err := p.w.Write(append(render.JSON(line), '\n'))
	return err
}

// text prints text that may hold words of a page.
func (p *printer) text(text string) error {
	_, err := io.WriteString(p.w, render.Clean(text))
	return err
}

// diff prints text in the DIFF format, or another report of what a page did, in colour.
func (p *printer) diff(text string) error {
	text = render.Clean(text)
	if p.colour {
		text = render.Colour(text)
	}
	_, err := io.WriteString(p.w, text)
	return err
}
