package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// closeBound limits how long the browser may take to end a session that no caller waits for.
const closeBound = 15 * time.Second

// discard closes the browser context of a session whose creation failed, and returns the cause of the failure. If ctx ends before the
// context is closed, the returned error is a *driver.NotCreatedError that wraps why.
func (s *Sessions) discard(ctx context.Context, bctx Context, cause error) error {
	removed := make(chan struct{})
	s.closing.Go(func() {
		defer close(removed)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		if err := bctx.Close(bounded, false); err != nil {
			s.cfg.Logger.Warn("a session that could not be created was not closed completely", "err", err)
		}
	})
	select {
	case <-removed:
		return cause
	case <-ctx.Done():
		return &driver.NotCreatedError{Err: cause, Removed: removed}
	}
}

// giveBack frees the slot of a session whose creation failed with err. It does so when nothing of the session remains in the browser, or
// after closeBound.
func (s *Sessions) giveBack(ctx context.Context, one *session, err error) {
	left := driver.Removed(err)
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

// Close closes a session and its tabs, even if the tabs hang, and deletes the session's stored data. If ctx ends first, the work continues
// in the background. The default session cannot be closed.
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
		closed = s.end(ctx, one, ending{why: apierr.Errorf(apierr.Closed, "session %q was closed during the call: create another", id), keep: keep})
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

// ending describes how a session ends.
type ending struct {
	// why is the error for calls in progress.
	why *apierr.Error
	// keep keeps the downloads.
	keep bool
	// left reports that another node owns the session now. The name stays in use, and the tabs report why they end.
	left bool
}

// end starts to close a session. The caller holds the lock.
func (s *Sessions) end(ctx context.Context, one *session, how ending) <-chan error {
	one.ready = false // later lookups do not find it
	s.closing.Add(1)
	one.end(how.why)
	closed := make(chan error, 1)
	go func() {
		defer s.closing.Done()
		closed <- s.finish(context.WithoutCancel(ctx), one, how)
	}()
	return closed
}

// finish closes the tabs and the browser context of a session when the session has no calls in progress.
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
		s.cfg.Logger.Warn("a session was not closed completely", "session", one.id, "err", err)
	}
	if s.cfg.Registrar != nil && !how.left {
		s.cfg.Registrar.Release(ctx, one.id)
	}
	return err
}

// Wait waits until all closed sessions have ended.
func (s *Sessions) Wait() { s.closing.Wait() }
