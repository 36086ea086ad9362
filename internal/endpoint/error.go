package endpoint

import "fmt"

// Kind is the kind of an Error.
type Kind uint8

// The kinds of failures.
const (
	// Misused means that an address, a file or the environment is invalid.
	Misused Kind = iota + 1
	// Denied means that the token was refused.
	Denied
	// Unreachable means that no daemon answers, or that none can be started.
	Unreachable
)

// Error reports a failure to find, start or reach a daemon, with a hint.
type Error struct {
	Kind Kind
	Err  error
	// Hint is a single line, or empty.
	Hint string
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...), Hint: hint}
}
