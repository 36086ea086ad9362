package search

import (
	"fmt"
	"time"
)

// ErrorKind classifies why a search failed.
type ErrorKind uint8

// The kinds of errors.
const (
	// Off means that no provider is configured.
	Off ErrorKind = iota + 1
	// NoSuchKind means that the provider, or every provider, does not support this kind of query.
	NoSuchKind
	// NoSuchProvider means that the requested provider is not configured.
	NoSuchProvider
	// KeyRefused means that the provider refused the key, or its use for this query.
	KeyRefused
	// Quota means that the provider currently accepts no more queries.
	Quota
	// Timeout means that the provider did not answer in time.
	Timeout
	// NotUnderstood means that the answer does not match the provider's documentation.
	NotUnderstood
	// Unavailable means that the provider was unreachable or failed.
	Unavailable
	// Rejected means that the provider does not accept the query.
	Rejected
)

// Error is a failed search. It contains no key, no URL and no query.
type Error struct {
	Kind ErrorKind
	// Provider is the name of the provider. It is empty if no provider was called.
	Provider string
	// Message describes the failure and how to continue.
	Message string
	// RetryAfter is the time until the quota is renewed, or 0 if the provider does not report it.
	RetryAfter time.Duration
}

// Error returns the name of the provider and the message.
func (e *Error) Error() string {
	text := e.Message
	if e.Provider != "" {
		text = e.Provider + ": " + text
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; try again in %v", e.RetryAfter.Round(time.Second))
	}
	return text
}
