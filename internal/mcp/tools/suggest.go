package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/mcp/aliases"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/definitions"
	"github.com/domtap/domtap/internal/mcp/fence"
	"github.com/domtap/domtap/internal/mcp/steps"
	"github.com/domtap/domtap/internal/nearest"
)

// suggested is the maximum size in bytes of a call that is suggested in full. A longer one is replaced by the example.
const suggested = 600

// suggest adds a corrected call to an error about the arguments of a call.
func suggest[T any](c *Call, err error) error {
	right := json.RawMessage(definitions.Example(c.tool))
	if args.IsUnknown(err) {
		for _, one := range []json.RawMessage{args.Correct(c.Arguments, new(T)), step(c)} {
			if one != nil && len(one) <= suggested && args.Decode(one, new(T)) == nil && complete(c.tool, one) {
				right = one
			}
		}
	}
	if len(right) == 0 {
		return err
	}
	return fmt.Errorf("%w; call %s %s", err, c.tool, fence.Clean(string(right)))
}

// complete reports whether a call has the arguments that its tool requires.
func complete(tool string, call json.RawMessage) bool {
	var schema struct {
		Required []string `json:"required"`
	}
	var given map[string]json.RawMessage
	defined, _ := definitions.Of(tool)
	if json.Unmarshal([]byte(defined.Schema), &schema) != nil || json.Unmarshal(call, &given) != nil {
		return false
	}
	if tool == "browser_wait" { // browser_wait requires one of several arguments
		delete(given, "timeout")
		delete(given, "tab")
		return len(given) > 0
	}
	return !slices.ContainsFunc(schema.Required, func(name string) bool { return given[name] == nil })
}

// step returns the arguments with the single step in a list, or nil if the call is not one of browser_interact with a single step.
func step(c *Call) json.RawMessage {
	var given map[string]any
	if c.tool != "browser_interact" || json.Unmarshal(c.Arguments, &given) != nil || given["steps"] != nil {
		return nil
	}
	corrected := args.Correct(c.Arguments, new(steps.Arguments))
	var one map[string]any
	if corrected == nil || json.Unmarshal(corrected, &one) != nil {
		return nil
	}
	if one["action"] == nil {
		one["action"] = "click"
	}
	return args.Marshal(map[string]any{"steps": []any{one}})
}

// Unknown suggests a call in place of a call of an unknown tool. Its text is written for the model.
func Unknown(name string, raw json.RawMessage, offered []Tool) string {
	var names []string
	for i := range offered {
		names = append(names, offered[i].Name)
	}
	if name == "browser_search" {
		return fmt.Sprintf("%s is not loaded: it needs a search provider of the daemon (domtap serve --search-provider) and domtap mcp with --tools all; use one of %s", name, strings.Join(names, ", "))
	}
	if slices.ContainsFunc(table, func(t Tool) bool { return t.Name == name }) {
		return fmt.Sprintf("%s is not loaded: use one of %s, or start domtap mcp with --tools all", name, strings.Join(names, ", "))
	}
	what := fmt.Sprintf("unknown tool %q", fence.Clean(name))
	call, known := aliases.Translate(name, raw)
	switch near := nearest.Name(name, names); {
	case known && call.Tool == "":
		return what + ": " + call.Note
	case known && slices.Contains(names, call.Tool):
		right := string(args.Marshal(call.Arguments))
		if len(right) > suggested {
			right = definitions.Example(call.Tool)
		}
		return fmt.Sprintf("%s: call %s %s", what, call.Tool, fence.Clean(right))
	case near != "":
		return fmt.Sprintf("%s: call %s %s", what, near, definitions.Example(near))
	}
	return fmt.Sprintf("%s: use one of %s", what, strings.Join(names, ", "))
}
