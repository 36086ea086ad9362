package driver

import "context"

// Dialog is a JavaScript dialog.
type Dialog struct {
	// ID counts the dialogs of the page, from 1.
	ID uint64
	// Type is "alert", "confirm", "prompt" or "beforeunload".
	Type string
	// Message and Default are the page's own words, at most 1,000 characters each.
	Message string
	Default string
	// Answer is what became of it; Unanswered while it is open.
	Answer Answer
}

// Answer is how a dialog was answered.
type Answer uint8

// The answers.
const (
	// Unanswered: it is open.
	Unanswered Answer = iota
	// Accepted: OK, or Leave.
	Accepted
	// Dismissed: Cancel, or Stay.
	Dismissed
)

// String says it in a word.
func (a Answer) String() string {
	switch a {
	case Accepted:
		return "accepted"
	case Dismissed:
		return "dismissed"
	}
	return "open"
}

// DialogPolicy says who answers dialogs.
type DialogPolicy uint8

// The policies.
const (
	// ReportDialogs leaves them to the client, with AnswerDialog; until then Info.Dialog is set.
	ReportDialogs DialogPolicy = iota
	// AcceptDialogs accepts them at once, prompts with their default text.
	AcceptDialogs
	// DismissDialogs dismisses them at once; a beforeunload dialog so keeps the page.
	DismissDialogs
)

// DialogAnswer is a client's answer to the dialog that is open.
type DialogAnswer struct {
	// ID, when it is not 0, names the dialog that is meant; another one is not answered.
	ID uint64
	// Accept presses OK or Leave, otherwise Cancel or Stay.
	Accept bool
	// Text is the answer to a prompt; nil: its default text.
	Text *string
}

// Dialogs answers the dialogs of a page. A dialog stops the page; these methods work all the same.
type Dialogs interface {
	// AnswerDialog answers the dialog that is open and returns it; the DialogClosed event is in Events then. It
	// fails with an *apierr.Error of kind NoDialog when none is open, or not the one that is meant.
	AnswerDialog(ctx context.Context, a DialogAnswer) (Dialog, error)
	// SetDialogPolicy says who answers dialogs from now on. A dialog that is open already is answered too, unless
	// they are reported. It does not wait.
	SetDialogPolicy(policy DialogPolicy)
}
