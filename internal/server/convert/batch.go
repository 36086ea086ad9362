package convert

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// The defaults of a BatchRequest.
const (
	defaultParallel = 4
	defaultPerURL   = 15 * time.Second
)

// BatchOptions returns the time limit of each URL of a batch, and how many URLs are read concurrently.
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
