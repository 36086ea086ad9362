package actor

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// Use finds a tab, and keeps it from being closed as idle until ctx ends, which has to be a call's. Errors
// are those of Tab, and an *Error of kind NotFound when the tab was closed as idle just now.
func (p *Pool) Use(ctx context.Context, id string) (*Tab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tabs {
		if t.id != id {
			continue
		}
		if why := p.uses.expired(id); why != nil {
			return nil, why
		}
		context.AfterFunc(ctx, p.uses.hold(id, &p.mu))
		return t, nil
	}
	return nil, NoTab(id)
}

// CloseIdle closes the tabs that nobody has used for so long, and returns when the next may be due. A tab
// that begins or is used meanwhile is due later. The TabClosed event of such a tab has the reason "idle".
func (p *Pool) CloseIdle(idle time.Duration) (next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	next = now.Add(idle)
	for _, t := range p.tabs {
		since, unused := p.uses.idleSince(t.id)
		due := since.Add(idle)
		switch {
		case !unused:
		case !due.After(now):
			why := fmt.Sprintf("tab %s was closed, because nobody had used it for %v: open another", t.id, idle)
			closeIdle(t, p.uses.expire(t.id, why))
		case due.Before(next):
			next = due
		}
	}
	return next
}

// ExpireSession begins to close the tabs of a session, unless one of the tabs was used after since. Then it
// only returns when the last use was, which is now for a tab in use.
func (p *Pool) ExpireSession(session string, since time.Time, why string) (expired bool, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*Tab
	var ids []string
	for _, t := range p.tabs {
		if t.session == session && p.uses.expired(t.id) == nil {
			all, ids = append(all, t), append(ids, t.id)
		}
	}
	if last = p.uses.latest(ids, time.Now()); last.After(since) {
		return false, last
	}
	for _, t := range all {
		closeIdle(t, p.uses.expire(t.id, "tab "+t.id+" was closed with its session: "+why))
	}
	return true, last
}

// closeIdle closes a tab that nobody has used.
func closeIdle(t *Tab, why *apierr.Error) {
	t.log.Info("the tab was closed, because nobody used it")
	t.end(why)
}
