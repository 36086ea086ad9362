package bench

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkLoadRequests loads a page of 200 requests, with and without the recording of requests.
func BenchmarkLoadRequests(b *testing.B) {
	const requests = 200
	var page strings.Builder
	page.WriteString("<title>Many</title>")
	for i := range requests {
		fmt.Fprintf(&page, `<script src="/s/%d"></script>`, i)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/html")
		_, _ = w.Write([]byte(page.String()))
	})
	mux.HandleFunc("/s/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/javascript")
		w.Header().Set("cache-control", "no-store")
		_, _ = w.Write([]byte("window.n = (window.n || 0) + 1"))
	})
	url := testenv.Serve(b, mux)
	for _, on := range []bool{false, true} {
		name := "off"
		if on {
			name = "on"
		}
		b.Run(name, func(b *testing.B) {
			r := testenv.StartBrowser(b)
			pool := testenv.StartPool(b, r)
			tab, err := pool.Open(b.Context(), tabpool.OpenOptions{URL: url})
			if err != nil {
				b.Fatal(err)
			}
			method := "Network.disable"
			params := map[string]any{}
			if on {
				method = "Network.enable"
				params = map[string]any{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0}
			}
			if err := r.Newest().Call(b.Context(), method, params, nil); err != nil {
				b.Fatal(err)
			}
			before := r.Received()
			for b.Loop() {
				if _, err := tab.Reload(b.Context(), actor.WaitLoad); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Received()-before)/float64(b.N)/requests, "B/request")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/requests, "us/request")
		})
	}
}
