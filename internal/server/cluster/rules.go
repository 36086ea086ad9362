package cluster

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of ClusterService.
var Rules = rules.Union(
	rules.Of(checkDrainNode),
	rules.Of(checkMoveSession),
)

// nodeName matches the names that --cluster-node allows.
var nodeName = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)

func checkDrainNode(v *rules.Violations, r *domtapv1.DrainNodeRequest) { checkNode(v, r.GetNodeId()) }

func checkMoveSession(v *rules.Violations, r *domtapv1.MoveSessionRequest) {
	if v.Want(r.GetSessionId() != "", "session_id", "is required: GetCluster names the sessions") {
		v.SessionID(r.GetSessionId())
	}
	checkNode(v, r.GetNodeId())
}

func checkNode(v *rules.Violations, id string) {
	v.Want(nodeName().MatchString(id), "node_id", "must name a node: GetCluster lists them")
}
