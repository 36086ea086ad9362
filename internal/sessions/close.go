package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// closeBound is how long the browser may take to end a session that nobody waits for any more.
const closeBound = 15 * time.Second

// discard closes the browser context of a session that could not be made because of why, and returns why.
// When ctx ends before the context is closed, why is wrapped in a *driver.Unfinished.
func (s *Sessions) discard(ctx context.Context, bctx Context, why error) error {
	removed := make(chan struct{})
	s.closing.Go(func() {
		defer close(removed)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		if err := bctx.Close(bounded, false); err != nil {
			s.cfg.Logger.Warn("a session that could not be made was not closed as it should be", "err", err)
		}
	})
	select {
	case <-removed:
		return why
	case <-ctx.Done():
		return &driver.Unfinished{Err: why, Removed: removed}
	}
}

// giveBack gives back the place of a session that could not be made, because of err: when nothing of the
// session is left in the browser, or after closeBound.
func (s *Sessions) giveBack(ctx context.Context, one *session, err error) {
	left := driver.Leftover(err)
	if left == nil {
		s.remove(one)
		return
	}
	s.closing.Go(func() {
		defer s.remove(one)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		select {
		case <-left:
		case <-bounded.Done():
		}
	})
}

// Close closes a session with its tabs, also while the tabs hang, and forgets what the session stored. When
// ctx ends first, the work goes on without the caller. The default session cannot be closed.
func (s *Sessions) Close(ctx context.Context, id string, keep bool) error {
	if id == Default || id == "" {
		return &apierr.Error{
			Kind: apierr.Invalid, Field: "session_id",
			Message: "the session named " + Default + " cannot be closed: close its tabs, or replace its storage state",
		}
	}
	s.mu.Lock()
	one, err := s.registry.find(id)
	var closed <-chan error
	if err == nil {
		closed = s.end(ctx, one, ending{why: apierr.Errorf(apierr.Closed, "session %q was closed meanwhile: create another", id), keep: keep})
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("session %s is closed, but the browser has not released it yet: %w", id, ctx.Err())
	}
}

// ending is how a session ends.
type ending struct {
	// why is given to the calls that are under way.
	why *apierr.Error
	// keep keeps the downloads.
	keep bool
	// left says that another node has the session from now on: its name stays in use, and its tabs say why they end.
	left bool
}

// end begins to close a session; the caller holds the lock.
func (s *Sessions) end(ctx context.Context, one *session, how ending) <-chan error {
	one.ready = false // from now on it is not found
	s.closing.Add(1)
	one.end(how.why)
	closed := make(chan error, 1)
	go func() {
		defer s.closing.Done()
		closed <- s.finish(context.WithoutCancel(ctx), one, how)
	}()
	return closed
}

// finish closes the tabs and the browser context of a session when no call of it is under way any more.
func (s *Sessions) finish(ctx context.Context, one *session, how ending) error {
	defer s.remove(one)
	ctx, cancel := context.WithTimeout(ctx, closeBound)
	defer cancel()
	one.opening.Wait()
	one.changing <- struct{}{}
	var told *apierr.Error
	if how.left {
		told = how.why
	}
	tabs := s.pool.CloseSession(ctx, one.id, told)
	err := one.context.Close(ctx, how.keep)
	s.pool.ForgetDownloads(one.id)
	s.pool.SetDialogPolicy(one.id, driver.ReportDialogs)
	if err != nil {
		err = fmt.Errorf("close session %s: %w", one.id, err)
	}
	if err = errors.Join(tabs, err); err != nil {
		s.cfg.Logger.Warn("a session was not closed as it should be", "session", one.id, "err", err)
	}
	if s.cfg.Registrar != nil && !how.left {
		s.cfg.Registrar.Release(ctx, one.id)
	}
	return err
}

// Wait waits until the sessions that were closed have ended.
func (s *Sessions) Wait() { s.closing.Wait() }
