package check

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// nodeName matches the names that --cluster-node allows.
var nodeName = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)

func checkDrainNode(v *violations, r *domtapv1.DrainNodeRequest) { checkNode(v, r.GetNodeId()) }

func checkMoveSession(v *violations, r *domtapv1.MoveSessionRequest) {
	if v.want(r.GetSessionId() != "", "session_id", "is required: GetCluster names the sessions") {
		checkSessionID(v, r.GetSessionId())
	}
	checkNode(v, r.GetNodeId())
}

func checkNode(v *violations, id string) {
	v.want(nodeName().MatchString(id), "node_id", "must name a node: GetCluster lists them")
}
