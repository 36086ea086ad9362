package search

import (
	"fmt"
	"time"
)

// ErrorKind says why a search failed, for callers that decide by it.
type ErrorKind uint8

// The kinds of errors.
const (
	// Off: no provider is set up.
	Off ErrorKind = iota + 1
	// NoSuchKind: the provider, or none of several, answers queries of this kind.
	NoSuchKind
	// NoSuchProvider: the provider that the caller names is not set up.
	NoSuchProvider
	// KeyRefused: the provider refused the key, or that the key is used for this.
	KeyRefused
	// Quota: the provider allows no more queries for now.
	Quota
	// Timeout: the provider did not answer in time.
	Timeout
	// NotUnderstood: the answer is not what the provider documents.
	NotUnderstood
	// Unavailable: the provider could not be reached, or failed.
	Unavailable
	// Rejected: the provider does not accept the query.
	Rejected
)

// Error is a failed search. It has no key, no URL and no query.
type Error struct {
	Kind ErrorKind
	// Provider is the name of the provider; empty: none was asked.
	Provider string
	// Message says what failed and what to do next.
	Message string
	// RetryAfter is how long the quota lasts, if the provider says it; otherwise 0.
	RetryAfter time.Duration
}

// Error names the provider and says what failed.
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
