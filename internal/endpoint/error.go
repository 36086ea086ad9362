package endpoint

import "fmt"

// Kind says what sort of failure an Error is.
type Kind uint8

// The kinds of failures.
const (
	// Misused: an address, a file or the environment is no good.
	Misused Kind = iota + 1
	// Denied: the token may not be used.
	Denied
	// Unreachable: no daemon answers, or none can be started.
	Unreachable
)

// Error is a failure to find, start or reach a daemon, and what can be done about it.
type Error struct {
	Kind Kind
	Err  error
	// Hint is one line, or empty.
	Hint string
}

// Error is the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...), Hint: hint}
}
