package mcp

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/mcp/tools"
)

func TestRoutesOverMCP(t *testing.T) {
	inBubble(t, Options{Tools: tools.Network}, func(t *testing.T, b *bench) {
		h := b.host()
		wantAll(t, h.do("browser_route", object{"action": "list"}), "# no routes")
		wantAll(t, h.do("browser_route", object{"action": "block", "url": "**/*.png", "types": "image"}), "# route r1")
		wantAll(t, h.do("browser_route", object{"action": "mock", "url": "**/api", "body": `{"a":1}`, "status": "201"}), "# route r2")
		wantAll(t, h.do("browser_route", object{"action": "rewrite", "url": "**/x", "to": "https://b.example/", "headers": []string{"X-Team: blue"}}), "# route r3")
		wantAll(t, h.do("browser_route", object{"action": "list"}), "# r3: rewrite **/x, 0 matched\n", "# r2: mock 201 **/api, 0 matched\n", "# r1: block **/*.png, 0 matched")
		wantAll(t, h.do("browser_route", object{"action": "remove", "route": "r1"}), "# removed: 1")
		wantAll(t, h.do("browser_route", object{"action": "remove", "route": "all"}), "# removed: 2")
		for want, arguments := range map[string]object{
			"action must be one of block, list, mock": {"action": "abort", "url": "**"},
			"route is missing":                        {"action": "remove"},
			"unknown route \"r9\"":                    {"action": "remove", "route": "r9"},
			"headers must be lines":                   {"action": "mock", "url": "**", "headers": "nonsense"},
			"url_pattern":                             {"action": "block"},
		} {
			if got, failed := h.call("browser_route", arguments); !failed || !strings.Contains(got, want) {
				t.Errorf("%v: %v, %s", arguments, failed, got)
			}
		}
	})
}
