package check

import (
	"net"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func checkStartLivePage(v *violations, r *domtapv1.StartLivePageRequest) {
	if r.GetAddress() == "" {
		return
	}
	_, _, err := net.SplitHostPort(r.GetAddress())
	v.want(err == nil, "address", "must be HOST:PORT, such as 127.0.0.1:7412")
}
