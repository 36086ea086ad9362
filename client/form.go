package client

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Field is a field of a form, by its label, and what to fill in: a text; "true" or "false" for a checkbox or switch; the
// label or value of a radio button or option; a date or time as HTML writes it (2026-11-21, 09:30).
func Field(label, value string) *domtapv1.FormField {
	return &domtapv1.FormField{Label: label, Value: value}
}

// FillForm fills 1 to 50 fields, and returns what that changed. A field that fails does not keep the others from being
// filled: Act says what the error is.
func (t *Tab) FillForm(ctx context.Context, fields ...*domtapv1.FormField) (*domtapv1.FillFormResponse, error) {
	return fillForm(ctx, t, &domtapv1.FillFormRequest{Fields: fields})
}

// SubmitForm is FillForm, and then submits the form as a user would, if every field was filled.
func (t *Tab) SubmitForm(ctx context.Context, fields ...*domtapv1.FormField) (*domtapv1.FillFormResponse, error) {
	return fillForm(ctx, t, &domtapv1.FillFormRequest{Fields: fields, Submit: true})
}

func fillForm(ctx context.Context, t *Tab, r *domtapv1.FillFormRequest) (*domtapv1.FillFormResponse, error) {
	r.TabId = t.id
	answer, err := t.client.Actions.FillForm(ctx, r)
	if err != nil {
		return nil, err
	}
	return answer, failure(answer.GetResults())
}

// failure returns the *StepError of the first step that failed; nil: none did.
func failure(results []*domtapv1.StepResult) error {
	for i, result := range results {
		if !result.GetOk() {
			return &StepError{Step: i, Reason: result.GetReason(), Message: result.GetError()}
		}
	}
	return nil
}
