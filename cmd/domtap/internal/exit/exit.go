// Package exit gives every failure of the command line its exit code, and a hint what to do about it.
//
// The codes are a promise to scripts: none is ever given another meaning.
package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/endpoint"
)

// The exit codes. README.md lists them for users.
const (
	OK           = 0
	Failure      = 1
	Usage        = 2
	NotFound     = 3
	Precondition = 4
	Timeout      = 5
	Unavailable  = 6
	Denied       = 7
	Interrupted  = 130
)

// An Error knows its exit code, and what the user can do about it.
type Error struct {
	Code int
	Err  error
	// Hint is one line, or empty.
	Hint string
}

// Error is the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; the hint may be empty.
func Errorf(code int, hint, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Classify turns any error into an *Error: statuses by their code, the errors of contexts, and
// everything else as a plain failure. An *Error stays what it is.
func Classify(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	var unmet *endpoint.Error
	if errors.As(err, &unmet) {
		return &Error{Code: ofKind[unmet.Kind], Err: err, Hint: unmet.Hint}
	}
	var answered interface{ GRPCStatus() *status.Status } // status.FromError would add what wraps it
	if errors.As(err, &answered) {
		return ofStatus(answered.GRPCStatus())
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Errorf(Interrupted, "", "interrupted")
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Err: err, Hint: hints[codes.DeadlineExceeded]}
	}
	return &Error{Code: Failure, Err: err}
}

// ofKind gives every failure to find or reach a daemon its code.
var ofKind = map[endpoint.Kind]int{
	endpoint.Misused:     Usage,
	endpoint.Denied:      Denied,
	endpoint.Unreachable: Unavailable,
}

// ofCode gives every status that is not listed Failure.
var ofCode = map[codes.Code]int{
	codes.InvalidArgument:    Usage,
	codes.OutOfRange:         Usage,
	codes.NotFound:           NotFound,
	codes.FailedPrecondition: Precondition,
	codes.Aborted:            Precondition,
	codes.DeadlineExceeded:   Timeout,
	codes.Unavailable:        Unavailable,
	codes.PermissionDenied:   Denied,
	codes.Unauthenticated:    Denied,
}

var hints = map[codes.Code]string{
	codes.NotFound:           "domtap tabs lists the open tabs",
	codes.DeadlineExceeded:   "give it longer with --timeout, or wait for less with --wait commit",
	codes.Unavailable:        "domtap doctor checks browser, socket and daemon",
	codes.Unauthenticated:    "domtap token prints the token of this user's daemon; --token-file names another",
	codes.Unimplemented:      "this daemon does not offer it yet; README.md says what is planned",
	codes.ResourceExhausted:  "close tabs that are not needed: domtap close TAB",
	codes.FailedPrecondition: "domtap compact shows the page as it is now",
}

// reason is what an ErrorInfo reason means here.
type reason struct {
	// code is for a step that failed inside an answer; a status has a code of its own.
	code int
	// hint is more exact than the one for the status; empty: there is none better.
	hint string
}

var reasons = map[string]reason{
	"STALE_REF":         {Precondition, "the element is gone; domtap compact shows the refs of now"},
	"NOT_ACTIONABLE":    {Precondition, "the element is hidden, disabled or covered; domtap shot page.png shows the page"},
	"NOT_DELIVERED":     {Precondition, "the action reached its element only in part; domtap compact shows what it did"},
	"NAVIGATION_FAILED": {Precondition, "check the URL, and that its server answers"},
	"NO_HISTORY":        {Precondition, "the tab has no such page in its history"},
	"NAVIGATED_AWAY":    {Precondition, "the page has changed; domtap compact shows it"},
	"CURSOR_EXPIRED":    {Precondition, "read from the start: the same command without --cursor"},
	"AMBIGUOUS_TARGET":  {Precondition, "use the ref of the one that is meant"},
	"TARGET_NOT_FOUND":  {Precondition, "domtap compact shows what is on the page"},
	"DIALOG_OPEN":       {Precondition, "domtap dialog accept, or domtap dialog dismiss"},
	"DOWNLOAD":          {Precondition, "domtap downloads shows how it goes, and where the file is"},
	"NO_DIALOG":         {Precondition, "domtap tabs shows which tab waits behind a dialog"},
	"TAB_CLOSED":        {Precondition, ""},
	"NOT_FOUND":         {NotFound, ""},
	"INVALID":           {Usage, ""},
	"URL_POLICY":        {Denied, ""},
	"PAGE_LOST":         {Unavailable, ""},
	"DEADLINE_EXCEEDED": {Timeout, ""},
}

func ofStatus(st *status.Status) error {
	if st.Code() == codes.Canceled {
		return Errorf(Interrupted, "", "interrupted")
	}
	code, listed := ofCode[st.Code()]
	if !listed {
		code = Failure
	}
	message := st.Message()
	if st.Code() == codes.DeadlineExceeded && isGRPCsOwn(message) {
		message = "no answer in time"
	}
	return &Error{Code: code, Err: errors.New(message), Hint: hintFor(st)}
}

// isGRPCsOwn says whether a message was made by the client's side of grpc, which knows nothing of the page.
func isGRPCsOwn(message string) bool {
	for _, prefix := range []string{"context deadline exceeded", "received context error", "stream terminated"} {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

func hintFor(st *status.Status) string {
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && reasons[info.GetReason()].hint != "" {
			return reasons[info.GetReason()].hint
		}
	}
	return hints[st.Code()]
}

// OfReason makes the error of a step that the daemon reports inside an answer, by its ErrorInfo reason.
func OfReason(name, message string) error {
	if r, known := reasons[name]; known {
		return Errorf(r.code, r.hint, "%s", message)
	}
	return Errorf(Failure, "", "%s", message)
}
