package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// Idle says how long unused tabs and sessions are kept; 0: for ever. A use is a call, or a stream.
type Idle struct {
	// Tab is how long a tab is kept.
	Tab time.Duration
	// Freeze is how long the page of a tab runs, until it is frozen.
	Freeze time.Duration
	// Session is how long a session is kept when neither the session nor one of its tabs is used. The
	// default session is always kept.
	Session time.Duration
}

// CloseIdle freezes unused tabs, and closes them and unused sessions, until ctx ends. The caller waits until CloseIdle returns before
// it calls Wait.
func (s *Sessions) CloseIdle(ctx context.Context, idle Idle) {
	if idle.Tab <= 0 && idle.Freeze <= 0 && idle.Session <= 0 {
		return
	}
	for {
		next := time.Now().Add(365 * 24 * time.Hour)
		if idle.Tab > 0 {
			next = s.pool.CloseIdle(idle.Tab)
		}
		if idle.Freeze > 0 {
			if due := s.pool.FreezeIdle(idle.Freeze); due.Before(next) {
				next = due
			}
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

// expire begins to close the sessions that were idle for too long, and returns when the next session may
// be due.
func (s *Sessions) expire(ctx context.Context, idle time.Duration) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	next = now.Add(idle)
	for _, one := range s.registry.all {
		if one.id == Default || !one.ready || one.users > 0 {
			continue
		}
		last := one.used
		if !last.After(now.Add(-idle)) {
			why := fmt.Sprintf("nobody had used it for %v: create another", idle)
			expired, used := s.pool.ExpireSession(one.id, now.Add(-idle), why)
			if expired {
				s.cfg.Logger.Info("a session was closed, because nobody used it", "session", one.id)
				s.end(ctx, one, ending{why: apierr.Errorf(apierr.Closed, "session %q was closed, because %s", one.id, why)})
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

// Use keeps a session from being closed as idle until ctx ends, which has to be the context of a call.
func (s *Sessions) Use(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.registry.find(id)
	if err == nil {
		context.AfterFunc(ctx, one.hold(&s.mu))
	}
	return err
}
