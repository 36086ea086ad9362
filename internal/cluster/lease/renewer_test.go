package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/internal/cluster/lease"
)

// store is a store whose failures are controlled by tests.
type store struct {
	mu   sync.Mutex
	last lease.ReadResult
	// silent makes the store return no answers. lossy makes it store renewals but lose the answers. deaf makes it ignore the end of a
	// context.
	silent, lossy bool
	deaf          chan struct{}
	renewals      int
}

var errTimeout = errors.New("no answer")

func (s *store) set(do func(s *store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s)
}

func (s *store) Renew(ctx context.Context, a lease.Attempt) (uint64, error) {
	s.mu.Lock()
	silent, deaf := s.silent, s.deaf
	s.mu.Unlock()
	if deaf != nil {
		<-deaf
	}
	if silent {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	time.Sleep(10 * time.Millisecond) // fake time of synctest
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.Gone || s.last.Revision != a.Revision {
		return 0, lease.ErrRefused
	}
	s.last.Attempt = lease.Attempt{Number: a.Number, Revision: a.Revision + 1}
	s.renewals++
	if s.lossy {
		return 0, errTimeout
	}
	return s.last.Revision, nil
}

func (s *store) Read(context.Context) (lease.ReadResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}

// keep runs a test with a held lease, in fake time.
func keep(t *testing.T, test func(t *testing.T, s *store, k *lease.Renewer)) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		k, err := lease.Start(t.Context(), lease.Standard, s)
		if err != nil {
			t.Fatal(err)
		}
		test(t, s, k)
	})
}

func release(t *testing.T, k *lease.Renewer, want error) uint64 {
	t.Helper()
	revision, err := k.Release()
	if !errors.Is(err, want) || want == nil && err != nil {
		t.Errorf("Release: %v, want %v", err, want)
	}
	return revision
}

func TestAKeeperRenews(t *testing.T) {
	keep(t, func(t *testing.T, s *store, k *lease.Renewer) {
		for range 119 { // until 59.5 s after the start, when no renewal is in flight
			time.Sleep(time.Second / 2)
			if err := k.Check(); err != nil {
				t.Fatal(err)
			}
		}
		s.set(func(s *store) {
			if s.renewals != 30 {
				t.Errorf("%d renewals in a minute", s.renewals)
			}
		})
		if revision := release(t, k, nil); revision != s.last.Revision {
			t.Errorf("released revision %d of %d", revision, s.last.Revision)
		}
		if err := k.Check(); !errors.Is(err, lease.ErrReleased) {
			t.Errorf("after the end: %v", err)
		}
		<-k.Done()
	})
}

func TestALeaseOutlastsAnElection(t *testing.T) {
	keep(t, func(t *testing.T, s *store, k *lease.Renewer) {
		for range 5 {
			s.set(func(s *store) { s.silent = true })
			time.Sleep(8 * time.Second)
			s.set(func(s *store) { s.silent = false })
			time.Sleep(5 * time.Second)
		}
		if err := k.Check(); err != nil {
			t.Error(err)
		}
		release(t, k, nil)
	})
}

// The lease ends in time even if the store hangs and ignores its context.
func TestALeaseLapsesWithoutTheStore(t *testing.T) {
	for name, fail := range map[string]func(s *store){
		"silent": func(s *store) { s.silent = true },
		"hangs":  func(s *store) { s.deaf = make(chan struct{}) },
	} {
		t.Run(name, func(t *testing.T) {
			keep(t, func(t *testing.T, s *store, k *lease.Renewer) {
				begun := time.Now()
				s.set(fail)
				<-k.Done()
				if took := time.Since(begun); took < 12*time.Second || took > 13*time.Second {
					t.Errorf("it ended after %v", took)
				}
				if err := k.Check(); !errors.Is(err, lease.ErrLapsed) {
					t.Error(err)
				}
				s.set(func(s *store) {
					if s.deaf != nil {
						close(s.deaf)
					}
					s.silent, s.deaf = false, nil
				})
				time.Sleep(time.Minute)
				if err := k.Check(); !errors.Is(err, lease.ErrLapsed) {
					t.Errorf("it came back: %v", err)
				}
				release(t, k, lease.ErrLapsed)
			})
		})
	}
}

// Each renewal is stored, but no answer arrives. The read after the next renewal finds it.
func TestLostAnswersDoNotEndALease(t *testing.T) {
	keep(t, func(t *testing.T, s *store, k *lease.Renewer) {
		s.set(func(s *store) { s.lossy = true })
		time.Sleep(5 * time.Minute)
		if err := k.Check(); err != nil {
			t.Error(err)
		}
		release(t, k, nil)
	})
}

func TestALeaseThatIsTakenEndsWithTheNextRenewal(t *testing.T) {
	keep(t, func(t *testing.T, s *store, k *lease.Renewer) {
		begun := time.Now()
		s.set(func(s *store) { s.last.Gone = true })
		<-k.Done()
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("it ended after %v", took)
		}
		if err := k.Check(); !errors.Is(err, lease.ErrTaken) {
			t.Error(err)
		}
		release(t, k, lease.ErrTaken)
	})
}

func TestStartTriesUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{silent: true}
		time.AfterFunc(20*time.Second, func() { s.set(func(s *store) { s.silent = false }) })
		k, err := lease.Start(t.Context(), lease.Standard, s)
		if err != nil {
			t.Fatal(err)
		}
		release(t, k, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := lease.Start(ctx, lease.Standard, &store{silent: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		// A lease with another holder is not acquired.
		begun := time.Now()
		if _, err := lease.Start(t.Context(), lease.Standard, &store{last: lease.ReadResult{Gone: true}}); !errors.Is(err, lease.ErrTaken) || time.Since(begun) > time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
