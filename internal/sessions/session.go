package sessions

import (
	"context"
	"sync"
	"time"
)

// session is one session.
type session struct {
	id string
	// context is nil until the session is created.
	context Context
	// changing holds one token. A change of the session takes it.
	changing chan struct{}
	// ended is done when the session is closed. This ends the calls in progress.
	ended context.Context
	end   context.CancelCauseFunc
	// opening counts the tabs that are opening.
	opening sync.WaitGroup

	// Sessions.mu guards the following fields. ready reports that lookups can find the session.
	ready bool
	// users counts the calls that use the session. used is the time when the session began or the last use ended.
	users    int
	used     time.Time
	settings Settings
	// lastRoute is the number of the last added route. The change token guards it.
	lastRoute int
}

func newSession(id string) *session {
	one := &session{id: id, changing: make(chan struct{}, 1)}
	one.ended, one.end = context.WithCancelCause(context.Background())
	return one
}

// within derives a context that ends with the session.
func (one *session) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(one.ended, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// explain returns the reason for the closing if a call failed after the session was closed. Otherwise it returns err.
func (one *session) explain(err error) error {
	if err != nil && one.ended.Err() != nil {
		return context.Cause(one.ended)
	}
	return err
}

// hold prevents the idle closing of a session until release is called. The caller must hold the lock when calling hold, and must not hold
// it when calling release.
func (one *session) hold(lock sync.Locker) (release func()) {
	one.users++
	return func() {
		lock.Lock()
		defer lock.Unlock()
		one.users--
		one.used = time.Now()
	}
}
