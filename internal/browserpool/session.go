package browserpool

import (
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/sessions"
)

// session is a session that outlives its browser. It implements sessions.Context; sessions.Sessions changes one at a
// time.
type session struct {
	fleet *Fleet
	slot  *slot
	name  string

	// The rest is guarded by Fleet.mu. inner is its side in the browser that runs, or nil.
	inner sessions.Context
	// broken is why it is not as it was in the browser that runs.
	broken   error
	settings sessions.Settings
	// configured says that somebody has set them.
	configured bool
	downloads  string
	restarts   int
	copy       copied
}

// current is the session's side in the browser that runs, or an error that says when there is one; the caller holds
// the lock.
func (s *session) current() (sessions.Context, error) {
	switch {
	case s.broken != nil && s.slot.up():
		return nil, s.broken
	case s.inner == nil || !s.slot.up():
		return nil, s.slot.down("the browser of session " + s.name + " is gone")
	}
	return s.inner, nil
}

// use does something with the session's side in the browser; mending, also when that is not as it was.
func (s *session) use(mending bool, do func(sessions.Context) error) error {
	s.fleet.mu.Lock()
	inner, err := s.current()
	if mending && s.broken != nil && s.inner != nil && s.slot.up() {
		inner, err = s.inner, nil
	}
	s.fleet.mu.Unlock()
	if err != nil {
		return err
	}
	return s.blame(do(inner))
}

// blame says of an error that comes from the end of the browser when there is another one.
func (s *session) blame(err error) error {
	if !isLost(err) {
		return err
	}
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
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
		s.fleet.mu.Lock()
		defer s.fleet.mu.Unlock()
		if s.inner != inner { // the next one was made with the old ones, or may have been
			return s.slot.down("the browser of session " + s.name + " is gone")
		}
		s.settings, s.configured, s.broken = settings, true, nil
		return nil
	})
}

// State implements sessions.Context.
func (s *session) State(ctx context.Context) (state sessions.State, err error) {
	err = s.use(false, func(inner sessions.Context) error {
		state, err = inner.State(ctx)
		return err
	})
	return state, err
}

// SetState implements sessions.Context. The cookies are part of the copy when it returns.
func (s *session) SetState(ctx context.Context, state sessions.State, replace bool) error {
	s.fleet.mu.Lock()
	e := s.slot.engine
	s.fleet.mu.Unlock()
	return s.use(false, func(inner sessions.Context) error {
		if err := inner.SetState(ctx, state, replace); err != nil {
			return err
		}
		if e != nil {
			s.refresh(ctx, e, true)
		}
		return nil
	})
}

// Downloads implements sessions.Context.
func (s *session) Downloads() string {
	s.fleet.mu.Lock()
	inner, last := s.inner, s.downloads
	s.fleet.mu.Unlock()
	if inner == nil {
		return last
	}
	last = inner.Downloads()
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	s.downloads = last
	return last
}

// Close implements sessions.Context. A session whose browser is gone has nothing more to close.
func (s *session) Close(ctx context.Context, keep bool) error {
	if s.name == sessions.Default {
		return errors.New("the default session cannot be closed")
	}
	s.fleet.mu.Lock()
	inner := s.inner
	if s.fleet.sessions[s.name] == s {
		delete(s.fleet.sessions, s.name)
	}
	s.fleet.mu.Unlock()
	if inner == nil {
		return nil
	}
	if err := inner.Close(ctx, keep); err != nil && !isLost(err) {
		return err
	}
	return nil
}

// Process implements sessions.Restartable.
func (s *session) Process() sessions.Process {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	_, err := s.current()
	return sessions.Process{Browser: s.slot.name, Restarts: s.restarts, Down: err != nil}
}

// remake makes the session in a new browser, as it was in the last one. The default one is there in any case, and is
// used again when it takes settings.
func (s *session) remake(ctx context.Context, e Engine) (sessions.Context, error) {
	s.fleet.mu.Lock()
	settings, configured := s.settings, s.configured
	cookies := s.copy.alive(time.Now())
	s.fleet.mu.Unlock()
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
		s.refill(ctx, inner, cookies)
		return inner, nil
	}
	if ctx.Err() == nil && e.Running() {
		s.slot.log.Error("a session could not be made again", "session", s.name, "error", err)
	}
	do := "could not be made in it: close it and create another"
	if inner != nil {
		do = "did not take its settings: set them again (UpdateSession)"
	}
	return inner, &actor.Error{Kind: actor.Lost, Err: err, Message: "the browser was started again, but session " + s.name + " " + do}
}
