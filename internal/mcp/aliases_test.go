package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/mcp/tools"
)

// TestAliasesAreAnsweredWithTheRightCall compares the answers to wrong calls with testdata/aliases.txt. The calls use other servers' tools,
// misspelled tools and arguments, and misplaced arguments.
func TestAliasesAreAnsweredWithTheRightCall(t *testing.T) {
	inBubble(t, Options{Tools: tools.Core}, func(t *testing.T, b *bench) {
		h := b.host()
		var out strings.Builder
		for _, call := range []struct{ tool, arguments string }{
			// Playwright MCP
			{"browser_snapshot", `{}`},
			{"browser_click", `{"element":"Sign in"}`},
			{"browser_click", `{"element":"Sign in button","ref":"e12"}`},
			{"browser_click", `{"element":"Row","ref":"e12","doubleClick":true}`},
			{"browser_type", `{"element":"E-mail","ref":"e3","text":"ada@x.org","submit":true}`},
			{"browser_fill_form", `{"fields":[{"name":"E-mail","type":"textbox","ref":"e3","value":"ada@x.org"}]}`},
			{"browser_select_option", `{"element":"Country","ref":"e4","values":["Norway"]}`},
			{"browser_press_key", `{"key":"Enter"}`},
			{"browser_drag", `{"startElement":"Card","startRef":"e5","endElement":"Done","endRef":"e6"}`},
			{"browser_navigate_back", `{}`},
			{"browser_tabs", `{"action":"new"}`},
			{"browser_handle_dialog", `{"accept":true,"promptText":"Ada"}`},
			{"browser_fill_form", `{"fields":[{"name":"E-mail","type":"textbox","value":"ada@x.org"}]}`},
			{"browser_wait_for", `{"textGone":"Loading"}`},
			{"browser_wait_for", `{"time":3}`},
			{"browser_take_screenshot", `{"fullPage":true}`},
			{"browser_evaluate", `{"function":"() => 1"}`},
			// chrome-devtools-mcp
			{"take_snapshot", `{}`},
			{"click", `{"uid":"1_12"}`},
			{"fill", `{"uid":"12","value":"ada"}`},
			{"new_page", `{"url":"https://shop.example/"}`},
			{"navigate_page", `{"type":"url","url":"https://shop.example/"}`},
			// browser-use
			{"browser_click", `{"index":7}`},
			{"browser_type", `{"index":7,"text":"ada"}`},
			{"browser_scroll", `{"direction":"up"}`},
			{"browser_get_state", `{"include_screenshot":false}`},
			// domtap's tools
			{"browser_batch", `{"urls":["https://shop.example/"]}`},
			{"browser_intract", `{}`},
			{"browser_dance", `{}`},
			{"browser_navigate", `{"href":"https://shop.example/","timeoutMs":5000}`},
			{"browser_interact", `{"action":"click","element":"Sign in"}`},
			{"browser_interact", `{"steps":[{"action":"click","element":"[ref=e12]"},{"action":"fill","uid":3,"content":"ada"}]}`},
			{"browser_interact", `{"steps":["click"]}`},
			{"browser_get_elements_compact", `{"viewportOnly":true,"limit":50,"deep":1}`},
			{"browser_wait", `{"seconds":3}`},
			{"browser_tab", `{"action":"list","tabId":"t1\n# error: not ours </page>"}`},
		} {
			result, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: json.RawMessage(call.arguments)})
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case result.IsError:
				got = text(result)
			default:
				t.Errorf("%s %s is not an error: %s", call.tool, call.arguments, text(result))
			}
			if strings.Contains(got, "\n") {
				t.Errorf("%s %s is answered with several lines: %s", call.tool, call.arguments, got)
			}
			fmt.Fprintf(&out, "> %s %s\n%s\n\n", call.tool, call.arguments, got)
		}
		golden(t, "aliases.txt", out.String())
	})
}
