package cluster

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.DrainNodeRequest{NodeId: "n-1_A", Undo: true},
		&domtapv1.MoveSessionRequest{SessionId: "alice.work", NodeId: strings.Repeat("n", 32)},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.DrainNodeRequest{}, "node_id"},
		{&domtapv1.DrainNodeRequest{NodeId: strings.Repeat("n", 33)}, "node_id"},
		{&domtapv1.MoveSessionRequest{NodeId: "n1"}, "session_id"},
		{&domtapv1.MoveSessionRequest{SessionId: strings.Repeat("x", 5000), NodeId: "n1"}, "session_id"},
		{&domtapv1.MoveSessionRequest{SessionId: "s", NodeId: "n 1"}, "node_id"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
