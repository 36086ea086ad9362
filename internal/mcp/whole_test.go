package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/actortest"
)

// TestALargePageIsReadInOneMoreAnswer reads a page of 2,000 controls. By default an answer contains 300 of them.
func TestALargePageIsReadInOneMoreAnswer(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		var body []*actortest.Node
		for i := range 2000 {
			body = append(body, actortest.Button(orderName(i)))
		}
		b.browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Title: "Shop", Body: body} })
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL, "show": "none"})
		const hint = "# pass max_elements 0 and max_tokens 0 to get the rest in one call\n"
		part := h.do("browser_get_elements_compact", nil)
		cursor := regexp.MustCompile("next: ([[:alnum:]]+)").FindStringSubmatch(part)
		if !strings.Contains(part, hint) || cursor == nil {
			t.Fatalf("no word of the rest:\n%s", part)
		}
		all := object{"max_elements": 0, "max_tokens": 0}
		whole := h.do("browser_get_elements_compact", all)
		all["cursor"] = cursor[1]
		rest := h.do("browser_get_elements_compact", all)
		for i := range 2000 {
			name := orderName(i)
			if !strings.Contains(whole, name) || !strings.Contains(part+rest, name) {
				t.Fatalf("%q is in neither", name)
			}
		}
		if strings.Contains(whole+rest, hint) {
			t.Error("an answer with all of the page says how to have more")
		}
	})
}

// orderName returns a name that does not continue the numbering of the previous one.
func orderName(i int) string { return fmt.Sprintf("Order %d.", i*i) }
