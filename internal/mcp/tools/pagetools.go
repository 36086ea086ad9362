package tools

import (
	"context"
	"encoding/json"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
	"github.com/domtap/domtap/internal/mcp/text"
)

// pageToolsArgs holds the arguments of browser_page_tools.
type pageToolsArgs struct {
	Tab string `json:"tab"`
}

// pageTools lists the tools that a page offers.
func pageTools(ctx context.Context, c *Call) error {
	a, err := read[pageToolsArgs](c)
	if err != nil {
		return err
	}
	tab, err := c.tab(a.Tab)
	if err != nil {
		return err
	}
	answer, err := c.Daemon.Tools.ListTools(ctx, &domtapv1.ListToolsRequest{TabId: tab})
	if err != nil {
		return err
	}
	if len(answer.GetTools()) == 0 {
		c.addLine("the page offers no tools")
	}
	if answer.GetIncomplete() {
		c.addLine("the page offers more tools than are listed")
	}
	c.addPageText(text.Tools(answer.GetTools(), text.Line))
	return nil
}

// callPageToolArgs holds the arguments of browser_call_page_tool.
type callPageToolArgs struct {
	Tab     string          `json:"tab"`
	Name    string          `json:"name"`
	Frame   string          `json:"frame"`
	Input   json.RawMessage `json:"input"`
	Timeout args.Seconds    `json:"timeout"`
}

// callPageTool calls a tool that a page offers.
func callPageTool(ctx context.Context, c *Call) error {
	a, err := read[callPageToolArgs](c)
	if err != nil {
		return err
	}
	request := &domtapv1.CallToolRequest{
		Name: a.Name, FrameId: a.Frame, InputJson: inputOf(a.Input), ClientId: c.Session.ClientID, Format: domtapv1.Format_FORMAT_DENSE_DIFF, Brief: true,
	}
	if request.TabId, err = c.tab(a.Tab); err != nil {
		return err
	}
	request.Timeout = c.Timeout(a.Timeout, maxTimeout)
	ctx, cancel := withTimeout(ctx, callTime+request.GetTimeout().AsDuration())
	defer cancel()
	answer, err := c.Daemon.Tools.CallTool(ctx, request)
	if err != nil {
		return err
	}
	c.addPageText(text.Claim(answer.GetClaim()) + text.Requests(answer.GetRequests(), text.Line))
	c.outcome(answer.GetObserved())
	if words := text.Agreement(answer.GetAgreement()); words != "" {
		c.addLine("%s", words)
	}
	if answer.GetClaim().GetOutputCut() {
		c.addLine("what the tool says was cut")
	}
	return nil
}

// inputOf returns the input of a tool. Some models pass the object as a string.
func inputOf(input json.RawMessage) string {
	var quoted string
	if json.Unmarshal(input, &quoted) == nil {
		return quoted
	}
	return string(input)
}
