// Package tools has the tools of the MCP server: what each is called and takes, the calls of the daemon that it makes of
// that, and what it answers. It knows nothing of the protocol that carries it.
//
// Names, descriptions and schemas are tokens that every session of a model pays for, so they are terse, and tools
// are loaded by classes. Answers are text: our own words in lines that begin with "#", and those of pages in a fence.
//
// A tool keeps nothing; what a session keeps is in its Desk.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/mcp/args"
)

// Tool is one tool.
type Tool struct {
	// Name is what hosts and models call it.
	Name, Description string
	// Schema is the JSON schema of its arguments, an object, without white space.
	Schema json.RawMessage
	// ReadOnly tools change no page. Additive ones change something, but destroy nothing.
	ReadOnly, Additive bool

	sets []string
	run  func(ctx context.Context, c *Call) error
}

// Run does what the arguments say and writes the answer. Errors of the daemon come back as they are; an *Input says that
// the arguments are wrong.
func (t *Tool) Run(ctx context.Context, c *Call) error { return t.run(ctx, c) }

// Input is an error in the arguments of a call. Its message is for the model.
type Input struct{ Err error }

func (e *Input) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *Input) Unwrap() error { return e.Err }

func inputf(format string, values ...any) error { return &Input{fmt.Errorf(format, values...)} }

// read reads the arguments of a call.
func read[T any](c *Call) (*T, error) {
	into := new(T)
	if err := args.Decode(c.Arguments, into); err != nil {
		return nil, &Input{err}
	}
	return into, nil
}

// The classes of tools. All is every class.
const (
	Core = "core"
	Page = "page"
	All  = "all"
)

// table has every tool, as hosts list them.
var table = []Tool{
	{Name: "browser_navigate", sets: []string{Core, Page}, Additive: true, run: navigate},
	{Name: "browser_tab", sets: []string{Core, Page}, run: tab},
	{Name: "browser_get_elements_compact", sets: []string{Core}, ReadOnly: true, run: getElementsCompact},
	{Name: "browser_interact", sets: []string{Core}, run: interact},
	{Name: "browser_fill_form", sets: []string{Core}, run: fillForm},
	{Name: "browser_wait", sets: []string{Core}, ReadOnly: true, run: wait},
	{Name: "browser_read_page", sets: []string{Core, Page}, ReadOnly: true, run: readPage},
	{Name: "browser_get_dom", sets: []string{Page}, ReadOnly: true, run: getDom},
	{Name: "browser_screenshot", sets: []string{Core, Page}, ReadOnly: true, run: screenshot},
	{Name: "browser_extract", sets: []string{Page}, ReadOnly: true, run: extract},
	{Name: "browser_batch", sets: []string{Page}, ReadOnly: true, run: batch},
}

// Select returns the tools of classes: words of Core, Page and All, with commas between them.
func Select(classes string) ([]Tool, error) {
	wanted := map[string]bool{}
	for class := range strings.SplitSeq(classes, ",") {
		class = strings.TrimSpace(class)
		if class != Core && class != Page && class != All {
			return nil, fmt.Errorf("%q is no class of tools: use %s, %s or %s, or some with commas between them", class, Core, Page, All)
		}
		wanted[class] = true
	}
	var out []Tool
	for _, t := range table {
		if wanted[All] || slices.ContainsFunc(t.sets, func(class string) bool { return wanted[class] }) {
			said, known := definitions[t.Name]
			if !known {
				return nil, fmt.Errorf("%s has no definition: this is a fault of domtap", t.Name)
			}
			t.Description = said.description
			var schema bytes.Buffer
			if err := json.Compact(&schema, []byte(said.schema)); err != nil {
				return nil, fmt.Errorf("the schema of %s: %w", t.Name, err)
			}
			t.Schema = schema.Bytes()
			out = append(out, t)
		}
	}
	return out, nil
}
