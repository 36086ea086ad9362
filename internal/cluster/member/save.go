package member

import (
	"context"
	"fmt"
	"time"
)

// saveAnyway is how long a state may be old of which nothing is known to have changed: responses set cookies without a trace in the page.
const saveAnyway = time.Minute

// savedState is what tells whether a session may have changed since it was saved.
type savedState struct {
	at time.Time
	// touched is that of hold, and revisions are those of all tabs together.
	touched, revisions uint64
}

// saveNow has those sessions saved that never were.
func (m *Member) saveNow() {
	select {
	case m.due <- struct{}{}:
	default:
	}
}

// save saves the sessions that are to be restored, when they may have changed, until the Member is closed.
func (m *Member) save() {
	tick := time.NewTicker(SaveEvery)
	defer tick.Stop()
	for {
		all := false
		select {
		case <-m.due:
		case <-tick.C:
			all = true
		case <-m.ctx.Done():
			return
		}
		for _, session := range m.held() {
			now, due := m.dueSave(session, all)
			if !due || m.ctx.Err() != nil {
				continue
			}
			if err := m.saveOne(session, now); err != nil {
				m.cfg.Logger.Warn("the state of a session was not saved: if this node died, the session would come back with an older one", "session", session, "error", err)
			}
		}
	}
}

// dueSave reports whether a session is to be saved, and what it is like now. Without all, only one that never was.
func (m *Member) dueSave(session string, all bool) (now savedState, due bool) {
	now.at = time.Now()
	restored := false
	for _, tab := range m.pool.Tabs() {
		if tab.Session() == session {
			restored = restored || tab.Restore()
			now.revisions += tab.Info().Revision
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.holds[session]
	if h == nil || !restored {
		return now, false
	}
	now.touched = h.touched
	last := h.saved
	return now, last.at.IsZero() || all && (last.touched != now.touched || last.revisions != now.revisions || now.at.Sub(last.at) >= saveAnyway)
}

// saveOne saves a session.
func (m *Member) saveOne(session string, now savedState) error {
	ctx, cancel := context.WithTimeout(m.ctx, saveBound)
	defer cancel()
	token, err := m.node.Token(session)
	if err != nil {
		return err
	}
	s, err := m.copy(ctx, session)
	if err != nil {
		return err
	}
	text, err := s.encode()
	if err != nil {
		return err
	}
	if !m.Has(session) {
		return nil // it leaves, and its state is saved by whoever moves it
	}
	if err := m.cfg.States.Save(ctx, session, token, text); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.holds[session]; h != nil {
		h.saved = now
	}
	m.cfg.Logger.Debug("a session was saved", "session", session, "tabs", len(s.Tabs), "bytes", len(text))
	return nil
}

// copy is what another node needs of a session now.
func (m *Member) copy(ctx context.Context, session string) (s state, err error) {
	s.Settings, s.Storage, err = m.sessions.Copy(ctx, session)
	s.Tabs = m.tabs.saved(session)
	return s, err
}
