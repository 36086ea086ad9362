// Package apierr defines the errors that clients see. Each error has a kind, which the server maps to one status code, and a message that
// states what failed and what to do next.
//
// All other packages may import it. Put facts for programs into Detail and keep the message to one line. Deadlines and cancellation remain
// wrapped errors of package context.
package apierr

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

// ErrorKind classifies an error for callers that handle it. internal/server/rpc/rpcstatus maps every kind to one status code.
type ErrorKind uint8

// The kinds of errors. Deadlines and cancellation are wrapped errors of package context. Nodes of a cluster exchange the numbers, so new
// kinds must be added at the end.
const (
	// NotFound means that there is no such tab, session or frame.
	NotFound ErrorKind = iota
	// Stale means that the ref's element is gone.
	Stale
	// NotActionable means that the element is hidden, disabled or covered.
	NotActionable
	// Navigation means that the browser could not load the URL.
	Navigation
	// NoHistory means that the history has no such entry.
	NoHistory
	// Aborted means that a navigation interrupted the work.
	Aborted
	// Exhausted means that a limit is reached.
	Exhausted
	// Refused means that the URL policy denies the URL.
	Refused
	// Lost means that the renderer or the browser is gone.
	Lost
	// Closed means that the tab was closed during the work.
	Closed
	// DialogOpen means that a dialog blocks the page.
	DialogOpen
	// NoDialog means that no dialog is open, or another one than requested.
	NoDialog
	// IsDownload means that the URL is a download, not a page.
	IsDownload
	// Invalid means that the request is not valid for this page, for example with a root_ref that was never assigned.
	Invalid
	// Forbidden means that a file may not be uploaded to a page.
	Forbidden
	// Ambiguous means that a target matches several elements, listed in Error.Candidates.
	Ambiguous
	// NoMatch means that a target matches nothing on the page.
	NoMatch
	// Exists means that the object to create already exists.
	Exists
	// Restoring means that the tab lost its page and is being restored. Retry the call later.
	Restoring
	// NotDelivered means that an action started, but its element did not receive all of it.
	NotDelivered
	// Unresponsive means that the page stopped answering during an action.
	Unresponsive
	// Fenced means that this process may not act for the session any more, because another process may own it.
	Fenced
	// Recording means that a recording cannot be created.
	Recording
	// ReadOnly means that the tab belongs to a recording and cannot be acted on.
	ReadOnly
	// NoReplay means that a time of a recording was requested for a live tab.
	NoReplay
	// Unanswered means that the page was already unresponsive and did not answer a read either.
	Unanswered
)

// Error is an error with a kind. Message states what happened and what to do next. It is meant for the client.
type Error struct {
	Kind    ErrorKind
	Message string
	// Detail holds facts for programs, such as {"ref": "12", "was": "button \"Pay\""}.
	Detail map[string]string
	// Field is the invalid field of the request, if Kind is Invalid and the field is known.
	Field string
	// Client is the client whose limit is reached, if Kind is Exhausted. It is empty for a limit of the daemon.
	Client string
	// Candidates are the elements that the target may refer to.
	Candidates []*dom.Element
	// Contexts distinguishes candidates with the same role and name.
	Contexts map[dom.Ref]elementcontext.Context
	// RetryAfter is the approximate time until the same call can succeed, or 0 if unknown.
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

// Exceeded returns an Error of kind Exhausted. Its Detail has the name of the limit and its value. The number of different limit names is
// small.
func Exceeded(limit string, most int, format string, args ...any) *Error {
	e := Errorf(Exhausted, format, args...)
	e.Detail = map[string]string{"limit": limit, "max": strconv.Itoa(most)}
	return e
}

// Unknown returns an Error of kind NotFound. Its Detail names the missing resource: "tab", "session" or "frame".
func Unknown(resource, format string, args ...any) *Error {
	e := Errorf(NotFound, format, args...)
	e.Detail = map[string]string{"resource": resource}
	return e
}

// Errorf returns an Error of a kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Is reports whether an error is, or wraps, an Error of a kind.
func Is(err error, kind ErrorKind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// LostPage reports whether an error means that the tab has lost its page, permanently or temporarily.
func LostPage(err error) bool {
	return Is(err, Lost) || Is(err, Closed) || Is(err, Restoring) || Is(err, Fenced)
}
