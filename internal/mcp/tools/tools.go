// Package tools implements the tools of the MCP server: their names and arguments, the calls to the daemon, and the answers. It does not
// depend on the protocol.
//
// Names, descriptions and schemas cost tokens in every session of a model, so they are terse, and tools are loaded by class. Answers are
// text. Notes are lines that start with "#", and text of pages is in a fence.
//
// Tools have no state. Package session holds the state of a session.
package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/definitions"
)

// Tool is one tool.
type Tool struct {
	// Name and Description are shown to hosts and models.
	Name, Description string
	// Schema is the JSON schema of the arguments, without white space. Its type is object.
	Schema json.RawMessage
	// ReadOnly tools change no page. Additive tools change something but delete nothing.
	ReadOnly, Additive bool

	sets []string
	run  func(ctx context.Context, c *Call) error
}

// Run executes the call and fills in its answer. It returns errors of the daemon unchanged, and an *Input for invalid arguments.
func (t *Tool) Run(ctx context.Context, c *Call) error {
	c.tool = t.Name
	return t.run(ctx, c)
}

// Input is an error in the arguments of a call. Its message is written for the model.
type Input struct{ Err error }

func (e *Input) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *Input) Unwrap() error { return e.Err }

func inputf(format string, values ...any) error { return &Input{fmt.Errorf(format, values...)} }

// read decodes the arguments of a call.
func read[T any](c *Call) (*T, error) {
	into := new(T)
	if err := args.Decode(c.Arguments, into); err != nil {
		return nil, &Input{suggest[T](c, err)}
	}
	return into, nil
}

// The classes of tools. All selects every class.
const (
	Core    = "core"
	Page    = "page"
	Storage = "storage"
	Search  = "search"
	Network = "network"
	WebMCP  = "webmcp"
	All     = "all"
)

// classes lists the classes in the order in which errors list them.
var classes = []string{Core, Page, Storage, Search, Network, WebMCP, All}

// table lists all tools in the order in which hosts list them.
var table = []Tool{
	{Name: "browser_navigate", sets: []string{Core, Page}, Additive: true, run: navigate},
	{Name: "browser_tab", sets: []string{Core, Page}, run: tab},
	{Name: "browser_get_elements_compact", sets: []string{Core}, ReadOnly: true, run: getElementsCompact},
	{Name: "browser_find", sets: []string{Core}, ReadOnly: true, run: findElements},
	{Name: "browser_interact", sets: []string{Core}, run: interact},
	{Name: "browser_fill_form", sets: []string{Core}, run: fillForm},
	{Name: "browser_wait", sets: []string{Core}, ReadOnly: true, run: wait},
	{Name: "browser_read_page", sets: []string{Core, Page}, ReadOnly: true, run: readPage},
	{Name: "browser_log", sets: []string{Core, Page}, ReadOnly: true, run: log},
	{Name: "browser_get_dom", sets: []string{Page}, ReadOnly: true, run: getDom},
	{Name: "browser_screenshot", sets: []string{Core, Page}, ReadOnly: true, run: screenshot},
	{Name: "browser_extract", sets: []string{Page}, ReadOnly: true, run: extract},
	{Name: "browser_batch", sets: []string{Page}, ReadOnly: true, run: batch},
	{Name: "browser_storage", sets: []string{Storage}, run: storage},
	{Name: "browser_search", sets: []string{Search}, ReadOnly: true, run: searchWeb},
	{Name: "browser_route", sets: []string{Network}, run: route},
	{Name: "browser_page_tools", sets: []string{WebMCP}, ReadOnly: true, run: pageTools},
	{Name: "browser_call_page_tool", sets: []string{WebMCP}, run: callPageTool},
}

// Select returns the tools of a comma-separated list of classes: Core, Page, Storage, Search, Network, WebMCP and All.
func Select(list string) ([]Tool, error) {
	wanted := map[string]bool{}
	for class := range strings.SplitSeq(list, ",") {
		class = strings.TrimSpace(class)
		if !slices.Contains(classes, class) {
			return nil, fmt.Errorf("unknown class of tools %q: use %s or %s, or several with commas between them", class, strings.Join(classes[:len(classes)-1], ", "), All)
		}
		wanted[class] = true
	}
	var out []Tool
	for _, t := range table {
		if wanted[All] || slices.ContainsFunc(t.sets, func(class string) bool { return wanted[class] }) {
			has, known := definitions.Of(t.Name)
			if !known {
				return nil, fmt.Errorf("%s has no definition: this is a bug in domtap", t.Name)
			}
			t.Description = has.Description
			var schema bytes.Buffer
			if err := json.Compact(&schema, []byte(has.Schema)); err != nil {
				return nil, fmt.Errorf("the schema of %s: %w", t.Name, err)
			}
			t.Schema = schema.Bytes()
			out = append(out, t)
		}
	}
	return out, nil
}

// Selects reports whether a list of classes, as passed to Select, includes a tool of class.
func Selects(list, class string) bool {
	all, err := Select(list)
	return err == nil && slices.ContainsFunc(all, func(t Tool) bool { return slices.Contains(t.sets, class) })
}

// WithoutSearch removes the tools of the class Search, which need a search provider.
func WithoutSearch(all []Tool) []Tool {
	return slices.DeleteFunc(slices.Clone(all), func(t Tool) bool { return slices.Contains(t.sets, Search) })
}
