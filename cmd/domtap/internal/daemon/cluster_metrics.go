//go:build cluster

package daemon

import (
	"github.com/domtap/domtap/internal/telemetry/metrics"
)

func (j *clusterMember) measure(m *metrics.Metrics) { m.FollowCluster(j.figures) }

// figures returns the node's figures for the metrics.
func (j *clusterMember) figures() metrics.Cluster {
	o := j.node.Operations()
	c, now := o.Counts(), o.Status()
	f := metrics.Cluster{
		Nodes: map[string]int{"serving": 0, "draining": 0, "silent": 0, "gone": 0}, Sessions: map[string]int{},
		Renewed: c.Renewed, Unrenewed: c.Unrenewed, LeaseAge: c.LeaseAge, Restored: c.Restored, Unrestored: c.Unrestored,
		Ended: c.Ended, Fenced: c.Fenced, Moved: c.Moved, Copies: j.copies.Len(), Published: j.owner.Published(),
	}
	f.Passed, f.Lost = j.proxy.Counts()
	f.Records, f.Bytes = j.owner.Written()
	for _, n := range now.Nodes {
		f.Nodes[n.State()]++
		if !n.Gone {
			f.Sessions[n.ID] = 0
		}
	}
	for _, s := range now.Sessions {
		f.Sessions[s.Node]++
	}
	return f
}
