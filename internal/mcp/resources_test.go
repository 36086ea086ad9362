package mcp

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/actor/actortest"
)

// uris returns the URIs of the resources that are listed for a host.
func (h *host) uris() []string {
	h.t.Helper()
	got, err := h.ListResources(h.t.Context(), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, r := range got.Resources {
		out = append(out, r.URI+" "+r.Title)
	}
	return out
}

func TestTabsAreResources(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		if got := h.uris(); got != nil {
			t.Errorf("resources before there is a tab: %q", got)
		}
		h.do("browser_navigate", object{"url": shopURL})
		settle()
		if _, _, lists := h.told(); lists == 0 {
			t.Error("nobody told that a tab was opened")
		}
		if got, want := h.uris(), []string{"domtap://tab/t1 Tab t1: shop.example"}; !slices.Equal(got, want) {
			t.Errorf("resources %q, want %q", got, want)
		}
		got, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "domtap://tab/t1"})
		if err != nil {
			t.Fatal(err)
		}
		wantAll(t, got.Contents[0].Text, "<page nonce=", "URL: "+shopURL+" | Title: Shop", "[1] Pay (button)")
		h.told()
		h.do("browser_tab", object{"action": "close"})
		settle()
		if _, _, lists := h.told(); lists == 0 {
			t.Error("nobody told that a tab was closed")
		}
		if got := h.uris(); got != nil {
			t.Errorf("resources after the tab was closed: %q", got)
		}
	})
}

func TestSubscribersAreNotifiedOfUpdates(t *testing.T) {
	inBubble(t, Options{UpdateInterval: time.Second}, func(t *testing.T, b *bench) {
		one, two := b.host(), b.host()
		one.do("browser_navigate", object{"url": shopURL})
		uri := scheme + "t1"
		for _, h := range []*host{one, two, one} { // a second subscription has no effect
			if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		settle()
		if n := len(b.server.watches.all); n != 1 {
			t.Errorf("%d streams for one tab", n)
		}
		one.told()
		two.told()
		page := b.browser.Page(0)
		for i := range 100 { // 10 s with ten changes per second
			page.Update(func(main *actortest.Frame) { main.Body[1].Text = string(rune('a' + i%26)) })
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		_, ones, _ := one.told()
		_, twos, _ := two.told()
		if n := len(ones); n < 9 || n > 12 || len(twos) != n {
			t.Errorf("a hundred changes in ten seconds gave %d and %d updates, want about ten", n, len(twos))
		}
		if err := two.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
			t.Error(err)
		}
		page.Update(func(main *actortest.Frame) { main.Body[1].Text = "after" })
		time.Sleep(2 * time.Second)
		_, ones, _ = one.told()
		_, twos, _ = two.told()
		if len(ones) == 0 || len(twos) != 0 {
			t.Errorf("after one unsubscribed: %d and %d updates", len(ones), len(twos))
		}
		_ = one.Close() // also closes the tab
		settle()
		if n := len(b.server.watches.all); n != 0 {
			t.Errorf("%d streams after the last subscriber's session ended", n)
		}
	})
}

// A change immediately after the answer to a subscription must be reported. It was missed when the answer came before the daemon watched
// the tab.
func TestTheFirstChangeAfterASubscriptionIsNotMissed(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL})
		for i := range 20 {
			uri := scheme + "t1"
			if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			b.browser.Page(0).Update(func(main *actortest.Frame) { main.Body[1].Text = string(rune('a' + i)) })
			time.Sleep(5 * time.Second)
			if _, updates, _ := h.told(); len(updates) == 0 {
				t.Fatalf("subscription %d: no update", i)
			}
			if err := h.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestASubscriptionOutlivesACrash(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL})
		if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: scheme + "t1"}); err != nil {
			t.Fatal(err)
		}
		b.browser.Page(0).Crash("crashed")
		time.Sleep(5 * time.Second)
		wantAll(t, h.do("browser_tab", object{"action": "reload"}), "# tab t1")
		time.Sleep(5 * time.Second)
		h.told()
		b.browser.Page(0).Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("Back again")) })
		time.Sleep(2 * time.Second)
		if _, updates, _ := h.told(); len(updates) == 0 {
			t.Error("no update after the tab came back")
		}
	})
}

func TestSubscribeToAnUnknownTab(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		for _, uri := range []string{"domtap://tab/t9", "domtap://tab/", "https://shop.example/"} {
			var known *jsonrpc.Error
			if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); !errors.As(err, &known) || known.Message != "Resource not found" {
				t.Errorf("subscribing to %s: %v", uri, err)
			}
		}
		if n := len(b.server.watches.all); n != 0 {
			t.Errorf("%d streams", n)
		}
	})
}

func TestTimelineIsAResource(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL})
		got, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: scheme + "t1" + ofTimeline})
		if err != nil {
			t.Fatal(err)
		}
		text := got.Contents[0].Text
		for _, want := range []string{" OpenTab (", "navigated to " + shopURL, "#1 mcp-"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
		if _, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: scheme + "t9" + ofTimeline}); err == nil {
			t.Error("a tab that there is not has a timeline")
		}
		if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: scheme + "t1" + ofTimeline}); err == nil {
			t.Error("a timeline can be subscribed to")
		}
	})
}
