package daemon

import (
	"net"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of DaemonService.
var Rules = rules.Of(checkStartLivePage)

func checkStartLivePage(v *rules.Violations, r *domtapv1.StartLivePageRequest) {
	if r.GetAddress() == "" {
		return
	}
	_, _, err := net.SplitHostPort(r.GetAddress())
	v.Want(err == nil, "address", "must be HOST:PORT, such as 127.0.0.1:7412")
}
