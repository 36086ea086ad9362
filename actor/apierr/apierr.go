// Package apierr has the errors that clients see: each has a kind, which the server maps to one status code, and a message
// that says what failed and what to do next.
//
// It lies below every other package. Whoever makes an error puts facts for programs into Detail and keeps the message to one
// line; deadlines and cancellation stay the errors of package context, wrapped.
package apierr

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// ErrorKind says what went wrong, for callers that decide by it; internal/server/rpcstatus maps every kind to
// one status code.
type ErrorKind uint8

// The kinds of errors. Deadlines and cancellation are the context package's own errors, wrapped. Nodes of a cluster tell each other the
// numbers: new kinds come last.
const (
	// NotFound: no such tab, session or frame.
	NotFound ErrorKind = iota
	// Stale: the ref's element is gone.
	Stale
	// NotActionable: the element is hidden, disabled or covered.
	NotActionable
	// Navigation: the browser could not load the URL.
	Navigation
	// NoHistory: there is no entry to go to.
	NoHistory
	// Aborted: a navigation interrupted the work.
	Aborted
	// Exhausted: a limit is reached.
	Exhausted
	// Refused: the URL policy forbids it.
	Refused
	// Lost: the renderer or the browser is gone.
	Lost
	// Closed: the tab was closed while the work was under way.
	Closed
	// DialogOpen: a dialog blocks the page.
	DialogOpen
	// NoDialog: no dialog is open, or not the one that is meant.
	NoDialog
	// IsDownload: the URL is a download, not a page.
	IsDownload
	// Invalid: the request makes no sense for this page, such as a root_ref that was never given.
	Invalid
	// Forbidden: a file may not be given to a page.
	Forbidden
	// Ambiguous: a target means several elements; Error.Candidates has them.
	Ambiguous
	// NoMatch: a target means nothing that is on the page.
	NoMatch
	// Exists: what is to be made is there already.
	Exists
	// Restoring: the tab lost its page and is being brought back: the call is to be made again.
	Restoring
	// NotDelivered: an action began, but its element did not receive all of it.
	NotDelivered
	// Unresponsive: the page stopped answering while it was acted on.
	Unresponsive
	// Fenced: this process may not act for the session any more, because another one may have it.
	Fenced
	// Recording: a recording cannot be made.
	Recording
	// ReadOnly: the tab is one of a recording, which cannot be acted on.
	ReadOnly
	// NoReplay: a time of a recording was asked for, and the tab is a live one.
	NoReplay
	// Unanswered: the page was known not to answer, and did not answer a read either.
	Unanswered
)

// Error is a failure with its kind. Message says what happened and what to do next; it is meant for
// the client.
type Error struct {
	Kind    ErrorKind
	Message string
	// Detail holds facts for programs, such as {"ref": "12", "was": "button \"Pay\""}.
	Detail map[string]string
	// Field is the field of the request that is wrong, when Kind is Invalid and it is known.
	Field string
	// Client is whose limit it is, when Kind is Exhausted; empty: the daemon's.
	Client string
	// Candidates are the elements that may have been meant.
	Candidates []*dom.Element
	// Contexts says which one each of the candidates is, of several with the same role and name.
	Contexts map[dom.Ref]elementcontext.Context
	// RetryAfter is about how long it takes until the same call can succeed; 0: nobody knows.
	RetryAfter time.Duration
	Err        error
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Exceeded makes an Error of kind Exhausted. Its Detail has the name of the limit, which is one of few, and how much that allows.
func Exceeded(limit string, most int, format string, args ...any) *Error {
	e := Errorf(Exhausted, format, args...)
	e.Detail = map[string]string{"limit": limit, "max": strconv.Itoa(most)}
	return e
}

// Unknown makes an Error of kind NotFound. Its Detail says what sort of thing is not there: "tab", "session" or "frame".
func Unknown(resource, format string, args ...any) *Error {
	e := Errorf(NotFound, format, args...)
	e.Detail = map[string]string{"resource": resource}
	return e
}

// Errorf makes an Error of a kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Is reports whether an error is, or wraps, an Error of a kind.
func Is(err error, kind ErrorKind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// LostPage reports whether an error says that the tab has lost its page, for good or for now.
func LostPage(err error) bool {
	return Is(err, Lost) || Is(err, Closed) || Is(err, Restoring) || Is(err, Fenced)
}
