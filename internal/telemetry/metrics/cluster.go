package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Cluster holds the metrics of a cluster node. Counters never decrease.
type Cluster struct {
	// Nodes is the number of nodes by state. Sessions is the number of sessions by node name. Both are as known to this node.
	Nodes, Sessions map[string]int
	// Renewed counts the lease renewals that were stored. Unrenewed counts those that failed or may have failed.
	Renewed, Unrenewed int64
	// LeaseAge is the time since the start of the last stored renewal.
	LeaseAge time.Duration
	// Restored counts the sessions of other nodes that this node restored. Unrestored counts the failed attempts.
	Restored, Unrestored int64
	// Ended counts the leases of other nodes that this node ended. Fenced counts the sessions that were stopped here because another node
	// may own them. Moved counts the sessions that were assigned to another node.
	Ended, Fenced, Moved int64
	// Passed counts the calls and streams forwarded to other nodes. Lost counts those whose node did not respond.
	Passed, Lost int64
	// Copies is the number of tabs of other nodes that this node follows. Published is the number of this node's tabs that other nodes
	// follow.
	Copies, Published int
	// Records and Bytes count the data written to the log of tabs.
	Records, Bytes int64
}

// FollowCluster adds metrics that are read at each scrape. Their labels are node names, which the operator chooses. Call it once. read must
// not block.
func (m *Metrics) FollowCluster(read func() Cluster) {
	m.registry.MustRegister(clusterCollector{read})
}

type clusterCollector struct{ read func() Cluster }

var (
	clusterNodes    = describe("domtap_cluster_nodes", "Nodes of the cluster by state, as this node knows them: serving, draining, silent or gone.", "state")
	clusterSessions = describe("domtap_cluster_sessions", "Sessions of the cluster by node, as this node knows them.", "node")
	leaseRenewals   = describe("domtap_cluster_lease_renewals_total",
		"Renewals of this node's lease: stored, or failed, of which some may have been stored.", "outcome")
	leaseAge  = describe("domtap_cluster_lease_age_seconds", "Since the last stored renewal of this node's lease began. The node is cut off at 13.")
	takeovers = describe("domtap_cluster_takeovers_total",
		"Sessions that this node restored for others, because they moved or their node was gone, and attempts that failed.", "outcome")
	leasesEnded = describe("domtap_cluster_leases_ended_total", "Leases of other nodes that this node ended because they were not renewed.")
	fenced      = describe("domtap_cluster_fenced_sessions_total", "Sessions that this node stopped because another node may have them.")
	moved       = describe("domtap_cluster_moved_sessions_total", "Sessions that this node gave to another one.")
	passedCalls = describe("domtap_cluster_passed_calls_total", "Calls and streams that this node passed on to others: all, or lost because the node did not answer.", "what")
	copies      = describe("domtap_cluster_copies", "Tabs of other nodes of which this node keeps a copy for watches.")
	published   = describe("domtap_cluster_published_tabs", "Tabs of this node that other nodes keep copies of.")
	logRecords  = describe("domtap_cluster_log_records_total", "Records that this node wrote to the logs of its tabs.")
	logBytes    = describe("domtap_cluster_log_bytes_total", "Bytes of the records that this node wrote to the logs of its tabs.")
)

// Describe implements prometheus.Collector.
func (clusterCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		clusterNodes, clusterSessions, leaseRenewals, leaseAge, takeovers, leasesEnded, fenced, moved, passedCalls, copies, published, logRecords, logBytes,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c clusterCollector) Collect(out chan<- prometheus.Metric) {
	now := c.read()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	for state, n := range now.Nodes {
		gauge(clusterNodes, float64(n), state)
	}
	for node, n := range now.Sessions {
		gauge(clusterSessions, float64(n), node)
	}
	counter(leaseRenewals, now.Renewed, "stored")
	counter(leaseRenewals, now.Unrenewed, "failed")
	gauge(leaseAge, now.LeaseAge.Seconds())
	counter(takeovers, now.Restored, "restored")
	counter(takeovers, now.Unrestored, "failed")
	counter(leasesEnded, now.Ended)
	counter(fenced, now.Fenced)
	counter(moved, now.Moved)
	counter(passedCalls, now.Passed, "all")
	counter(passedCalls, now.Lost, "lost")
	gauge(copies, float64(now.Copies))
	gauge(published, float64(now.Published))
	counter(logRecords, now.Records)
	counter(logBytes, now.Bytes)
}
