package actions

import (
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/css"
	"github.com/domtap/domtap/internal/server/actions/steps"
)

// formTurn converts a valid request to the turn that fills the form. files checks the paths for file inputs.
func formTurn(r *domtapv1.FillFormRequest, files func([]string) ([]string, error)) turn.Turn {
	plan := turn.Turn{URL: r.GetUrl(), Heal: true}
	form := turn.NewForm()
	for _, f := range r.GetFields() {
		found := fieldTargets(f)
		for i := range found {
			found[i].Within = f.GetWithin()
		}
		field := &turn.Field{Form: form, Ways: found, Values: f.GetValues(), Type: f.GetType(), Files: files, Contents: steps.Files(f.GetFiles())}
		if f.GetValue() != "" {
			field.Values = []string{f.GetValue()}
		}
		plan.Steps = append(plan.Steps, turn.Step{Field: field})
	}
	if r.GetSubmit() {
		plan.Steps = append(plan.Steps, turn.Step{Submit: form})
	}
	return plan
}

// fieldTargets returns the targets that may find a field, best first.
func fieldTargets(f *domtapv1.FormField) []target.Target {
	switch {
	case f.Ref != nil:
		return []target.Target{{By: target.Ref, Ref: dom.Ref(f.GetRef())}}
	case f.GetSelector() != "":
		return []target.Target{{By: target.Selector, Words: f.GetSelector()}}
	}
	label := f.GetLabel()
	name := css.String(label) + " i]"
	return []target.Target{
		{By: target.Label, Words: label}, {By: target.Group, Words: label}, {By: target.Placeholder, Words: label},
		{By: target.Selector, Words: "input[name=" + name + ",select[name=" + name + ",textarea[name=" + name, Called: label},
	}
}
