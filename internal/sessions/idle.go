package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// Idle limits how long unused tabs and sessions are kept. Zero means no limit. Calls and streams count as uses.
type Idle struct {
	// Tab is the time after which an unused tab is closed.
	Tab time.Duration
	// Freeze is the time after which the page of an unused tab is frozen.
	Freeze time.Duration
	// Session is the time after which a session is closed if neither the session nor any of its tabs is used. The default session is always
	// kept.
	Session time.Duration
}

// CloseIdle freezes and closes unused tabs and closes unused sessions until ctx ends. The caller must not call Wait before CloseIdle has
// returned.
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

// expire starts to close the sessions that were idle for too long. It returns the time at which the next session may be due.
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
			why := fmt.Sprintf("it was idle for %v: create another", idle)
			expired, used := s.pool.ExpireSession(one.id, now.Add(-idle), why)
			if expired {
				s.cfg.Logger.Info("an idle session was closed", "session", one.id)
				s.end(ctx, one, ending{why: apierr.Errorf(apierr.Closed, "session %q was closed because %s", one.id, why)})
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

// Use prevents the idle closing of a session until ctx ends. ctx must be the context of a call.
func (s *Sessions) Use(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.registry.find(id)
	if err == nil {
		context.AfterFunc(ctx, one.hold(&s.mu))
	}
	return err
}
