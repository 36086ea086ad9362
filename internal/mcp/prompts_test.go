package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/mcp/tools"
)

var toolInText = lazyregexp.New(`browser_[a-z_]+`)

// Prompts name only tools of the class core, and contain the person's input.
func TestPrompts(t *testing.T) {
	core, err := tools.Select(tools.Core)
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, Options{Tools: tools.Core}, func(t *testing.T, b *bench) {
		h := b.host()
		list, err := h.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != len(prompts) {
			t.Fatalf("%v, %v", list, err)
		}
		for _, p := range list.Prompts {
			given := map[string]string{}
			for _, one := range p.Arguments {
				if one.Required {
					given[one.Name] = "value of " + one.Name
				}
			}
			got, err := h.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: given})
			if err != nil {
				t.Fatal(err)
			}
			text := got.Messages[0].Content.(*mcp.TextContent).Text
			for name, value := range given {
				if !strings.Contains(text, value) {
					t.Errorf("%s leaves out %s: %s", p.Name, name, text)
				}
			}
			for _, tool := range toolInText().FindAllString(text, -1) {
				if !slices.ContainsFunc(core, func(one tools.Tool) bool { return one.Name == tool }) {
					t.Errorf("%s names %s, which is not in core", p.Name, tool)
				}
			}
			if _, err := h.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name}); err == nil || !strings.Contains(err.Error(), "needs the argument url") {
				t.Errorf("%s without arguments: %v", p.Name, err)
			}
		}
		got, err := h.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "fill", Arguments: map[string]string{"url": "u", "data": "d", "submit": "Yes"}})
		if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, "Then submit the form") {
			t.Errorf("%v, %v", got, err)
		}
	})
}
