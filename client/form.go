package client

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Field returns a form field with its label and the value to fill in. The value is a text; "true" or "false" for a checkbox or switch; the
// label or value of a radio button or option; or a date or time in HTML format (2026-11-21, 09:30).
func Field(label, value string) *domtapv1.FormField {
	return &domtapv1.FormField{Label: label, Value: value}
}

// FillForm fills 1 to 50 fields and returns the resulting changes. If one field fails, the others are still filled. Errors are as in Act.
func (t *Tab) FillForm(ctx context.Context, fields ...*domtapv1.FormField) (*domtapv1.FillFormResponse, error) {
	return fillForm(ctx, t, &domtapv1.FillFormRequest{Fields: fields})
}

// SubmitForm fills the fields as FillForm does. If every field was filled, it also submits the form as a user would.
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

// failure returns the *StepError of the first step that failed, or nil.
func failure(results []*domtapv1.StepResult) error {
	for i, result := range results {
		if !result.GetOk() {
			return &StepError{Step: i, Reason: result.GetReason(), Message: result.GetError()}
		}
	}
	return nil
}
