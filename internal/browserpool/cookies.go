package browserpool

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/sessions"
)

const (
	// maxCopiedBytes limits the bytes of cookies that are kept for a session. Further cookies are lost with the browser.
	maxCopiedBytes = 1 << 20
	// copyBound limits the time to read the cookies of a session from the browser.
	copyBound = 5 * time.Second
)

// cookieCopy is a copy of a session's cookies for the next browser.
type cookieCopy struct {
	cookies []sessions.Cookie
	// version is the Engine.CookieVersion at the time of the copy.
	version uint64
}

// unexpired returns the cookies that have not expired.
func (c cookieCopy) unexpired(now time.Time) []sessions.Cookie {
	return slices.DeleteFunc(slices.Clone(c.cookies), func(one sessions.Cookie) bool {
		return one.Expires > 0 && one.Expires < float64(now.Unix())
	})
}

// limitSize returns the cookies to keep, and whether these are all cookies.
func limitSize(cookies []sessions.Cookie) (kept []sessions.Cookie, all bool) {
	size := 0
	for i, c := range cookies {
		size += len(c.Name) + len(c.Value) + len(c.Domain) + len(c.Path) + 64
		if size > maxCopiedBytes {
			return cookies[:i:i], false
		}
	}
	return cookies, true
}

// copyCookies copies the cookies of sessions whose cookies may have changed since the last copy.
func (s *slot) copyCookies(e Engine, kept chan<- struct{}) {
	ctx, cancel := context.WithCancel(s.pool.ctx)
	defer cancel()
	defer cancelWhenDone(e, cancel)()
	s.pool.mu.Lock()
	all := s.pool.sessionsOf(s)
	s.pool.mu.Unlock()
	for _, one := range all {
		one.copyCookies(ctx, e, false)
	}
	if ctx.Err() == nil {
		kept <- struct{}{}
	}
}

// copyCookies copies the cookies of a session if they may have changed, or if always is set. On failure, the old copy remains.
func (s *session) copyCookies(ctx context.Context, e Engine, always bool) {
	version := e.CookieVersion(s.name)
	s.pool.mu.Lock()
	same := s.copy.version == version
	s.pool.mu.Unlock()
	if same && !always || !e.Running() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, copyBound)
	defer cancel()
	cookies, err := e.Cookies(ctx, s.name)
	if err != nil {
		return
	}
	cookies, all := limitSize(cookies)
	if !all {
		s.slot.log.Warn("a session has too many cookies to restore all of them after a browser crash", "session", s.name, "bytes", maxCopiedBytes)
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.slot.engine == e {
		s.copy = cookieCopy{cookies: cookies, version: version}
	}
}

// restoreCookies sets the cookies of a session in a new browser. A browser that refuses one cookie sets none, so the cookies are then set
// one by one.
func (s *session) restoreCookies(ctx context.Context, inner sessions.Context, cookies []sessions.Cookie) {
	if len(cookies) == 0 {
		return
	}
	err := inner.SetState(ctx, sessions.State{Cookies: cookies}, false)
	refused := 0
	if apierr.Is(err, apierr.Invalid) {
		err = nil
		for _, c := range cookies {
			if inner.SetState(ctx, sessions.State{Cookies: []sessions.Cookie{c}}, false) != nil {
				refused++
			}
		}
	}
	if err != nil || refused > 0 {
		s.slot.log.Warn("not all cookies of a session were restored", "session", s.name, "refused", refused, "error", err)
	}
}
