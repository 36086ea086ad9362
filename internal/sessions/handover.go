package sessions

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor/apierr"
)

// Handover moves sessions into and out of this process. Its methods are safe for concurrent use.
type Handover struct{ *Sessions }

// Adopt creates a session that another process owned. It works like Create, except that the session's name is already acquired.
func (s Handover) Adopt(ctx context.Context, id string, settings Settings, state State) error {
	s.mu.Lock()
	one, err := s.registry.add(id)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.create(ctx, one, settings, state); err != nil {
		s.giveBack(ctx, one, err)
		return fmt.Errorf("restore session %s: %w", id, err)
	}
	return nil
}

// Copy reads the data of a session that Adopt needs, including passwords. Databases may take the given number of bytes; larger ones are
// omitted and named in the state. Copy does not count as a use of the session.
func (s Handover) Copy(ctx context.Context, id string, databases int) (Settings, State, error) {
	s.mu.Lock()
	i := s.registry.index(id)
	if i < 0 || !s.registry.all[i].ready || s.registry.all[i].context == nil {
		s.mu.Unlock()
		return Settings{}, State{}, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", id)
	}
	one := s.registry.all[i]
	s.mu.Unlock()
	select {
	case one.changing <- struct{}{}:
	case <-ctx.Done():
		return Settings{}, State{}, fmt.Errorf("copy session %s: it is being changed: %w", id, context.Cause(ctx))
	}
	defer func() { <-one.changing }()
	state, err := one.context.State(ctx, StateOptions{Databases: true, Room: databases})
	if err != nil {
		return Settings{}, State{}, fmt.Errorf("copy session %s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return one.settings, state, nil
}

// Changes returns a different number whenever the cookies of a session may have changed; see ChangeCounter. It returns 0 if the session
// does not exist or its Context cannot detect changes.
func (s Handover) Changes(id string) uint64 {
	s.mu.Lock()
	var of Context
	if i := s.registry.index(id); i >= 0 {
		of = s.registry.all[i].context
	}
	s.mu.Unlock()
	if c, ok := of.(ChangeCounter); ok {
		return c.Changes()
	}
	return 0
}

// Leave ends a session in this process because another process owns it now. Calls, tabs and watches fail immediately with cause. The
// channel receives one value when the browser has deleted the session. It is nil if the session does not exist.
func (s Handover) Leave(ctx context.Context, id string, cause *apierr.Error) (gone <-chan error) {
	s.mu.Lock()
	i := s.registry.index(id)
	if i >= 0 && s.registry.all[i].ready {
		gone = s.end(ctx, s.registry.all[i], ending{why: cause, left: true})
	}
	s.mu.Unlock()
	if gone != nil {
		// The tabs end now; finish waits for their pages.
		over, cancel := context.WithCancel(ctx)
		cancel()
		_ = s.pool.CloseSession(over, id, cause)
	}
	return gone
}

// RandomName returns a name that no other process generates. Without a Registrar it returns an empty string, because short names are
// sufficient.
func (s *Sessions) RandomName() string {
	if s.cfg.Registrar == nil {
		return ""
	}
	return randomName()
}

// newContext creates the browser context of a session.
func newContext(ctx context.Context, browser Browser, id string, settings Settings) (Context, error) {
	if id != Default {
		return browser.NewContext(ctx, id, settings)
	}
	if settings.Proxy != nil {
		return nil, &apierr.Error{Kind: apierr.Invalid, Field: "settings.proxy", Message: "the session named " + Default + " cannot have its own proxy: create another session"}
	}
	// The browser already has this context, and it cannot be closed.
	first := defaultContext{browser.DefaultContext()}
	if err := first.Configure(ctx, settings); err != nil {
		return nil, err
	}
	return first, nil
}

// defaultContext wraps the browser context of the default session where that session is created and closed like others.
type defaultContext struct{ Context }

// Close deletes the stored data and the settings.
func (e defaultContext) Close(ctx context.Context, _ bool) error {
	if err := e.SetState(ctx, State{}, true); err != nil {
		return err
	}
	return e.Configure(ctx, Settings{})
}

// Changes implements ChangeCounter.
func (e defaultContext) Changes() uint64 {
	if c, ok := e.Context.(ChangeCounter); ok {
		return c.Changes()
	}
	return 0
}

// Process implements Restartable.
func (e defaultContext) Process() Process {
	if r, ok := e.Context.(Restartable); ok {
		return r.Process()
	}
	return Process{}
}
