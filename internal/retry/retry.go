// Package retry retries operations that fail temporarily, such as calls to a server that is electing its leader.
//
// Nothing runs after a call has returned, and no call outlives its context.
package retry

import (
	"context"
	"errors"
	"time"
)

// Pause waits for d. If ctx ends first, it immediately returns the cause.
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

// Until calls try until it succeeds and returns the result. It pauses for wait after each failure. If ctx ends, the error joins the cause
// and the last error of try.
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
