package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/domtap/domtap/internal/telemetry/usage"
)

// FollowUsage adds metrics that are read from the recorder at each scrape: tokens and steps by method and kind, and the use of caches. Call
// it once.
func (m *Metrics) FollowUsage(recorder *usage.Recorder) {
	m.registry.MustRegister(usageCollector{recorder})
}

// usageCollector collects metrics from a recorder. The number of labels is bounded by the numbers of methods, kinds of steps, and reasons.
type usageCollector struct{ recorder *usage.Recorder }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	tokensOut = describe("domtap_tokens_total",
		"Tokens that answers cost, by method; counted exactly, or estimated.", "method", "counted")
	fullTokens = describe("domtap_full_tokens_total",
		"About the tokens that the whole page would have cost at each answer that shows one. Less domtap_compared_tokens_total it is what was saved.", "method")
	comparedTokens = describe("domtap_compared_tokens_total",
		"The tokens of the answers that domtap_full_tokens_total is about.", "method")
	failures = describe("domtap_failures_total",
		"Calls that failed, by method and reason.", "method", "reason")
	stepsDone = describe("domtap_steps_total",
		"Steps of actions by kind, and how they went: done, failed or skipped.", "kind", "outcome")
	readHits = describe("domtap_reads_total",
		"Answers that showed a page, by what they found or told: pages, of which head_hit and view_hit lay ready; texts, of which text_hit did; incremental and resync.", "what")
	foldedElements = describe("domtap_folded_elements_total",
		"Elements that were spared because the navigation around them had been sent with the page before.")
)

// Describe implements prometheus.Collector.
func (usageCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tokensOut, fullTokens, comparedTokens, failures, stepsDone, readHits, foldedElements} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c usageCollector) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	total := c.recorder.Total()
	for _, m := range total.Methods {
		counter(tokensOut, m.Tokens, m.Name, "exactly")
		counter(tokensOut, m.Estimated, m.Name, "estimated")
		counter(fullTokens, m.Full, m.Name)
		counter(comparedTokens, m.Compared, m.Name)
		for reason, n := range m.Failures {
			counter(failures, n, m.Name, reason)
		}
	}
	for _, s := range total.Steps {
		counter(stepsDone, s.Done, s.Kind, "done")
		counter(stepsDone, s.Failed, s.Kind, "failed")
		counter(stepsDone, s.Skipped, s.Kind, "skipped")
	}
	r := total.Reads
	for what, n := range map[string]int64{
		"pages": r.Pages, "head_hit": r.HeadHits, "view_hit": r.ViewHits, "texts": r.Texts, "text_hit": r.TextHits,
		"incremental": r.Incremental, "resync": r.Resyncs,
	} {
		counter(readHits, n, what)
	}
	counter(foldedElements, r.Elements)
}
