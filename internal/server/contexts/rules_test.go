package contexts

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.CountTokensRequest{Text: strings.Repeat("x", 4<<20)},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.GetHistoryRequest{}, "tab_id"},
		{&domtapv1.CountTokensRequest{Text: strings.Repeat("x", 4<<20+1)}, "text"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}
