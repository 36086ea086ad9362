package member

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

const (
	// saveInterval is the interval at which sessions are checked for changes to save. It is also the minimum time between two saves of a
	// session.
	saveInterval = time.Second
	// saveAnyway is the maximum age of a saved state, even without a known change. A script may store data without a request and without a
	// change to the page.
	saveAnyway = time.Minute
	// maxSaves limits how many sessions are saved concurrently. Each save briefly opens a page in the browser.
	maxSaves = 4
	// savedDatabases limits the bytes of databases that are saved with a session, because each save reads them. movedDatabases limits the
	// bytes of databases that a moving session keeps. Together with the limit on other stored data, that is less than the maximum size of a
	// state.
	savedDatabases = 1 << 20
	movedDatabases = 4 << 20
)

// savedState serves to detect whether a session may have changed since it was saved.
type savedState struct {
	at time.Time
	// touched is hold.touched. revisions is the sum of the revisions of all tabs. stored counts events that may have changed cookies.
	touched, revisions, stored uint64
}

// differs reports whether the session may have changed between last and s.
func (s savedState) differs(last savedState) bool {
	return s.touched != last.touched || s.revisions != last.revisions || s.stored != last.stored
}

// saving tracks the saves of a hold. gate.mu guards it.
type saving struct {
	// saved is the session's state at the start of the last successful save.
	saved savedState
	// pause is the minimum time between the last save and the next one. It is saveInterval after an idle period and doubles with each further
	// save, up to SaveEvery. So a single change is saved promptly, and continuous changes cost one save every SaveEvery.
	pause time.Duration
	// running reports whether the session is being saved.
	running bool
	// sum is the hash of the state that was stored last.
	sum [sha256.Size]byte
}

// due reports whether a session must be saved. now is its current state.
func (s *saving) due(now savedState) bool {
	age := now.at.Sub(s.saved.at)
	return !s.running && (s.saved.at.IsZero() || age >= s.pause && now.differs(s.saved) || age >= saveAnyway)
}

// done records a successful save. now is the session's state at the start of the save.
func (s *saving) done(now savedState) {
	s.pause = min(2*s.pause, SaveEvery)
	if now.at.Sub(s.saved.at) >= 2*SaveEvery { // the condition also holds for the first save
		s.pause = saveInterval
	}
	s.saved = now
}

// saveNow saves the sessions that were never saved, without waiting for the next check.
func (m *Member) saveNow() {
	select {
	case m.due <- struct{}{}:
	default:
	}
}

// save saves sessions with tabs to be restored whenever they may have changed, until the Member is closed.
func (m *Member) save() {
	tick := time.NewTicker(saveInterval)
	defer tick.Stop()
	slots := make(chan struct{}, maxSaves)
	for {
		select {
		case <-m.due:
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
		for _, session := range m.held() {
			if h, now := m.beginSave(session); h != nil {
				m.running.Go(func() { m.saveIn(slots, session, h, now) })
			}
		}
	}
}

// beginSave starts to save a session if a save is due, and returns the session's current state. It returns a nil hold if no save is due.
// Otherwise the caller must call saveIn.
func (m *Member) beginSave(session string) (h *heldSession, now savedState) {
	now.at = time.Now()
	restored := false
	for _, tab := range m.pool.Tabs() {
		if tab.Session() == session {
			restored = restored || tab.Restore()
			now.revisions += tab.Info().Revision
		}
	}
	now.stored = m.sessions.Changes(session)
	m.mu.Lock()
	defer m.mu.Unlock()
	h = m.holds[session]
	if h == nil || h.stopping || !restored {
		return nil, now
	}
	now.touched = h.touched
	if !h.saving.due(now) {
		return nil, now
	}
	h.saving.running = true
	return h, now
}

// saveIn saves a session when a slot is free. A failed save is retried after saveInterval.
func (m *Member) saveIn(slots chan struct{}, session string, h *heldSession, now savedState) {
	var sum [sha256.Size]byte
	err := context.Cause(m.ctx)
	select {
	case slots <- struct{}{}:
		sum, err = m.saveOne(session, h)
		<-slots
	case <-m.ctx.Done():
	}
	m.saveEnds(h, now, sum, err)
	if err != nil && m.ctx.Err() == nil {
		m.cfg.Logger.Warn("the state of a session was not saved: after a crash of this node it would be restored from older state", "session", session, "error", err)
	}
}

// saveOne saves a session unless its state equals the state that was stored last.
func (m *Member) saveOne(session string, h *heldSession) (sum [sha256.Size]byte, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, saveBound)
	defer cancel()
	token, err := m.node.Token(session)
	if err != nil {
		return sum, err
	}
	s, err := m.copy(ctx, session, savedDatabases)
	if err != nil {
		return sum, err
	}
	text, err := s.encode()
	if err != nil {
		return sum, err
	}
	if sum = sha256.Sum256(text); sum == h.saving.sum { // only saves change the stored sum
		return sum, nil
	}
	if err := m.cfg.States.Save(ctx, session, token, text); err != nil {
		return sum, fmt.Errorf("save: %w", err)
	}
	m.cfg.Logger.Debug("a session was saved", "session", session, "tabs", len(s.Tabs), "cookies", len(s.Storage.Cookies), "bytes", len(text))
	return sum, nil
}

// copy returns the current state of a session for another node, with at most the given number of bytes of databases.
func (m *Member) copy(ctx context.Context, session string, databases int) (s state, err error) {
	s.Settings, s.Storage, err = m.sessions.Copy(ctx, session, databases)
	for _, o := range s.Storage.Omissions {
		m.cfg.Logger.Debug("a part of a session's storage was not saved", "session", session, "origin", o.Origin, "database", o.Database, "reason", o.Reason)
	}
	s.Tabs = m.tabs.saved(session)
	return s, err
}
