package metrics

import "github.com/prometheus/client_golang/prometheus"

// Browsers are the browsers of a daemon. Its methods do not wait.
type Browsers interface {
	// Up is how many run, and Restarts how many were started again.
	Up() int
	Restarts() int
}

// FollowBrowsers adds what is read of the browsers when somebody asks: domtap_browsers and
// domtap_browser_restarts_total. It is called once.
func (m *Metrics) FollowBrowsers(b Browsers) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "domtap_browsers", Help: "Browsers that run."},
			func() float64 { return float64(b.Up()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "domtap_browser_restarts_total",
			Help: "Browsers that were started again because one had died or did not answer."},
			func() float64 { return float64(b.Restarts()) }))
}
