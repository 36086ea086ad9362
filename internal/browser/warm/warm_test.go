package warm

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// factory returns consecutive numbers. It fails while err is set.
type factory struct {
	made, failed int
	err          error
}

func (f *factory) next() (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	f.made++
	return f.made, nil
}

func newPool(ctx context.Context, f *factory, tasks *sync.WaitGroup) *Pool[int] {
	return New(Config[int]{Life: ctx, Tasks: tasks, Make: f.next, OnFailure: func(error) { f.failed++ }})
}

func TestSessionsAreMadeOnceOneIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f factory
		var tasks sync.WaitGroup
		p := newPool(t.Context(), &f, &tasks)
		p.KeepWarm(2)
		synctest.Wait()
		if f.made != 0 {
			t.Fatalf("made %d sessions before anybody took one", f.made)
		}
		if _, ok := p.Take(); ok {
			t.Error("took a session of an empty pool")
		}
		if p.Warm() != 0 {
			t.Error("a session was made before the pause was over")
		}
		tasks.Wait()
		if p.Warm() != 2 {
			t.Fatalf("%d sessions are ready, want 2", p.Warm())
		}
		if s, ok := p.Take(); !ok || s != 2 {
			t.Errorf("took %d, %t", s, ok)
		}
		tasks.Wait()
		if p.Warm() != 2 || f.made != 3 {
			t.Errorf("%d sessions are ready, %d were made; the one that was taken is to be replaced", p.Warm(), f.made)
		}
	})
}

func TestNothingIsMadeForASizeOfZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f factory
		var tasks sync.WaitGroup
		newPool(t.Context(), &f, &tasks).Take()
		tasks.Wait()
		if f.made != 0 {
			t.Errorf("made %d sessions", f.made)
		}
	})
}

func TestASessionThatCannotBeMadeIsTriedAgainByTheNextTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := factory{err: errors.New("no memory")}
		var tasks sync.WaitGroup
		p := newPool(t.Context(), &f, &tasks)
		p.KeepWarm(1)
		p.Take()
		tasks.Wait()
		if f.failed != 1 || p.Warm() != 0 {
			t.Fatalf("%d failures, %d ready", f.failed, p.Warm())
		}
		f.err = nil
		p.Take()
		tasks.Wait()
		if p.Warm() != 1 {
			t.Error("no session was made after the failure")
		}
	})
}

func TestThePoolEndsWithItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f factory
		var tasks sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		p := newPool(ctx, &f, &tasks)
		p.KeepWarm(1)
		p.Take()
		cancel()
		tasks.Wait()
		p.Take()
		tasks.Wait()
		if f.made != 0 {
			t.Errorf("made %d sessions", f.made)
		}
	})
}
