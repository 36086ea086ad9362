package convert

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// The values of a BatchRequest that leaves them unset.
const (
	defaultParallel = 4
	defaultPerURL   = 15 * time.Second
)

// BatchOptions returns how long each URL of a batch may take and how many are read at once.
func BatchOptions(r *domtapv1.BatchRequest) (each time.Duration, parallel int) {
	each, parallel = defaultPerURL, defaultParallel
	if r.GetTimeout() != nil {
		each = r.GetTimeout().AsDuration()
	}
	if r.GetParallel() > 0 {
		parallel = int(r.GetParallel())
	}
	return each, parallel
}
