package metrics

import "github.com/prometheus/client_golang/prometheus"

// Browsers counts the browsers of a daemon. Its methods do not block.
type Browsers interface {
	// Up returns how many browsers are running. Restarts returns how many restarts there were.
	Up() int
	Restarts() int
}

// FollowBrowsers adds metrics that are read from the browsers at each scrape: domtap_browsers and
// domtap_browser_restarts_total. Call it once.
func (m *Metrics) FollowBrowsers(b Browsers) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "domtap_browsers", Help: "Browsers that run."},
			func() float64 { return float64(b.Up()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "domtap_browser_restarts_total",
			Help: "Browsers that were started again because one had died or did not answer."},
			func() float64 { return float64(b.Restarts()) }))
}
