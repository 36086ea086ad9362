// Package deadline says how long a caller waits for a call with steps. The command line and the MCP server wait alike.
package deadline

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// wait is how long a step waits that has no timeout, as the protos state it.
const wait = 10 * time.Second

// Steps returns how long steps may take: the time of any call, the timeouts of their waits, and how long keys, buttons and elements are held.
// A call of 0 has no limit, and neither has the result.
func Steps(call time.Duration, steps []*domtapv1.Step) time.Duration {
	if call == 0 {
		return 0
	}
	for _, one := range steps {
		if w := one.GetWait(); w != nil {
			call += max(wait, w.GetTimeout().AsDuration())
		}
		call += one.GetClick().GetHold().AsDuration() + one.GetPress().GetHold().AsDuration() +
			one.GetMouseDown().GetHold().AsDuration() + one.GetDrag().GetHold().AsDuration()
	}
	return call
}
