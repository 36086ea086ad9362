package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor"
)

// Idle says how long what nobody uses is kept; 0: for ever. Use is a call, or a stream.
type Idle struct {
	// Tab is for tabs.
	Tab time.Duration
	// Session is for sessions but the default one, of which neither one of the tabs nor the session itself was used.
	Session time.Duration
}

// CloseIdle closes tabs and sessions that nobody uses, until ctx ends. The caller waits for its return before Wait.
func (s *Sessions) CloseIdle(ctx context.Context, idle Idle) {
	if idle.Tab <= 0 && idle.Session <= 0 {
		return
	}
	for {
		next := time.Now().Add(365 * 24 * time.Hour)
		if idle.Tab > 0 {
			next = s.pool.CloseIdle(idle.Tab)
		}
		if idle.Session > 0 {
			if due := s.expire(ctx, idle.Session); due.Before(next) {
				next = due
			}
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// expire begins to close the sessions that nobody has used for so long, and returns when the next may be due.
func (s *Sessions) expire(ctx context.Context, idle time.Duration) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	next = now.Add(idle)
	for _, one := range s.all {
		if one.id == Default || !one.ready || one.users > 0 {
			continue
		}
		last := one.used
		if !last.After(now.Add(-idle)) {
			why := fmt.Sprintf("nobody had used it for %v: create another", idle)
			expired, used := s.pool.ExpireSession(one.id, now.Add(-idle), why)
			if expired {
				s.cfg.Logger.Info("a session was closed, because nobody used it", "session", one.id)
				s.end(ctx, one, actor.Errorf(actor.Closed, "session %q was closed, because %s", one.id, why), false)
				continue
			}
			last = used
		}
		if due := last.Add(idle); due.Before(next) && due.After(now) {
			next = due
		}
	}
	return next
}

// hold keeps a session from being closed as idle; the caller holds the lock, and owes a call of release without it.
func (s *Sessions) hold(one *session) (release func()) {
	one.users++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.users--
		one.used = time.Now()
	}
}

// Use keeps a session from being closed as idle until ctx ends, which has to be a call's.
func (s *Sessions) Use(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.lookup(id)
	if err == nil {
		context.AfterFunc(ctx, s.hold(one))
	}
	return err
}
