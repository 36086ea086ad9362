// Package retry tries again what fails for a while, such as a server that elects its leader.
//
// Nothing runs after a call has returned, and no call outlasts its context.
package retry

import (
	"context"
	"errors"
	"time"
)

// Pause waits for d. When ctx ends first it returns the cause at once.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Until calls try until it succeeds, with a pause of wait after each failure, and returns its result. When ctx ends, the error is the
// cause joined with the last error of try.
func Until[T any](ctx context.Context, wait time.Duration, try func() (T, error)) (T, error) {
	for {
		result, err := try()
		if err == nil {
			return result, nil
		}
		if ended := Pause(ctx, wait); ended != nil {
			var none T
			return none, errors.Join(ended, err)
		}
	}
}
