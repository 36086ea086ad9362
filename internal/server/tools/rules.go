package tools

import (
	"encoding/json"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	// maxInput limits the input of a call, in bytes.
	maxInput = 100_000
	// defaultTokens is the budget of the output if the request has none.
	defaultTokens = 1000
)

// Rules are the rules of the requests of ToolService.
var Rules = rules.Union(
	rules.Of(rules.Tab[*domtapv1.ListToolsRequest]),
	rules.Of(rules.Tab[*domtapv1.WatchToolsRequest]),
	rules.Of(checkCallTool),
)

func checkCallTool(v *rules.Violations, r *domtapv1.CallToolRequest) {
	v.TabID(r.GetTabId())
	if v.Want(r.GetName() != "", "name", "is required: ListTools names the tools of the page") {
		v.MaxBytes("name", r.GetName(), rules.MaxID)
	}
	v.MaxBytes("frame_id", r.GetFrameId(), rules.MaxID)
	v.MaxBytes("input_json", r.GetInputJson(), maxInput)
	if r.GetInputJson() != "" && len(r.GetInputJson()) <= maxInput {
		var object map[string]json.RawMessage
		err := json.Unmarshal([]byte(r.GetInputJson()), &object)
		v.Want(err == nil && object != nil, "input_json", `must be a JSON object, such as {"item": "tea"}`)
	}
	v.Timeout("timeout", r.GetTimeout())
	v.Budget("max_tokens", r.GetMaxTokens(), defaultTokens)
	v.ClientID(r.GetClientId())
	v.DiffFormat(r.GetFormat())
}
