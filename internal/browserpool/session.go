package browserpool

import (
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/sessions"
)

// session is a session that outlives its browser. It implements sessions.Context. sessions.Sessions makes one change to a session at a
// time.
type session struct {
	pool *Pool
	slot *slot
	name string

	// Pool.mu guards the fields below. inner is the session in the running browser, or nil.
	inner sessions.Context
	// broken is the error with which the session could not be restored in the running browser.
	broken   error
	settings sessions.Settings
	// configured reports whether a call has set the settings.
	configured bool
	downloads  string
	restarts   int
	copy       cookieCopy
}

// current returns the session in the running browser, or an error with the delay before a retry. The caller holds the lock.
func (s *session) current() (sessions.Context, error) {
	switch {
	case s.broken != nil && s.slot.up():
		return nil, s.broken
	case s.inner == nil || !s.slot.up():
		return nil, s.slot.down("the browser of session " + s.name + " is gone")
	}
	return s.inner, nil
}

// use calls do with the session in the running browser. If evenBroken is set, it does so even if the session could not be restored.
func (s *session) use(evenBroken bool, do func(sessions.Context) error) error {
	s.pool.mu.Lock()
	inner, err := s.current()
	if evenBroken && s.broken != nil && s.inner != nil && s.slot.up() {
		inner, err = s.inner, nil
	}
	s.pool.mu.Unlock()
	if err != nil {
		return err
	}
	return s.explain(do(inner))
}

// explain adds the delay before a retry to the error of a lost browser.
func (s *session) explain(err error) error {
	if !apierr.Is(err, apierr.Lost) {
		return err
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	lost := *s.slot.down("the browser of session " + s.name + " is gone")
	lost.Err = err
	return &lost
}

// Configure implements sessions.Context.
func (s *session) Configure(ctx context.Context, settings sessions.Settings) error {
	return s.use(true, func(inner sessions.Context) error {
		if err := inner.Configure(ctx, settings); err != nil {
			return err
		}
		s.pool.mu.Lock()
		defer s.pool.mu.Unlock()
		if s.inner != inner { // the next browser may have the old settings
			return s.slot.down("the browser of session " + s.name + " is gone")
		}
		s.settings, s.configured, s.broken = settings, true, nil
		return nil
	})
}

// State implements sessions.Context.
func (s *session) State(ctx context.Context, o sessions.StateOptions) (state sessions.State, err error) {
	err = s.use(false, func(inner sessions.Context) error {
		state, err = inner.State(ctx, o)
		return err
	})
	return state, err
}

// Stored implements sessions.Context. When it returns, the copy contains the cookies that do has set.
func (s *session) Stored(ctx context.Context, do func(sessions.Storage) error) error {
	s.pool.mu.Lock()
	e := s.slot.engine
	s.pool.mu.Unlock()
	return s.use(false, func(inner sessions.Context) error {
		if err := inner.Stored(ctx, do); err != nil {
			return err
		}
		if e != nil {
			s.copyCookies(ctx, e, false)
		}
		return nil
	})
}

// SetState implements sessions.Context. When it returns, the copy contains the cookies.
func (s *session) SetState(ctx context.Context, state sessions.State, replace bool) error {
	s.pool.mu.Lock()
	e := s.slot.engine
	s.pool.mu.Unlock()
	return s.use(false, func(inner sessions.Context) error {
		if err := inner.SetState(ctx, state, replace); err != nil {
			return err
		}
		if e != nil {
			s.copyCookies(ctx, e, true)
		}
		return nil
	})
}

// Downloads implements sessions.Context.
func (s *session) Downloads() string {
	s.pool.mu.Lock()
	inner, last := s.inner, s.downloads
	s.pool.mu.Unlock()
	if inner == nil {
		return last
	}
	last = inner.Downloads()
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.downloads = last
	return last
}

// Close implements sessions.Context. If the session's browser is gone, there is nothing else to close.
func (s *session) Close(ctx context.Context, keep bool) error {
	if s.name == sessions.Default {
		return errors.New("the default session cannot be closed")
	}
	s.pool.mu.Lock()
	inner := s.inner
	if s.pool.sessions[s.name] == s {
		delete(s.pool.sessions, s.name)
	}
	s.pool.mu.Unlock()
	if inner == nil {
		return nil
	}
	if err := inner.Close(ctx, keep); err != nil && !apierr.Is(err, apierr.Lost) {
		return err
	}
	return nil
}

// Changes implements sessions.ChangeCounter.
func (s *session) Changes() uint64 {
	s.pool.mu.Lock()
	inner := s.inner
	s.pool.mu.Unlock()
	if c, ok := inner.(sessions.ChangeCounter); ok {
		return c.Changes()
	}
	return 0
}

// Process implements sessions.Restartable.
func (s *session) Process() sessions.Process {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	_, err := s.current()
	return sessions.Process{Browser: s.slot.name, Restarts: s.restarts, Down: err != nil}
}

// recreate creates the session in a new browser, as it was in the last one. Every browser has a default session, so the default session is
// only configured.
func (s *session) recreate(ctx context.Context, e Engine) (sessions.Context, error) {
	s.pool.mu.Lock()
	settings, configured := s.settings, s.configured
	cookies := s.copy.unexpired(time.Now())
	s.pool.mu.Unlock()
	var inner sessions.Context
	var err error
	if s.name == sessions.Default {
		inner = e.DefaultContext()
		if configured {
			err = inner.Configure(ctx, settings)
		}
	} else {
		inner, err = e.NewContext(ctx, s.name, settings)
	}
	if err == nil {
		s.restoreCookies(ctx, inner, cookies)
		return inner, nil
	}
	if ctx.Err() == nil && e.Running() {
		s.slot.log.Error("a session could not be restored", "session", s.name, "error", err)
	}
	do := "could not be restored: close it and create another"
	if inner != nil {
		do = "did not get its settings back: set them again (UpdateSession)"
	}
	return inner, &apierr.Error{Kind: apierr.Lost, Err: err, Message: "the browser was restarted, but session " + s.name + " " + do}
}
