package capture

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/testenv"
)

// meter counts the pages with omitted elements.
type meter struct{ limited atomic.Int32 }

func (*meter) Published()              {}
func (*meter) Busy(time.Duration)      {}
func (*meter) PageAgent(time.Duration) {}
func (m *meter) Refused(limit string) {
	if limit == "page_elements" {
		m.limited.Add(1)
	}
}

func TestOversizedPageIsTruncated(t *testing.T) {
	counted := new(meter)
	d := testenv.StartWith(t, tabpool.Config{Meter: counted}, server.Config{AllowEval: true}, browser.Config{PageElements: 100})
	base := testenv.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := 150
		if r.URL.Path == "/small" {
			n = 50
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Many</title>" + strings.Repeat("<button>Buy</button>", n)))
	}))
	tab := d.Open(base)
	if got := d.All(tab); len(got.GetElements()) != 100 || !got.GetMetadata().GetPageLimited() {
		t.Errorf("%d elements, limited %v; want 100 and true", len(got.GetElements()), got.GetMetadata().GetPageLimited())
	}
	if n := counted.limited.Load(); n != 1 {
		t.Errorf("counted %d times", n)
	}
	if _, err := d.Tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab, Url: base + "/small"}); err != nil {
		t.Fatal(err)
	}
	if got := d.All(tab); len(got.GetElements()) != 50 || got.GetMetadata().GetPageLimited() {
		t.Errorf("%d elements, limited %v; want 50 and false", len(got.GetElements()), got.GetMetadata().GetPageLimited())
	}
}
