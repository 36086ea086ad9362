package tabpool

import (
	"context"
	"sync"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// slots counts the pages of a pool, and the goroutines and calls that Pool.Close waits for. The pool's lock guards it.
type slots struct {
	// limit is the maximum number of pages, and taken the current number.
	limit, taken int
	// quota returns the client that the pages of a session belong to, and that client's limit. byClient counts the pages of each client
	// that has a quota.
	quota    func(session string) (client string, tabs int)
	byClient map[string]int
	// elsewhere is Config.Elsewhere.
	elsewhere func(client string) int
	// running counts goroutines and calls. If closed is set, idle is closed when running reaches zero.
	running int
	closed  bool
	idle    chan struct{}
}

func newSlots(cfg Config) slots {
	return slots{limit: cfg.MaxTabs, quota: cfg.Quota, elsewhere: cfg.Elsewhere, byClient: map[string]int{}, idle: make(chan struct{})}
}

// acquire acquires the slot of a page in a session, and counts a running call.
func (s *slots) acquire(session string) error {
	if s.taken >= s.limit {
		return apierr.Exceeded("tabs", s.limit, "there are %d tabs, which is the limit: close one first, or raise --max-tabs of domtap serve", s.taken)
	}
	if client, most := s.quota(session); client != "" {
		has := s.byClient[client] + s.elsewhere(client)
		if has >= most {
			err := apierr.Exceeded("tabs_per_client", most,
				"this client has %d tabs, which is the limit: close one first, or raise --max-tabs-per-client of domtap serve", has)
			err.Client = client
			return err
		}
		s.byClient[client]++
	}
	s.taken++
	s.begin()
	return nil
}

// free releases the slot of a page in a session.
func (s *slots) free(session string) {
	s.taken--
	if client, _ := s.quota(session); client != "" {
		if s.byClient[client]--; s.byClient[client] == 0 {
			delete(s.byClient, client)
		}
	}
}

// begin and end count the start and the end of a goroutine or call.
func (s *slots) begin() { s.running++ }

func (s *slots) end() {
	s.running--
	s.signalIdle()
}

// close closes idle as soon as nothing runs. It may be called again.
func (s *slots) close() {
	s.closed = true
	s.signalIdle()
}

func (s *slots) signalIdle() {
	if !s.closed || s.running > 0 {
		return
	}
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

// slot is the right to one page, and one goroutine or call that Pool.Close waits for. Its methods acquire the pool's lock.
type slot struct {
	lock    sync.Locker
	slots   *slots
	session string
}

// free releases the slot after the page is closed.
func (s slot) free() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.slots.free(s.session)
}

// end records that the goroutine or call has ended.
func (s slot) end() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.slots.end()
}

// giveBack ends the call and frees the slot of a page that could not be opened because of err. It frees the slot only when nothing of the
// page remains in the browser, so that a client whose calls end early cannot have more pages than others.
func (s slot) giveBack(pool context.Context, err error) {
	left := driver.Removed(err)
	if left == nil {
		s.free()
		s.end()
		return
	}
	go func() {
		defer s.end()
		select {
		case <-left:
		case <-pool.Done():
		}
		s.free()
	}()
}
