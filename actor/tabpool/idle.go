package tabpool

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// Use finds a tab and keeps it from being closed or frozen as idle until ctx ends. The context must belong to a call. Use returns the
// errors of Tab, and an *Error of kind NotFound if the tab was just closed as idle.
func (p *Pool) Use(ctx context.Context, id string) (*actor.Tab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.tabs {
		if m.Tab().ID() != id {
			continue
		}
		if why := p.uses.expired(id); why != nil {
			return nil, why
		}
		context.AfterFunc(ctx, p.uses.hold(id, &p.mu))
		if p.uses.thaw(id) {
			m.Freeze(false)
		}
		return m.Tab(), nil
	}
	return nil, NoTab(id)
}

// CloseIdle closes the tabs that have been idle for the given duration, and returns when the next tab may be due. Opening or using a tab
// delays it. The TabClosed event of such a tab has the reason "idle".
func (p *Pool) CloseIdle(idle time.Duration) (next time.Time) {
	return eachIdle(p, idle, func(id string, m *member) {
		why := fmt.Sprintf("tab %s was closed because it was idle for %v: open another tab", id, idle)
		p.closeIdle(m, p.uses.expire(id, why))
	})
}

// FreezeIdle freezes the tabs that have been idle for the given duration until they are used again, and returns when the next tab may be
// due. A tab whose page is loading, downloading or blocked by a dialog is frozen when that is over. A tab that was taken over is never
// frozen, because the user of the browser may look at it.
func (p *Pool) FreezeIdle(idle time.Duration) (next time.Time) {
	return eachIdle(p, idle, func(id string, m *member) {
		if !m.Tab().Info().TakenOver && p.uses.freeze(id) {
			m.Freeze(true)
		}
	})
}

// eachIdle calls do, with the lock held, for the tabs that have been idle for the given duration, and returns when the next tab may be due.
func eachIdle(p *Pool, idle time.Duration, do func(id string, m *member)) (next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	next = now.Add(idle)
	for _, m := range p.tabs {
		id := m.Tab().ID()
		since, unused := p.uses.idleSince(id)
		due := since.Add(idle)
		switch {
		case !unused:
		case !due.After(now):
			do(id, m)
		case due.Before(next):
			next = due
		}
	}
	return next
}

// ExpireSession starts to close the tabs of a session, unless one of them was used after the given time. It returns the time of the last
// use, which is now if a tab is in use.
func (p *Pool) ExpireSession(session string, since time.Time, why string) (expired bool, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*member
	var ids []string
	for _, m := range p.tabs {
		if t := m.Tab(); t.Session() == session && p.uses.expired(t.ID()) == nil {
			all, ids = append(all, m), append(ids, t.ID())
		}
	}
	if last = p.uses.latest(ids, time.Now()); last.After(since) {
		return false, last
	}
	for i, m := range all {
		p.closeIdle(m, p.uses.expire(ids[i], "tab "+ids[i]+" was closed with its session: "+why))
	}
	return true, last
}

// closeIdle closes an idle tab.
func (p *Pool) closeIdle(m *member, why *apierr.Error) {
	p.cfg.Logger.Info("an idle tab was closed", "tab", m.Tab().ID())
	m.End(why)
}
