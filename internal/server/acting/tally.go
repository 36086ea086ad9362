package acting

import (
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// Kinds returns the names of the steps of a request.
func Kinds(all []*domtapv1.Step) []string {
	out := make([]string, len(all))
	for i, s := range all {
		m := s.ProtoReflect()
		if field := m.WhichOneof(m.Descriptor().Oneofs().ByName("action")); field != nil {
			out[i] = string(field.Name())
		}
	}
	return out
}

// FormKinds returns the names of the steps of a form.
func FormKinds(r *domtapv1.FillFormRequest) []string {
	out := make([]string, len(r.GetFields()))
	for i := range out {
		out[i] = "field"
	}
	if r.GetSubmit() {
		out = append(out, "submit")
	}
	return out
}

// Tally returns the results of a turn's steps for the usage figures.
func Tally(kinds []string, o *turn.Outcome, reason Reasons) []usage.Step {
	out := make([]usage.Step, 0, len(kinds))
	for i, r := range o.Results[:min(len(kinds), len(o.Results))] {
		one := usage.Step{Kind: kinds[i], Done: r.Done, Healed: r.Healed}
		if r.Err != nil {
			one.Done = false
			if one.Failed = nameOf(r.Err, reason); one.Failed == "" {
				one.Failed = usage.Other
			}
		}
		out = append(out, one)
	}
	return out
}
