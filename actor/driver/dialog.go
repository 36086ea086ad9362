package driver

import "context"

// Dialog is a JavaScript dialog.
type Dialog struct {
	// ID numbers the dialogs of the page, from 1.
	ID uint64
	// Type is "alert", "confirm", "prompt" or "beforeunload".
	Type string
	// Message and Default are untrusted texts of the page, at most 1,000 characters each.
	Message string
	Default string
	// Answer is the outcome. It is Unanswered while the dialog is open.
	Answer Answer
}

// Answer is the answer to a dialog.
type Answer uint8

// The answers.
const (
	// Unanswered means that the dialog is open.
	Unanswered Answer = iota
	// Accepted means OK, or Leave.
	Accepted
	// Dismissed means Cancel, or Stay.
	Dismissed
)

// String returns "accepted", "dismissed" or "open".
func (a Answer) String() string {
	switch a {
	case Accepted:
		return "accepted"
	case Dismissed:
		return "dismissed"
	}
	return "open"
}

// DialogPolicy selects how dialogs are answered.
type DialogPolicy uint8

// The policies.
const (
	// ReportDialogs leaves dialogs to the client, which calls AnswerDialog. Until then Info.Dialog is set.
	ReportDialogs DialogPolicy = iota
	// AcceptDialogs accepts dialogs immediately, prompts with their default text.
	AcceptDialogs
	// DismissDialogs dismisses dialogs immediately. For a beforeunload dialog, this keeps the page.
	DismissDialogs
)

// DialogAnswer is a client's answer to the open dialog.
type DialogAnswer struct {
	// ID, if not 0, identifies the dialog to answer. A dialog with another ID is not answered.
	ID uint64
	// Accept chooses OK or Leave. Otherwise Cancel or Stay is chosen.
	Accept bool
	// Text is the answer to a prompt. If nil, the prompt's default text is used.
	Text *string
}

// Dialogs answers the dialogs of a page. Its methods work while a dialog blocks the page.
type Dialogs interface {
	// AnswerDialog answers the open dialog and returns it. When it returns, the DialogClosed event is in Events. It fails with an
	// *apierr.Error of kind NoDialog when no dialog is open or the open dialog has another ID.
	AnswerDialog(ctx context.Context, a DialogAnswer) (Dialog, error)
	// SetDialogPolicy sets how dialogs are answered. A dialog that is already open is answered too, unless the policy is ReportDialogs. It
	// does not block.
	SetDialogPolicy(policy DialogPolicy)
}
