package driver

import "errors"

// Unfinished is the error of a call to a Browser that was to create a page or a context, and whose own context ended first. The
// browser may create it all the same; then it is removed, whoever waits for that.
type Unfinished struct {
	Err error
	// Removed is closed when nothing of it is left in the browser.
	Removed <-chan struct{}
}

// Error implements error.
func (u *Unfinished) Error() string { return u.Err.Error() }

// Unwrap is why the call ended.
func (u *Unfinished) Unwrap() error { return u.Err }

// Leftover is closed when nothing is left of what a call failed to create; nil: nothing is left already.
func Leftover(err error) <-chan struct{} {
	var u *Unfinished
	if !errors.As(err, &u) {
		return nil
	}
	return u.Removed
}
