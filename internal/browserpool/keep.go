package browserpool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	// maxCopied is how many bytes of cookies are kept of a session; those beyond are lost with the browser.
	maxCopied = 1 << 20
	// copyBound is how long the browser may take to tell the cookies of a session.
	copyBound = 5 * time.Second
)

// copied is what is kept of the cookies of a session, for the next browser.
type copied struct {
	cookies []sessions.Cookie
	// stirred is how much had happened when they were read.
	stirred uint64
}

// alive are those that have not expired.
func (c copied) alive(now time.Time) []sessions.Cookie {
	return slices.DeleteFunc(slices.Clone(c.cookies), func(one sessions.Cookie) bool {
		return one.Expires > 0 && one.Expires < float64(now.Unix())
	})
}

// fit are the cookies that are kept, and whether that is all of them.
func fit(cookies []sessions.Cookie) (kept []sessions.Cookie, all bool) {
	size := 0
	for i, c := range cookies {
		size += len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) + 64
		if size > maxCopied {
			return cookies[:i:i], false
		}
	}
	return cookies, true
}

// keep copies the cookies of the sessions in which something happened since they were copied last.
func (s *slot) keep(e Engine, kept chan<- struct{}) {
	ctx, cancel := context.WithCancel(s.fleet.ctx)
	defer cancel()
	defer whenDone(e, cancel)()
	s.fleet.mu.Lock()
	all := s.fleet.of(s)
	s.fleet.mu.Unlock()
	for _, one := range all {
		one.refresh(ctx, e, false)
	}
	if ctx.Err() == nil {
		kept <- struct{}{}
	}
}

// refresh copies the cookies of a session, if there may be new ones or in any case. When that fails the old copy stays.
func (s *session) refresh(ctx context.Context, e Engine, always bool) {
	stirred := e.Stirred(s.name)
	s.fleet.mu.Lock()
	same := s.copy.stirred == stirred
	s.fleet.mu.Unlock()
	if same && !always || !e.Running() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, copyBound)
	defer cancel()
	cookies, err := e.Cookies(ctx, s.name)
	if err != nil {
		return
	}
	cookies, all := fit(cookies)
	if !all {
		s.slot.log.Warn("a session has more cookies than are kept for when its browser dies", "session", s.name, "bytes", maxCopied)
	}
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	if s.slot.engine == e {
		s.copy = copied{cookies: cookies, stirred: stirred}
	}
}

// refill gives a session in a new browser its cookies. When the browser refuses one it takes none, so they are given
// one by one then.
func (s *session) refill(ctx context.Context, inner sessions.Context, cookies []sessions.Cookie) {
	if len(cookies) == 0 {
		return
	}
	err := inner.SetState(ctx, sessions.State{Cookies: cookies}, false)
	refused := 0
	var e *actor.Error
	if errors.As(err, &e) && e.Kind == actor.Invalid {
		err = nil
		for _, c := range cookies {
			if inner.SetState(ctx, sessions.State{Cookies: []sessions.Cookie{c}}, false) != nil {
				refused++
			}
		}
	}
	if err != nil || refused > 0 {
		s.slot.log.Warn("a session did not get all of its cookies back", "session", s.name, "refused", refused, "error", err)
	}
}
