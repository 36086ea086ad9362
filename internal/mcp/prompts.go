package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt is a task that a person selects in a host. Its text explains how to combine the tools of the class core. It costs no tokens until
// it is used.
type prompt struct {
	name, title, description string
	arguments                []*mcp.PromptArgument
	text                     func(values map[string]string) string
}

func argument(name, description string, required bool) *mcp.PromptArgument {
	return &mcp.PromptArgument{Name: name, Description: description, Required: required}
}

var prompts = []prompt{
	{
		"read", "Read a page", "Answer a question from a web page.",
		[]*mcp.PromptArgument{argument("url", "the page", true), argument("question", "what to find out", true)},
		func(v map[string]string) string {
			return fmt.Sprintf("Answer this from the page %s: %s\n\n"+
				"Open the page with browser_navigate and show: \"content\". If the answer is not there, call browser_find with words of the question, or continue with the cursor. "+
				"Quote the text that supports your answer, with the URL. If the page does not contain the answer, report that.", v["url"], v["question"])
		},
	},
	{
		"fill", "Fill a form", "Fill in a form on a web page, and stop before submitting it.",
		[]*mcp.PromptArgument{argument("url", "the page with the form", true), argument("data", "the values to fill in", true), argument("submit", "yes to submit the form", false)},
		func(v map[string]string) string {
			end := "Do not submit the form. Show me the value of each field."
			if strings.EqualFold(v["submit"], "yes") {
				end = "Then submit the form, and report what the page shows (lines that begin with !)."
			}
			return fmt.Sprintf("Fill in the form at %s with this: %s\n\n"+
				"Open the page with browser_navigate, and fill all fields in one call of browser_fill_form, by their labels. Correct the fields that the result reports as invalid. "+
				"Skip fields for which I gave no value, and list them. %s", v["url"], v["data"], end)
		},
	},
	{
		"check", "Check a page", "Check a web page for errors, failed requests and controls without names.",
		[]*mcp.PromptArgument{argument("url", "the page", true)},
		func(v map[string]string) string {
			return fmt.Sprintf("Check the page %s for problems.\n\n"+
				"Open the page with browser_navigate, wait with browser_wait network_idle: true, and read browser_log. Look at the elements for controls without a name, "+
				"and take one browser_screenshot with marks to find elements that are covered or cut off. Report each problem with its element or request, and how to reproduce it. Change nothing on the page.", v["url"])
		},
	},
}

// offerPrompts adds the prompts to the SDK's server.
func (s *Server) offerPrompts() {
	for _, p := range prompts {
		s.sdk.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: p.arguments}, p.get)
	}
}

// get returns the message of a prompt.
func (p prompt) get(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	for _, one := range p.arguments {
		if one.Required && strings.TrimSpace(r.Params.Arguments[one.Name]) == "" {
			return nil, malformed(fmt.Sprintf("the prompt %s needs the argument %s: %s", p.name, one.Name, one.Description))
		}
	}
	return &mcp.GetPromptResult{
		Description: p.description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: p.text(r.Params.Arguments)}}},
	}, nil
}
