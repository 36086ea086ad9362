package driver

import "errors"

// NotCreatedError is the error of a Browser call whose context ended before the page or browser context was created. The browser may still
// create it; it is then removed, whether or not the caller waits for that.
type NotCreatedError struct {
	Err error
	// Removed is closed when nothing of it remains in the browser.
	Removed <-chan struct{}
}

// Error implements error.
func (u *NotCreatedError) Error() string { return u.Err.Error() }

// Unwrap returns the reason why the call ended.
func (u *NotCreatedError) Unwrap() error { return u.Err }

// Removed returns a channel that is closed when nothing remains of the page or context that a call failed to create. It returns nil if
// nothing remains.
func Removed(err error) <-chan struct{} {
	var u *NotCreatedError
	if !errors.As(err, &u) {
		return nil
	}
	return u.Removed
}
