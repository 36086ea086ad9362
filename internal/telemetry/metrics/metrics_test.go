package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/telemetry/metrics"
)

// scrape returns all values by name and labels.
func scrape(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("status %d, %v", w.Code, err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "#") || !found {
			continue
		}
		if i := strings.LastIndex(line, "} "); i >= 0 {
			name, value = line[:i+1], strings.TrimSpace(line[i+2:])
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		values[name] = v
	}
	return values
}

const home = "https://shop.example/secret?token=1"

// session is a daemon on a fake browser, with a running stream.
type session struct {
	dom    domtapv1.DomServiceClient
	tabs   domtapv1.TabServiceClient
	stream domtapv1.DomService_WatchDomClient
	page   *actortest.Page
	tab    string
}

func start(t *testing.T, m *metrics.Metrics) *session {
	t.Helper()
	b := actortest.NewBrowser()
	b.Serve(home, func() actortest.Screen {
		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Pay")}}
	})
	pool := tabpool.New(b, tabpool.Config{Meter: m})
	m.FollowTabs(pool)
	server, err := server.New(pool, server.Config{Metrics: m})
	if err != nil {
		t.Fatal(err)
	}
	m.FollowUsage(server.Usage())
	socket := filepath.Join(t.TempDir(), "s")
	l, err := listen.Socket(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	})
	s := &session{dom: domtapv1.NewDomServiceClient(conn), tabs: domtapv1.NewTabServiceClient(conn)}
	opened, err := s.tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: home})
	if err != nil {
		t.Fatal(err)
	}
	s.tab, s.page = opened.GetTab().GetId(), b.Page(0)
	if s.stream, err = s.dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: s.tab}); err != nil {
		t.Fatal(err)
	}
	s.next(t)
	return s
}

func (s *session) next(t *testing.T) *domtapv1.WatchDomResponse {
	t.Helper()
	m, err := s.stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// failure is the metric for a call on an unknown tab.
const failure = `domtap_failures_total{method="GetCompact",reason="NOT_FOUND"}`

func TestASessionMovesTheMetrics(t *testing.T) {
	m := metrics.New()
	s := start(t, m)
	for i := range 3 {
		s.page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(fmt.Sprint("New ", i))) })
		s.next(t)
	}
	s.page.Go(home)
	for s.next(t).GetResync() == nil {
	}
	// A message is counted immediately after it is sent. The next message is sent after that.
	s.page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("Last")) })
	s.next(t)
	if _, err := s.dom.WaitFor(t.Context(), &domtapv1.WaitForRequest{TabId: s.tab, Until: &domtapv1.WaitCondition{Text: "last"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: "nobody"}); err == nil {
		t.Fatal("a tab that is not there was read")
	}
	// A call is counted when it ends, which its client may notice earlier.
	got := scrape(t, m)
	for over := time.After(30 * time.Second); got[failure] == 0; got = scrape(t, m) {
		select {
		case <-over:
			t.Fatalf("the failure is not there: %v", got)
		default:
		}
	}
	for name, least := range map[string]float64{
		`domtap_tokens_total{counted="exactly",method="GetCompact"}`: 20,
		`domtap_tokens_total{counted="estimated",method="WatchDom"}`: 20,
		`domtap_full_tokens_total{method="GetCompact"}`:              20,
		`domtap_compared_tokens_total{method="GetCompact"}`:          20,
		failure:                                    1,
		`domtap_reads_total{what="pages"}`:         2,
		`domtap_reads_total{what="view_hit"}`:      1,
		`domtap_folded_elements_total`:             0,
		"domtap_tabs":                              1,
		"domtap_frozen_tabs":                       0,
		"domtap_watchers":                          1,
		"domtap_revisions_total":                   5,
		"domtap_coalesced_total":                   0,
		`domtap_resyncs_total{reason="navigated"}`: 1,
		"domtap_log_bytes":                         1,
		"domtap_actor_busy_seconds_total":          1e-9,
		"domtap_page_agent_seconds_total":          1e-9,
		"domtap_mutation_to_send_seconds_count":    4,
		"go_goroutines":                            1,
		"go_gc_heap_live_bytes":                    0,
		`grpc_server_handled_total{grpc_code="OK",grpc_method="WaitFor",grpc_service="domtap.v1.DomService",grpc_type="unary"}`: 1,
	} {
		if value, there := got[name]; !there || value < least {
			t.Errorf("%s is %v (%v), want at least %v", name, value, there, least)
		}
	}
	if got["domtap_mutation_to_send_seconds_sum"] > 60 {
		t.Errorf("messages took %v s", got["domtap_mutation_to_send_seconds_sum"])
	}
	for name := range got {
		if strings.Contains(name, "shop") || strings.Contains(name, `"t1"`) || strings.Contains(name, "Pay") {
			t.Errorf("%s tells of a page or a tab", name)
		}
	}
}

func TestFoldedRevisionsAndWatchersAreCounted(t *testing.T) {
	m := metrics.New()
	m.Watching(2)
	m.Watching(-1)
	m.Sent(20*time.Millisecond, 1)
	m.Sent(time.Second, 5)
	got := scrape(t, m)
	if got["domtap_watchers"] != 1 || got["domtap_coalesced_total"] != 4 || got["domtap_mutation_to_send_seconds_count"] != 2 ||
		got[`domtap_mutation_to_send_seconds_bucket{le="0.025"}`] != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAClusterIsCounted(t *testing.T) {
	m := metrics.New()
	m.FollowCluster(func() metrics.Cluster {
		return metrics.Cluster{
			Nodes: map[string]int{"serving": 2, "gone": 1}, Sessions: map[string]int{"n1": 3, "n2": 0}, Renewed: 10, Unrenewed: 1, LeaseAge: 1500 * time.Millisecond,
			Restored: 2, Unrestored: 3, Ended: 4, Fenced: 5, Moved: 6, Passed: 7, Lost: 8, Copies: 9, Published: 11, Records: 12, Bytes: 13,
		}
	})
	got := scrape(t, m)
	for name, want := range map[string]float64{
		`domtap_cluster_nodes{state="serving"}`: 2, `domtap_cluster_nodes{state="gone"}`: 1,
		`domtap_cluster_sessions{node="n1"}`: 3, `domtap_cluster_sessions{node="n2"}`: 0,
		`domtap_cluster_lease_renewals_total{outcome="stored"}`: 10, `domtap_cluster_lease_renewals_total{outcome="failed"}`: 1, "domtap_cluster_lease_age_seconds": 1.5,
		`domtap_cluster_takeovers_total{outcome="restored"}`: 2, `domtap_cluster_takeovers_total{outcome="failed"}`: 3, "domtap_cluster_leases_ended_total": 4,
		"domtap_cluster_fenced_sessions_total": 5, "domtap_cluster_moved_sessions_total": 6,
		`domtap_cluster_passed_calls_total{what="all"}`: 7, `domtap_cluster_passed_calls_total{what="lost"}`: 8,
		"domtap_cluster_copies": 9, "domtap_cluster_published_tabs": 11, "domtap_cluster_log_records_total": 12, "domtap_cluster_log_bytes_total": 13,
	} {
		if value, there := got[name]; !there || value != want {
			t.Errorf("%s is %v (%v), want %v", name, value, there, want)
		}
	}
}

// herd has two browsers, one of them running.
type herd struct{}

func (herd) Up() int       { return 1 }
func (herd) Restarts() int { return 3 }

func TestBrowsersAreCounted(t *testing.T) {
	m := metrics.New()
	m.FollowBrowsers(herd{})
	if got := scrape(t, m); got["domtap_browsers"] != 1 || got["domtap_browser_restarts_total"] != 3 {
		t.Errorf("got %v", got)
	}
}
