package bench

import (
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// BenchmarkIdleClick clicks a button that changes nothing, on a small and on a large page. It measures one call of Interact, including its
// commands to the browser.
func BenchmarkIdleClick(b *testing.B) {
	for name, more := range map[string]int{"small": 0, "5000": 5000} {
		b.Run(name, func(b *testing.B) {
			page := "<!doctype html><button>Idle</button>" + strings.Repeat("<a href=/x>link</a> ", more)
			url := testenv.Serve(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("content-type", "text/html")
				_, _ = w.Write([]byte(page))
			}))
			d := testenv.StartDaemon(b)
			tab := d.Open(url)
			ref := d.All(tab).GetElements()[0].GetRef()
			click := &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Click{
				Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}}}
			before := d.Browser.Sent()
			for b.Loop() {
				if _, err := d.Actions.Interact(b.Context(), click); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(d.Browser.Sent()-before)/float64(b.N), "commands/op")
		})
	}
}
