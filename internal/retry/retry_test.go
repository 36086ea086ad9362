package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errNotYet = errors.New("not yet")

func TestUntilTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, tries := time.Now(), 0
		n, err := Until(t.Context(), time.Second, func() (int, error) {
			if tries++; tries < 3 {
				return 0, errNotYet
			}
			return tries, nil
		})
		if n != 3 || err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("got %d, %v after %v", n, err, time.Since(start))
		}
	})
}

func TestUntilEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, cause)
		defer cancel()
		start := time.Now()
		_, err := Until(ctx, time.Second, func() (int, error) { return 1, errNotYet })
		if !errors.Is(err, cause) || !errors.Is(err, errNotYet) || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("it failed with %v after %v", err, time.Since(start))
		}
	})
}
