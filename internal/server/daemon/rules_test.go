package daemon

import (
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.StartLivePageRequest{}, &domtapv1.StartLivePageRequest{Address: "[::1]:0"},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.StartLivePageRequest{Address: "7412"}, "address"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
