package idle

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheDaemonEndsWhenNothingWasOpenForSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, ever atomic.Int64
		open.Store(1)
		ended := make(chan time.Time, 1)
		began := time.Now()
		go func() {
			if Await(t.Context(), 30*time.Minute, func() int { return int(open.Load()) }, func() uint64 { return uint64(ever.Load()) }) {
				ended <- time.Now()
			}
		}()
		time.Sleep(10 * time.Hour) // a tab is open
		synctest.Wait()
		open.Store(0)
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		ever.Add(1) // a command connected and disconnected between two polls
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		select {
		case at := <-ended:
			t.Fatalf("it ended after %v", at.Sub(began))
		default:
		}
		if took := (<-ended).Sub(began); took < 10*time.Hour+59*time.Minute || took > 10*time.Hour+62*time.Minute {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestADaemonThatIsStoppedIsNotIdle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if Await(ctx, time.Hour, func() int { return 0 }, func() uint64 { return 0 }) {
		t.Error("it counts as idle")
	}
}
