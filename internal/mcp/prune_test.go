package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/transcript"
)

// Pruning a transcript keeps both the page and the diff of an action on that page, because a model needs both.
func TestPruningKeepsAPageAndWhatChangedOnIt(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay")
		pay.Act = func(page *actortest.Page, _ driver.Action) error {
			page.Update(func(main *actortest.Frame) {
				for range 20 {
					main.Body = append(main.Body, actortest.Button("Paid in full, with thanks"))
				}
			})
			return nil
		}
		body := []*actortest.Node{pay}
		for i := range 20 {
			letter := string(rune('a' + i))
			body = append(body, actortest.Link("A thing to buy: "+letter, shopURL+letter))
		}
		b.browser.Serve(shopURL, func() actortest.Screen { return actortest.Screen{Title: "Shop", Body: body} })
		h := b.host()
		old := h.do("browser_navigate", object{"url": shopURL})
		page := h.do("browser_get_elements_compact", nil)
		did := h.do("browser_interact", object{"steps": []object{{"action": "click", "ref": 0}}})
		var messages []object
		for i, answer := range []string{old, page, did} {
			id, name := string(rune('a'+i)), []string{"browser_navigate", "mcp__domtap__browser_get_elements_compact", "browser_interact"}[i]
			messages = append(messages,
				object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": name, "input": object{}}}},
				object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": []object{{"type": "text", "text": answer}}}}})
		}
		raw, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		small, stats, err := transcript.Transcript(raw, transcript.Default())
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(small), "A thing to buy"); stats.Removed != 1 || n != 20 || strings.Count(string(small), "×20 Paid in full") != 1 {
			t.Errorf("%+v, and the page is there %d times in\n%s", stats, n, small)
		}
	})
}
