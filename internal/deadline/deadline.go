// Package deadline computes how long a caller waits for a call with steps. The command line and the MCP server use the same rules.
package deadline

import (
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// wait is the default timeout of a wait step, as documented in the protos.
const wait = 10 * time.Second

// Steps returns the maximum duration of a call with steps: the basic timeout of a call, the timeouts of wait steps, and the time for which
// keys, buttons and elements are held. If call is 0, there is no limit, and Steps returns 0.
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
