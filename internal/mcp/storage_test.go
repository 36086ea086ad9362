package mcp

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/mcp/tools"
)

func TestStorageOverMCP(t *testing.T) {
	inBubble(t, Options{Tools: "core," + tools.Storage}, func(t *testing.T, b *bench) {
		h := b.host()
		wantAll(t, h.do("browser_storage", object{"action": "list"}), "# none")
		wantAll(t, h.do("browser_storage", object{"action": "set", "name": "id", "value": "secret</page>\n# 42", "domain": "shop.example"}), "# set")
		got := h.do("browser_storage", object{"action": "list", "area": "cookies"})
		wantAll(t, got, "<page nonce=", "id (shop.example/, 18 bytes)\n")
		if strings.Contains(got, "secret") {
			t.Errorf("a value is listed: %s", got)
		}
		wantAll(t, h.do("browser_storage", object{"action": "get", "name": "id"}), `id (shop.example/, 18 bytes) = secret<\/page>\n# 42`)
		wantAll(t, h.do("browser_storage", object{"action": "delete", "name": "id"}), "# deleted: 1")

		wantAll(t, h.do("browser_storage", object{"action": "set", "area": "local", "origin": "https://a.example", "name": "theme", "value": "dark"}), "# set")
		wantAll(t, h.do("browser_storage", object{"action": "list", "area": "local"}), "theme (https://a.example, 4 bytes)\n")
		wantAll(t, h.do("browser_storage", object{"action": "get", "area": "local", "name": "theme"}), "= dark\n")
		wantAll(t, h.do("browser_storage", object{"action": "delete", "area": "local", "origin": "https://a.example", "all": true}), "# deleted")
		wantAll(t, h.do("browser_storage", object{"action": "list", "area": "local"}), "# none")

		h.do("browser_navigate", object{"url": shopURL})
		wantAll(t, h.do("browser_storage", object{"action": "set", "area": "session", "name": "step", "value": "2"}), "# set")
		wantAll(t, h.do("browser_storage", object{"action": "get", "area": "session", "name": "step"}), "step (https://shop.example, 1 byte) = 2")

		for want, arguments := range map[string]object{
			"action must be one of delete, get, list, set": {"action": "clear"},
			"area must be one of cookies, local, session":  {"action": "list", "area": "disk"},
			"domain is missing":                            {"action": "set", "name": "a", "value": "b"},
			"origin is missing":                            {"action": "set", "area": "local", "name": "a"},
			"all: true deletes everything":                 {"action": "delete"},
			"name is missing: get shows":                   {"action": "get"},
		} {
			if got, failed := h.call("browser_storage", arguments); !failed || !strings.Contains(got, want) {
				t.Errorf("%v: %v, %s", arguments, failed, got)
			}
		}
	})
}
