// Package exit maps every failure of the command line to its message, hint and exit code, using one table.
//
// Scripts can rely on the exit codes: a code never changes its meaning.
package exit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// The exit codes. docs/commands.md lists them for users.
const (
	// OK means success.
	OK = 0
	// Failure means any failure without a code of its own.
	Failure = 1
	// Usage means wrong usage or bad input, including a file that does not exist.
	Usage = 2
	// NotFound means that a tab, session, frame or node does not exist.
	NotFound = 3
	// Precondition means that the page is not in the required state.
	Precondition = 4
	// Timeout means that the time limit was exceeded.
	Timeout = 5
	// Unavailable means that the daemon cannot be reached or cannot start.
	Unavailable = 6
	// Denied means that permission was denied or a valid token is missing.
	Denied = 7
	// Interrupted means that the user pressed Ctrl-C.
	Interrupted = 130
)

// OfPage reports whether the state of the page may explain a failure with this code.
func OfPage(code int) bool { return code == Precondition || code == Timeout }

// HintsAtPage reports whether the error's hint is to look at the page.
func (e *Error) HintsAtPage() bool {
	switch e.Reason {
	case "TARGET_NOT_FOUND", "STALE_REF", "AMBIGUOUS_TARGET", "NOT_ACTIONABLE", "NOT_DELIVERED", "NAVIGATED_AWAY", "WAIT_TIMEOUT":
		return true
	}
	return false
}

// An Error is a failure with its exit code and a hint that tells the user what to do.
type Error struct {
	Code int
	Err  error
	// Hint is one line, or empty.
	Hint string
	// Status and Reason are the status and the reason of the daemon's response, such as NOT_FOUND and STALE_REF. They are empty if there
	// was no response.
	Status, Reason string
	// Details holds the metadata of the ErrorInfo.
	Details map[string]string
}

// ErrReported is the Err of an Error that was already reported. It is not printed again.
var ErrReported = errors.New("it was reported")

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Report is the JSON form of an Error.
type Report struct {
	Error reported `json:"error"`
}

type reported struct {
	Message  string            `json:"message"`
	Hint     string            `json:"hint,omitempty"`
	ExitCode int               `json:"exitCode"`
	Status   string            `json:"status,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Details  map[string]string `json:"details,omitempty"`
}

// Report returns the report of an Error.
func (e *Error) Report() Report {
	return Report{reported{Message: e.Error(), Hint: e.Hint, ExitCode: e.Code, Status: e.Status, Reason: e.Reason, Details: e.Details}}
}

// Errorf returns an *Error. The hint may be empty.
func Errorf(code int, hint, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...), Hint: hint}
}

// HasFlag reports whether the failed command has a flag, so that hints name only flags that exist.
type HasFlag func(name string) bool

// Classify turns any error into an *Error: gRPC statuses and context errors by the table, everything else as a plain failure. It returns an
// *Error unchanged.
func Classify(err error, has HasFlag) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if unmet, ok := errors.AsType[*endpoint.Error](err); ok {
		return &Error{Code: ofKind[unmet.Kind], Err: err, Hint: unmet.Hint}
	}
	var answered interface{ GRPCStatus() *status.Status } // status.FromError would add the texts of the wrapping errors
	if errors.As(err, &answered) {
		return ofStatus(answered.GRPCStatus(), has)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Errorf(Interrupted, "", "interrupted")
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Err: err, Hint: statuses[codes.DeadlineExceeded].hintFor(has)}
	}
	return &Error{Code: Failure, Err: err}
}

func ofStatus(st *status.Status, has HasFlag) error {
	row := statuses[st.Code()]
	e := &Error{Code: cmp.Or(row.code, Failure), Hint: row.hintFor(has), Status: code.Code(st.Code()).String()}
	if st.Code() == codes.Canceled {
		e.Err, e.Hint = errors.New("interrupted"), ""
		return e
	}
	message := st.Message()
	if own, hint := endpoint.Words(st); own != "" {
		message, e.Hint, e.Status = own, cmp.Or(hint, e.Hint), ""
	}
	e.Err = errors.New(message)
	for _, detail := range st.Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		if !ok {
			continue
		}
		e.Reason, e.Details = info.GetReason(), info.GetMetadata()
		specific := cmp.Or(reasons[e.Reason].hintFor(has), resources[e.Details["resource"]], limits[e.Details["limit"]])
		e.Hint = cmp.Or(specific, e.Hint)
	}
	e.Hint = hintUnlessNamed(e.Hint, message)
	return e
}

// commandName matches a command in a hint.
var commandName = lazyregexp.New(`\bdomtap [a-z]+`)

// hintUnlessNamed returns the hint. It returns an empty string if the hint has one piece of advice and the message already names its
// command.
func hintUnlessNamed(hint, message string) string {
	several := strings.Contains(hint, ";") || strings.Contains(hint, " or ")
	if command := commandName().FindString(hint); command != "" && strings.Contains(message, command) && !several {
		return ""
	}
	return hint
}

// FromReason returns the error of a step that failed inside a response, by its ErrorInfo reason.
func FromReason(name, message string) error {
	r := reasons[name]
	return &Error{Code: cmp.Or(r.code, Failure), Err: errors.New(message), Hint: hintUnlessNamed(r.hint, message), Reason: name}
}

// IsTimeUp reports whether a call of ctx failed with err because of the command's --timeout. The daemon knows that timeout and may report
// it first.
func IsTimeUp(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}
