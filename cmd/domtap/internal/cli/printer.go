package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Printer writes the results of a command as text or as JSON. Page text is untrusted, so the printer removes terminal control sequences.
type Printer struct {
	// JSON selects JSON output.
	JSON   bool
	w      io.Writer
	colour bool
}

// Show prints a message as JSON, or the result of render as text.
func (p *Printer) Show(m proto.Message, render func() string) error {
	if p.JSON {
		return p.Message(m)
	}
	return p.Text(render())
}

// ShowEach prints messages as JSON, one per line, or all of them as text.
func ShowEach[M proto.Message](p *Printer, all []M, render func([]M) string) error {
	if !p.JSON {
		return p.Text(render(all))
	}
	for _, m := range all {
		if err := p.Message(m); err != nil {
			return err
		}
	}
	return nil
}

// ShowValue prints v, which is not an API message, as JSON, or prints text.
func (p *Printer) ShowValue(v any, text string) error {
	if !p.JSON {
		return p.Text(text)
	}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	return p.line(line)
}

// DiffFormat returns the format in which to request changes: text to read, or fields for programs.
func (p *Printer) DiffFormat() domtapv1.Format {
	if p.JSON {
		return domtapv1.Format_FORMAT_UNSPECIFIED
	}
	return domtapv1.Format_FORMAT_DENSE_DIFF
}

// Brief reports whether to omit changes that the caller already knows. That is the case in text output without --each.
func (p *Printer) Brief(each bool) bool { return !p.JSON && !each }

// ShowDiff prints a message as JSON, or text with changes, coloured on a terminal.
func (p *Printer) ShowDiff(m proto.Message, text string) error {
	if p.JSON {
		return p.Message(m)
	}
	return p.diff(text, "")
}

// ShowDiffAt prints as ShowDiff does, with the time of the changes before each line of the text.
func (p *Printer) ShowDiffAt(m proto.Message, text string, at time.Time) error {
	if p.JSON {
		return p.Message(m)
	}
	return p.diff(text, render.Clock(at)+" ")
}

// diff prints text with changes, coloured on a terminal. It adds a prefix to each line that is not empty.
func (p *Printer) diff(text, prefix string) error {
	text = render.Clean(text)
	if p.colour {
		text = render.Colour(text)
	}
	_, err := io.WriteString(render.Raw(p.w), render.Prefixed(text, prefix)) // the text is cleaned and may contain colours
	return err
}

// Message prints a message as one line of JSON. It includes zero fields, because ref 0 is a valid ref.
func (p *Printer) Message(m proto.Message) error {
	spaced, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	var line bytes.Buffer // protojson varies its white space on purpose, but scripts need stable output
	if err := json.Compact(&line, spaced); err != nil {
		return fmt.Errorf("print the answer as JSON: %w", err)
	}
	return p.line(line.Bytes())
}

func (p *Printer) line(text []byte) error {
	_, err := p.w.Write(append(render.JSON(text), '\n'))
	return err
}

// Text prints text.
func (p *Printer) Text(text string) error {
	_, err := io.WriteString(p.w, render.Clean(text))
	return err
}

// colour reports whether output is coloured: on a terminal, unless NO_COLOR is set.
func (e *Env) colour() bool {
	if value, _ := e.Lookup("NO_COLOR"); value != "" {
		return false
	}
	if term, _ := e.Lookup("TERM"); term == "dumb" {
		return false
	}
	f, ok := render.Raw(e.Out).(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
