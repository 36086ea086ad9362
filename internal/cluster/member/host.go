package member

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// movedAway returns the error that ends the calls, tabs and watches of a session when it moves to another node.
func movedAway(session string) *apierr.Error {
	return &apierr.Error{
		Kind: apierr.Restoring, Message: "session " + session + " is moving to another node of the cluster: try again, and restart watches, in a moment; " +
			"earlier refs and typed text are lost",
	}
}

// Restore implements cluster.Host. It returns when the pages are restored, or after returnBound.
func (m *Member) Restore(ctx context.Context, s cluster.Session) error {
	select {
	case <-m.started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	from, err := decode(s.State)
	if err != nil {
		m.cfg.Logger.Warn("a session is restored without its state", "session", s.Name, "error", err)
	}
	err = m.sessions.Adopt(ctx, s.Name, from.Settings, from.Storage)
	if err != nil && ctx.Err() == nil && from.Storage.DropDatabases() {
		m.cfg.Logger.Warn("a session is restored without its databases", "session", s.Name, "error", err)
		err = m.sessions.Adopt(ctx, s.Name, from.Settings, from.Storage)
	}
	if err != nil {
		return err
	}
	m.add(s.Name)
	var back []*actor.Tab
	for _, t := range from.restored(s.Name, s.Tabs) {
		if tab := m.restoreTab(t); tab != nil {
			back = append(back, tab)
			delete(s.Tabs, t.ID)
		}
	}
	m.tabs.adopt(s.Name, s.Token, s.Tabs) // tabs that were not restored are later removed from the registry
	bounded, cancel := context.WithTimeout(ctx, returnBound)
	defer cancel()
	for _, tab := range back {
		await(bounded, tab)
	}
	m.saveNow()
	return nil
}

// restoreTab opens a tab again. It returns nil on failure.
func (m *Member) restoreTab(t tabState) *actor.Tab {
	err := m.pool.Restore(t.Record)
	var tab *actor.Tab
	if err == nil {
		tab, err = m.pool.Tab(t.ID)
	}
	if err != nil {
		m.cfg.Logger.Warn("a tab was not restored", "tab", t.ID, "error", err)
		return nil
	}
	if !t.Restore {
		tab.SetRestore(false)
	}
	return tab
}

// await waits until a tab's page is restored or the tab has ended.
func await(ctx context.Context, tab *actor.Tab) {
	for head := tab.Head(); head.Info.Status == actor.StatusRestoring; head = tab.Head() {
		select {
		case <-head.Next():
		case <-ctx.Done():
			return
		}
	}
}

// Stop implements cluster.Host.
func (m *Member) Stop(ctx context.Context, session string) ([]byte, error) {
	if err := m.quiesce(ctx, session); err != nil {
		return nil, fmt.Errorf("stop session %s: %w", session, err)
	}
	s, err := m.copy(ctx, session, movedDatabases)
	if err != nil {
		m.resume(session)
		return nil, fmt.Errorf("stop session %s: %w", session, err)
	}
	s.Whole = true
	text, err := m.saved(ctx, session, s)
	if err != nil {
		m.resume(session)
		return nil, fmt.Errorf("stop session %s: %w", session, err)
	}
	m.tabs.finish(session)
	m.leave(context.WithoutCancel(ctx), session, true)
	m.tabs.forget(session)
	return text, nil
}

// saved saves the state of a session that is about to leave. If it fails, the session stays on this node with its pages.
func (m *Member) saved(ctx context.Context, session string, s state) (text []byte, err error) {
	token, err := m.node.Token(session)
	if err != nil {
		return nil, err
	}
	if text, err = s.encode(); err != nil {
		return nil, err
	}
	return text, m.cfg.States.Save(ctx, session, token, text)
}

// Fence implements cluster.Host.
func (m *Member) Fence(session string) {
	m.leave(m.ctx, session, false)
	m.tabs.forget(session)
}

// leave ends a session on this node. If wait is true, it returns when the browser has disposed of the session.
func (m *Member) leave(ctx context.Context, session string, wait bool) {
	m.drop(session)
	var ids []string
	for _, tab := range m.pool.Tabs() {
		if tab.Session() == session {
			ids = append(ids, tab.ID())
		}
	}
	m.cfg.Leaving(ids)
	gone := m.sessions.Leave(ctx, session, movedAway(session))
	if gone == nil || !wait {
		return
	}
	if err := <-gone; err != nil {
		m.cfg.Logger.Warn("a session that moved left something behind", "session", session, "error", err)
	}
}

// Load implements cluster.Host.
func (m *Member) Load() registry.Load {
	m.mu.Lock()
	l := registry.Load{Sessions: len(m.holds), MaxSessions: m.cfg.MaxSessions, Busy: busy()}
	m.mu.Unlock()
	if m.pool != nil {
		l.Tabs = len(m.pool.Tabs())
	}
	return l
}
