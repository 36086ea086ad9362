package member

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

const (
	// saveLook is how often the sessions are looked at that may have to be saved. It is also the least time between two saves of one.
	saveLook = time.Second
	// saveAnyway is how long a state may be old of which nothing is known to have changed: a script may store something without a
	// request and without a trace in the page.
	saveAnyway = time.Minute
	// savesAtOnce is how many sessions are saved at the same time: each opens a page in the browser for a moment.
	savesAtOnce = 4
	// savedDatabases is how many bytes of databases are saved with a session: they are read with each save. movedDatabases is how many a
	// session takes along that is stopped to move; with the limit on what else a session may have stored, that is less than a state may have.
	savedDatabases = 1 << 20
	movedDatabases = 4 << 20
)

// savedState is what tells whether a session may have changed since it was saved.
type savedState struct {
	at time.Time
	// touched is that of hold, revisions are those of all tabs together, and stored counts what may have changed cookies.
	touched, revisions, stored uint64
}

// differs reports whether the session may have changed between the two.
func (s savedState) differs(last savedState) bool {
	return s.touched != last.touched || s.revisions != last.revisions || s.stored != last.stored
}

// saving is what a hold knows of its saves. gate.mu guards it.
type saving struct {
	// saved is what was saved last.
	saved savedState
	// pause is the least time between the last save and the next one: saveLook after a rest, and twice as long after each further save, up
	// to SaveEvery. So what happens once is saved at once, and what goes on costs a save every SaveEvery.
	pause time.Duration
	// running says that the session is being saved.
	running bool
	// sum is that of the state that was stored last.
	sum [sha256.Size]byte
}

// due reports whether the session is to be saved, of which now is known.
func (s *saving) due(now savedState) bool {
	age := now.at.Sub(s.saved.at)
	return !s.running && (s.saved.at.IsZero() || age >= s.pause && now.differs(s.saved) || age >= saveAnyway)
}

// done notes a save of what was known when it began.
func (s *saving) done(now savedState) {
	s.pause = min(2*s.pause, SaveEvery)
	if now.at.Sub(s.saved.at) >= 2*SaveEvery { // also for the first one
		s.pause = saveLook
	}
	s.saved = now
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
	tick := time.NewTicker(saveLook)
	defer tick.Stop()
	slots := make(chan struct{}, savesAtOnce)
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

// beginSave begins to save a session if that is due, and says what the session is like now; nil: it is not. The caller owes saveIn.
func (m *Member) beginSave(session string) (h *hold, now savedState) {
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

// saveIn saves a session when there is a slot. What fails is tried again after saveLook.
func (m *Member) saveIn(slots chan struct{}, session string, h *hold, now savedState) {
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
		m.cfg.Logger.Warn("the state of a session was not saved: if this node died, the session would come back with an older one", "session", session, "error", err)
	}
}

// saveOne saves a session, unless it is as it was saved last.
func (m *Member) saveOne(session string, h *hold) (sum [sha256.Size]byte, err error) {
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
	if sum = sha256.Sum256(text); sum == h.saving.sum { // which only saves change
		return sum, nil
	}
	if err := m.cfg.States.Save(ctx, session, token, text); err != nil {
		return sum, fmt.Errorf("save: %w", err)
	}
	m.cfg.Logger.Debug("a session was saved", "session", session, "tabs", len(s.Tabs), "cookies", len(s.Storage.Cookies), "bytes", len(text))
	return sum, nil
}

// copy is what another node needs of a session now, with databases of so many bytes.
func (m *Member) copy(ctx context.Context, session string, databases int) (s state, err error) {
	s.Settings, s.Storage, err = m.sessions.Copy(ctx, session, databases)
	for _, o := range s.Storage.Omissions {
		m.cfg.Logger.Debug("a part of a session's storage is not kept", "session", session, "origin", o.Origin, "database", o.Database, "reason", o.Reason)
	}
	s.Tabs = m.tabs.saved(session)
	return s, err
}
