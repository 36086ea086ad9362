package idle

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// process is a process whose processor time the test sets, in milliseconds.
type process struct{ used, drops atomic.Int64 }

func (p *process) footprint(err error) releaser {
	return releaser{
		used: func() (time.Duration, error) { return time.Duration(p.used.Load()) * time.Millisecond, nil },
		drop: func() error {
			p.drops.Add(1)
			p.used.Add(50) // dropping takes time, too
			return err
		},
		log: slog.New(slog.DiscardHandler),
	}
}

func TestMemoryIsDroppedOnceAfterWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var p process
		p.used.Store(400) // the start
		go p.footprint(nil).keep(ctx)
		expect := func(after time.Duration, want int64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := p.drops.Load(); got != want {
				t.Errorf("dropped %d times, want %d", got, want)
			}
		}
		expect(footprintPoll, 0) // the start was work
		expect(footprintPoll, 1) // idle
		expect(time.Hour, 1)     // nothing to drop
		for range 10 {           // busy
			p.used.Add(100)
			expect(footprintPoll, 1)
		}
		expect(footprintPoll, 2)
		p.used.Add(5) // a little work is not worth a drop
		expect(time.Minute, 2)
		cancel()
		p.used.Add(100)
		expect(time.Hour, 2)
	})
}

func TestASystemThatKeepsThePagesIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p process
		p.used.Store(400)
		p.footprint(errors.New("not here")).keep(t.Context()) // returns
		if p.drops.Load() != 1 {
			t.Errorf("asked %d times", p.drops.Load())
		}
	})
}
