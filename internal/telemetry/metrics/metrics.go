// Package metrics collects the daemon's Prometheus metrics. It implements the meters that packages actor and server declare. A daemon
// without metrics measures nothing.
//
// The package guarantees that the set of labels is bounded. Labels are methods, codes and reasons, never text from a page or a client. No
// metric identifies a tab.
package metrics

import (
	"net/http"
	"time"

	provider "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// Metrics holds the metrics of one daemon. Its methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	server   *provider.ServerMetrics

	watchers                              prometheus.Gauge
	revisions, coalesced, busy, pageAgent prometheus.Counter
	resyncs, refusals                     *prometheus.CounterVec
	latency                               prometheus.Histogram
}

// liveHeap adds go_gc_heap_live_bytes, the heap size after the last collection. It shows growth without garbage.
var liveHeap = lazyregexp.New(`^/gc/heap/live:bytes$`)

// New returns Metrics with all values zero.
func New() *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		server:   provider.NewServerMetrics(provider.WithServerHandlingTimeHistogram()),
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{Name: "domtap_watchers", Help: "WatchDom streams that are open."}),
		revisions: counter("domtap_revisions_total",
			"Revisions that tabs published."),
		coalesced: counter("domtap_coalesced_total",
			"Revisions that were folded into a message of a stream with others, beyond the one of each message."),
		busy: counter("domtap_actor_busy_seconds_total",
			"Time that the goroutines of tabs spent on events and calls, waiting for their pages included. Its rate divided by domtap_tabs is their saturation."),
		pageAgent: counter("domtap_page_agent_seconds_total",
			"Time that domtap's agents took from the main threads of pages to find and write changes, as the pages measured it."),
		resyncs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "domtap_resyncs_total", Help: "Whole views that streams sent instead of a diff, by reason."}, []string{"reason"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "domtap_refusals_total", Help: "Calls that were refused, windows that were closed at once, and pages of which elements were left out, because a limit was reached, by limit."}, []string{"limit"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "domtap_mutation_to_send_seconds", Help: "From the newest change of a message, by the page's clock, to when gRPC had taken the message.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}),
	}
	m.registry.MustRegister(m.server, m.watchers, m.revisions, m.coalesced, m.busy, m.pageAgent, m.resyncs, m.refusals, m.latency,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap()})), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// FollowTabs adds gauges that are read from the open tabs at each scrape: domtap_tabs, domtap_frozen_tabs and domtap_log_bytes. Call it
// once.
func (m *Metrics) FollowTabs(pool interface{ Tabs() []*actor.Tab }) {
	gauge := func(name, help string, value func() int) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	gauge("domtap_tabs", "Tabs that are open.", func() int { return len(pool.Tabs()) })
	gauge("domtap_frozen_tabs", "Tabs whose pages are frozen, because nobody used them for --freeze-idle of domtap serve.", func() int {
		frozen := 0
		for _, t := range pool.Tabs() {
			if t.Info().Frozen {
				frozen++
			}
		}
		return frozen
	})
	gauge("domtap_log_bytes", "What the logs of the open tabs take, in bytes as their bound counts them.", func() int {
		bytes := 0
		for _, t := range pool.Tabs() {
			bytes += t.Head().LogBytes()
		}
		return bytes
	})
}

// Handler serves the metrics in the Prometheus formats.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Published implements actor.Meter.
func (m *Metrics) Published() { m.revisions.Inc() }

// Busy implements actor.Meter.
func (m *Metrics) Busy(d time.Duration) { m.busy.Add(d.Seconds()) }

// PageAgent implements actor.Meter.
func (m *Metrics) PageAgent(d time.Duration) { m.pageAgent.Add(d.Seconds()) }

// Unary implements server.Metrics.
func (m *Metrics) Unary() grpc.UnaryServerInterceptor { return m.server.UnaryServerInterceptor() }

// Stream implements server.Metrics.
func (m *Metrics) Stream() grpc.StreamServerInterceptor { return m.server.StreamServerInterceptor() }

// Watching implements server.Metrics.
func (m *Metrics) Watching(by int) { m.watchers.Add(float64(by)) }

// Sent implements server.Metrics.
func (m *Metrics) Sent(after time.Duration, folded int) {
	m.latency.Observe(after.Seconds())
	if folded > 1 {
		m.coalesced.Add(float64(folded - 1))
	}
}

// Refused implements server.Metrics and actor.Meter.
func (m *Metrics) Refused(limit string) { m.refusals.WithLabelValues(limit).Inc() }

// Resynced implements server.Metrics.
func (m *Metrics) Resynced(reason string) { m.resyncs.WithLabelValues(reason).Inc() }
