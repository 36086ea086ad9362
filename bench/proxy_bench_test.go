package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/netpolicy/proxy"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkPageLoad loads a page with 20 uncached pictures of 50 KB: directly, and through the proxy of a URL policy.
func BenchmarkPageLoad(b *testing.B) {
	picture := []byte(strings.Repeat("x", 50_000))
	url := testenv.Serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			p, err := netpolicy.Parse("public,allow=127.0.0.1")
			if err != nil {
				b.Fatal(err)
			}
			gate, err := proxy.Open(b.Context(), proxy.Config{Policy: p})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = gate.Close() })
			cfg.Gate = gate
		}
		b.Run(name, func(b *testing.B) {
			d := testenv.StartWith(b, tabpool.Config{}, server.Config{}, cfg)
			tab := d.Open(url)
			for b.Loop() {
				if _, err := d.Tabs.Navigate(b.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: url}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
