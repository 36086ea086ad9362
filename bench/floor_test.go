package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// site is a running daemon with a client, and a server of pages of any size.
type site struct {
	*testenv.Daemon
	b   testing.TB
	url string
	// cdp sends a command to the page that was opened last.
	cdp func(ctx context.Context, method string, params, result any) error
}

// newest returns a function that sends commands to the newest page of a daemon in this process.
func newest(d *testenv.Daemon) func(ctx context.Context, method string, params, result any) error {
	return func(ctx context.Context, method string, params, result any) error {
		return d.Browser.Newest().Call(ctx, method, params, result)
	}
}

func newSite(b *testing.B) *site {
	b.Helper()
	d := testenv.StartDaemon(b)
	return &site{Daemon: d, b: b, url: servePages(b), cdp: newest(d)}
}

// servePages serves a page of n elements as /page/n.
func servePages(t testing.TB) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/page/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("content-type", "text/html; charset=utf-8")
		fmt.Fprint(w, HTML(n))
	})
	return testenv.Serve(t, mux)
}

// page loads a fresh document of n elements in a tab. If tab is empty, it opens one.
func (s *site) page(tab string, n int) string {
	s.b.Helper()
	url := fmt.Sprintf("%s/page/%d", s.url, n)
	if tab == "" {
		return s.Open(url)
	}
	s.load(tab, url)
	return tab
}

// interactive reads all interactive elements of a tab, without limits.
func (s *site) interactive(tab string) *domtapv1.GetDomResponse {
	s.b.Helper()
	r, err := s.Dom.GetDom(s.b.Context(), &domtapv1.GetDomRequest{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
	if err != nil {
		s.b.Fatal(err)
	}
	return r
}

// evaluateParams and evaluated are the parts of Runtime.evaluate that the floors use.
type evaluateParams struct {
	Expression    string `json:"expression"`
	ReturnByValue bool   `json:"returnByValue"`
}

type evaluated[T any] struct {
	Result struct {
		Value T `json:"value"`
	} `json:"result"`
}

// evaluate runs an expression in the page that was opened last.
func evaluate[T any](s *site, expression string) T {
	s.b.Helper()
	var out evaluated[T]
	if err := s.cdp(s.b.Context(), "Runtime.evaluate", evaluateParams{expression, true}, &out); err != nil {
		s.b.Fatal(err)
	}
	return out.Result.Value
}

// roundTrip measures R, the median time of a trivial evaluate.
func (s *site) roundTrip() time.Duration {
	return sample(500, func() { evaluate[int](s, "1") }).at(50)
}

// columnar measures C, a plain columnar walk including its transfer.
func (s *site) columnar() time.Duration {
	s.b.Helper()
	start := time.Now()
	if len(evaluate[string](s, RawColumnar)) == 0 {
		s.b.Fatal("the raw walk found nothing")
	}
	return time.Since(start)
}

// axTree measures the time to read and decode the browser's accessibility tree.
func (s *site) axTree() time.Duration {
	s.b.Helper()
	var tree accessibility.GetFullAXTreeResult
	start := time.Now()
	if err := s.cdp(s.b.Context(), accessibility.CommandGetFullAXTree, accessibility.GetFullAXTreeParams{}, &tree); err != nil {
		s.b.Fatal(err)
	}
	if len(tree.Nodes) == 0 {
		s.b.Fatal("the accessibility tree is empty")
	}
	return time.Since(start)
}

// times holds measured durations, sorted.
type times []time.Duration

func sample(n int, f func()) times {
	list := make(times, n)
	for i := range list {
		start := time.Now()
		f()
		list[i] = time.Since(start)
	}
	slices.Sort(list)
	return list
}

// at returns a percentile.
func (t times) at(percent int) time.Duration {
	return t[min(len(t)-1, len(t)*percent/100)]
}

// ratio reports a figure as a ratio to a floor, with its target.
func ratio(b *testing.B, name string, figure, floor time.Duration, target float64) {
	b.Helper()
	got := float64(figure) / float64(floor)
	b.ReportMetric(got, name)
	verdict := "ok"
	if got > target {
		verdict = "MISSED"
	}
	b.Logf("%-16s %10v / %10v = %6.2f (target %.4g) %s", name, figure.Round(time.Microsecond), floor.Round(time.Microsecond), got, target, verdict)
}
