package network

import (
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "**", ResourceTypes: []string{"fetch"}, Methods: []string{"PUT"}, Action: &domtapv1.Route_Fulfill{Fulfill: new(domtapv1.RouteFulfill)}}},
		&domtapv1.RemoveRoutesRequest{RouteIds: []string{"r1"}},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.AddRouteRequest{}, "route"},
		{&domtapv1.RemoveRoutesRequest{RouteIds: []string{""}}, "route_ids[0]"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
