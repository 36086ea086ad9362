package monitor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errGone = errors.New("gone")

func newTest() (m *Monitor, end func()) {
	done := make(chan struct{})
	return New(done, func() error { return errGone }), func() { close(done) }
}

func TestAwaitEvaluatesItsConditionAfterEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newTest()
		n, evaluated := 0, 0
		result := make(chan error, 1)
		go func() {
			result <- m.Await(t.Context(), func() bool {
				evaluated++
				return n == 2
			})
		}()
		for range 2 {
			synctest.Wait()
			m.Lock()
			n++
			m.Notify()
			m.Unlock()
		}
		if err := <-result; err != nil || evaluated != 3 {
			t.Errorf("error %v after %d evaluations, want none after 3", err, evaluated)
		}
	})
}

func TestAwaitEndsWithItsContextAndWithThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, end := newTest()
		never := func() bool { return false }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Await(ctx, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait whose context ended returned %v", err)
		}
		time.AfterFunc(time.Second, end)
		if err := m.Await(t.Context(), never); !errors.Is(err, errGone) {
			t.Errorf("a wait on a page that is gone returned %v", err)
		}
		if err := m.Await(t.Context(), func() bool { return true }); err != nil {
			t.Errorf("a condition that holds is not waited for, but got %v", err)
		}
	})
}

func TestAwaitTimedEvaluatesAgainWhenTheTimeHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newTest()
		until := time.Now().Add(time.Second)
		start := time.Now()
		if err := m.AwaitTimed(t.Context(), func() time.Duration { return time.Until(until) }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %v, want 1s", took)
		}
	})
}
