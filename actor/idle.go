package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// use is who uses a tab, guarded by the pool's lock. The lock decides between a call that comes and a tab that is about to be closed
// because nobody uses it: the call either keeps the tab, or is told.
type use struct {
	users int
	// last is when a use ended, or the tab began.
	last time.Time
	// expired says that the tab is closed because nobody used it.
	expired *apierr.Error
}

// idle reports whether nobody has used the tab since a time.
func (u *use) idle(since time.Time) bool { return u.users == 0 && !u.last.After(since) }

// Use finds a tab, and keeps it from being closed as idle until ctx ends, which has to be a call's. Errors are those of Tab, and an *Error
// of kind NotFound when the tab was closed as idle just now.
func (p *Pool) Use(ctx context.Context, id string) (*Tab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tabs {
		if t.id != id {
			continue
		}
		if t.use.expired != nil {
			return nil, t.use.expired
		}
		context.AfterFunc(ctx, p.hold(t))
		return t, nil
	}
	return nil, NoTab(id)
}

// hold keeps a tab from being closed as idle; the caller holds the lock, and owes a call of release without it.
func (p *Pool) hold(t *Tab) (release func()) {
	t.use.users++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.use.users--
		t.use.last = time.Now()
	}
}

// CloseIdle closes the tabs that nobody has used for so long, and returns when the next may be due. No tab that begins or is used meanwhile
// is due earlier. The end of such a tab is told with the reason "idle".
func (p *Pool) CloseIdle(idle time.Duration) (next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	next = now.Add(idle)
	for _, t := range p.tabs {
		switch {
		case t.use.expired != nil:
		case t.use.idle(now.Add(-idle)):
			p.expire(t, &apierr.Error{Kind: apierr.NotFound, Message: fmt.Sprintf("tab %s was closed, because nobody had used it for %v: open another", t.id, idle), Err: errIdle})
		case t.use.users == 0 && t.use.last.Add(idle).Before(next):
			next = t.use.last.Add(idle)
		}
	}
	return next
}

// expire closes a tab as idle; the caller holds the lock.
func (p *Pool) expire(t *Tab, why *apierr.Error) {
	t.use.expired = why
	t.log.Info("the tab was closed, because nobody used it")
	t.end(why)
}

// ExpireSession begins to close the tabs of a session, unless one of them was used after a time: then it does nothing but tell when the last
// use was, which is now for one that is in use.
func (p *Pool) ExpireSession(session string, since time.Time, why string) (expired bool, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*Tab
	for _, t := range p.tabs {
		if t.session != session || t.use.expired != nil {
			continue
		}
		all = append(all, t)
		if t.use.users > 0 {
			return false, time.Now()
		}
		if t.use.last.After(last) {
			last = t.use.last
		}
	}
	if last.After(since) {
		return false, last
	}
	for _, t := range all {
		p.expire(t, &apierr.Error{Kind: apierr.NotFound, Message: "tab " + t.id + " was closed with its session: " + why, Err: errIdle})
	}
	return true, last
}
