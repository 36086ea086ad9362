package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser"
	"github.com/domtap/domtap/egress"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
	"github.com/domtap/domtap/policy"
	"github.com/domtap/domtap/rpc"
)

// BenchmarkPageLoad loads a page with 20 pictures of 50 KB that are not cached: straight, and through the proxy of a URL policy.
func BenchmarkPageLoad(b *testing.B) {
	picture := []byte(strings.Repeat("x", 50_000))
	url := harness.Serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path != "/" {
			_, _ = w.Write(picture)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			_, _ = fmt.Fprintf(w, "<img src=/%d>", i)
		}
	}))
	for _, gated := range []bool{false, true} {
		name, cfg := "straight", browser.Config{}
		if gated {
			name = "proxy"
			p, err := policy.Parse("public,allow=127.0.0.1")
			if err != nil {
				b.Fatal(err)
			}
			gate, err := egress.Open(b.Context(), egress.Config{Policy: p})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = gate.Close() })
			cfg.Gate = gate
		}
		b.Run(name, func(b *testing.B) {
			d := harness.StartWith(b, actor.Config{}, rpc.Config{}, cfg)
			tab := d.Open(url)
			for b.Loop() {
				if _, err := d.Tabs.Navigate(b.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
