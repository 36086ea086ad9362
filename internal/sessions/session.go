package sessions

import (
	"context"
	"sync"
	"time"
)

// session is one session.
type session struct {
	id string
	// context is nil until the session is made.
	context Context
	// changing holds the one token that a change of the session takes.
	changing chan struct{}
	// ended is done when the session is closed; it ends the calls that are under way.
	ended context.Context
	end   context.CancelCauseFunc
	// opening counts tabs that are being opened.
	opening sync.WaitGroup

	// Sessions.mu guards what follows. ready says that the session can be found.
	ready bool
	// users counts the calls that use the session; used is when the last use ended, or the session began.
	users    int
	used     time.Time
	settings Settings
	// lastRoute is the number of the last route that was added; who changes the session guards it.
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

// explain returns why the session was closed when a call failed after that, or else the error.
func (one *session) explain(err error) error {
	if err != nil && one.ended.Err() != nil {
		return context.Cause(one.ended)
	}
	return err
}

// hold keeps a session from being closed as idle until release is called. The caller of hold holds the
// lock, the caller of release does not.
func (one *session) hold(lock sync.Locker) (release func()) {
	one.users++
	return func() {
		lock.Lock()
		defer lock.Unlock()
		one.users--
		one.used = time.Now()
	}
}
