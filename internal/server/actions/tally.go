package actions

import (
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// tally returns the results of a turn's steps for the usage figures.
func tally(kinds []string, o *turn.Outcome) []usage.Step {
	out := make([]usage.Step, 0, len(kinds))
	for i, r := range o.Results[:min(len(kinds), len(o.Results))] {
		one := usage.Step{Kind: kinds[i], Done: r.Done, Healed: r.Healed}
		if r.Err != nil {
			one.Done = false
			if one.Failed = rpcstatus.StepReason(r.Err); one.Failed == "" {
				one.Failed = usage.Other
			}
		}
		out = append(out, one)
	}
	return out
}
