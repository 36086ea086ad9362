package member

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/registry"
)

const (
	// settleBound limits how long a call waits for the registry at its end.
	settleBound = 2 * time.Second
	// registerPause is the minimum time between two checks for changes. registerRetry is the interval at which failures are retried.
	registerPause = 100 * time.Millisecond
	registerRetry = time.Second
	// registerBound limits how long the registry may take for one session.
	registerBound = 10 * time.Second
)

// tabs registers the tabs of this node's sessions. It compares the registered tabs with the open tabs, so that failed writes are retried
// later.
type tabs struct {
	m *Member
	// changed receives a value when there may be changes to register.
	changed chan struct{}

	// mu guards the fields below. The pool calls Keep with the pool's lock held, so the pool must not be called with mu held.
	mu sync.Mutex
	// records maps each tab to the record from which it can be restored.
	records map[string]restore.Record
	told    map[string]*registered
}

// registered holds what is registered of a session.
type registered struct {
	// writing is a semaphore for writes to the registry. The lock of tabs guards the other fields.
	writing chan struct{}
	restore bool
	// token is the fencing token of the session at the time of registration.
	token uint64
	tabs  map[string]registry.Tab
}

// under sets the session's fencing token. After a change, all tabs are registered again, because the registry forgets the tabs of a node
// that is cut off for long. When that node is back, it has the session under a new token. The caller holds the lock of tabs.
func (o *registered) under(token uint64) {
	if o.token == token {
		return
	}
	o.token = token
	for id := range o.tabs {
		o.tabs[id] = registry.Tab{} // differs from every open tab
	}
}

func newTabs(m *Member) *tabs {
	return &tabs{m: m, changed: make(chan struct{}, 1), records: map[string]restore.Record{}, told: map[string]*registered{}}
}

// wake makes run register the changes.
func (t *tabs) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Keep implements actor.RestoreStore.
func (m *Member) Keep(k restore.Record) {
	m.tabs.mu.Lock()
	m.tabs.records[k.ID] = k
	m.tabs.mu.Unlock()
	m.tabs.wake()
}

// Forget implements actor.RestoreStore.
func (m *Member) Forget(id string) {
	m.tabs.mu.Lock()
	delete(m.tabs.records, id)
	m.tabs.mu.Unlock()
	m.tabs.wake()
}

// follow calls wake for each event of a tab until the Member is closed.
func (t *tabs) follow() {
	for t.m.ctx.Err() == nil {
		watch := t.m.pool.Watch()
		for {
			_, err := watch.Next(t.m.ctx)
			t.wake()
			if err != nil { // the watch fell behind, or the pool is closed
				break
			}
		}
		watch.Stop()
		select {
		case <-time.After(registerPause):
		case <-t.m.ctx.Done():
		}
	}
}

// run registers changes until the Member is closed.
func (t *tabs) run() {
	retry := time.NewTicker(registerRetry)
	defer retry.Stop()
	for {
		select {
		case <-t.changed:
		case <-retry.C:
		case <-t.m.ctx.Done():
			return
		}
		t.pass()
		select {
		case <-time.After(registerPause):
		case <-t.m.ctx.Done():
		}
	}
}

// pass registers the changes of all sessions.
func (t *tabs) pass() {
	for _, session := range t.m.held() {
		ctx, cancel := context.WithTimeout(t.m.ctx, registerBound)
		err := t.register(ctx, session)
		cancel()
		if err != nil && !errors.Is(err, cluster.ErrElsewhere) {
			t.m.cfg.Logger.Debug("a session could not be registered yet", "session", session, "error", err)
		}
		if errors.Is(err, registry.ErrUnavailable) {
			return
		}
	}
	t.prune()
}

// prune removes the records of tabs that have ended.
func (t *tabs) prune() {
	open := map[string]bool{}
	for _, tab := range t.m.pool.Tabs() {
		open[tab.ID()] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.records {
		if !open[id] {
			delete(t.records, id)
		}
	}
}

// settle registers the tabs of a session, including whether they are restored and the URLs of those to be restored. It gives up after
// settleBound. So a tab is restored at the URL that it had when a call was answered.
func (t *tabs) settle(ctx context.Context, session string) {
	if t.settled(session) {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleBound)
	defer cancel()
	if err := t.register(bounded, session); err != nil && !errors.Is(err, cluster.ErrElsewhere) {
		t.m.cfg.Logger.Warn("the tabs of a session are not registered yet", "session", session, "error", err)
	}
}

// settled reports whether everything that other nodes need of a session's tabs is registered.
func (t *tabs) settled(session string) bool {
	open := t.m.pool.Tabs()
	t.mu.Lock()
	defer t.mu.Unlock()
	known, restored := t.told[session], false
	for _, tab := range open {
		if tab.Session() != session {
			continue
		}
		if known == nil {
			return false
		}
		have, ok := known.tabs[tab.ID()]
		if !ok || tab.Restore() && have.URL != tab.Info().URL {
			return false
		}
		restored = restored || tab.Restore()
	}
	return known == nil || known.restore == restored
}

// of returns what is registered of a session.
func (t *tabs) of(session string) *registered {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.told[session]
	if one == nil {
		one = &registered{writing: make(chan struct{}, 1), tabs: map[string]registry.Tab{}}
		t.told[session] = one
	}
	return one
}

// register registers the changes of a session.
func (t *tabs) register(ctx context.Context, session string) error {
	if !t.m.Has(session) {
		return nil
	}
	token, err := t.m.node.Token(session)
	if err != nil {
		return err
	}
	one := t.of(session)
	select {
	case one.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-one.writing }()
	t.mu.Lock()
	one.under(token)
	t.mu.Unlock()
	set, removed, restored := t.changes(session, one)
	for id, tab := range set {
		if !t.m.Has(session) {
			return nil // the session is leaving
		}
		if err := t.m.node.SetTab(ctx, id, tab); err != nil {
			return err
		}
		t.record(one, id, &tab)
	}
	for _, id := range removed {
		if !t.m.Has(session) {
			return nil
		}
		if err := t.m.node.RemoveTab(ctx, id); err != nil {
			return err
		}
		t.record(one, id, nil)
	}
	return t.registerRestore(ctx, session, one, restored)
}

// registerRestore registers whether other nodes take a session over when its node is gone. The caller holds one.writing.
func (t *tabs) registerRestore(ctx context.Context, session string, one *registered, on bool) error {
	t.mu.Lock()
	same := one.restore == on
	t.mu.Unlock()
	if same || !t.m.Has(session) {
		return nil
	}
	if err := t.m.node.SetRestore(ctx, session, on); err != nil {
		return err
	}
	t.mu.Lock()
	one.restore = on
	t.mu.Unlock()
	if on {
		t.m.saveNow()
	}
	return nil
}

// record records that a tab was registered, or that it was removed if tab is nil.
func (t *tabs) record(one *registered, id string, tab *registry.Tab) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tab == nil {
		delete(one.tabs, id)
		return
	}
	one.tabs[id] = *tab
}

// changes returns the changes of a session to register, and whether one of its tabs is to be restored.
func (t *tabs) changes(session string, one *registered) (set map[string]registry.Tab, removed []string, restored bool) {
	set = map[string]registry.Tab{}
	tabs, open := t.m.pool.Tabs(), map[string]bool{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tab := range tabs {
		if tab.Session() != session {
			continue
		}
		id := tab.ID()
		open[id], restored = true, restored || tab.Restore()
		want := registry.Tab{Session: session, URL: tab.Info().URL, Restore: tab.Restore(), RefFloor: uint64(t.records[id].Refs)}
		if have, ok := one.tabs[id]; !ok || have != want {
			set[id] = want
		}
	}
	for id := range one.tabs {
		if !open[id] {
			removed = append(removed, id)
		}
	}
	return set, removed, restored
}

// adopt records the registered tabs and the fencing token of a session that this node takes over.
func (t *tabs) adopt(session string, token uint64, registered map[string]registry.Tab) {
	one := t.of(session)
	t.mu.Lock()
	defer t.mu.Unlock()
	one.token = token
	for id, tab := range registered {
		one.tabs[id] = tab
	}
}

// finish waits for the registration in progress of a session that is about to leave.
func (t *tabs) finish(session string) {
	one := t.of(session)
	one.writing <- struct{}{} // each write is bounded
	<-one.writing
}

// forget removes the record of a session that was closed or has left. The registry keeps its entries.
func (t *tabs) forget(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.told, session)
}

// saved returns the tabs of a session for its saved state.
func (t *tabs) saved(session string) []tabState {
	var all []tabState
	open := t.m.pool.Tabs()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tab := range open {
		if tab.Session() == session && tab.Info().Status != actor.StatusClosed {
			k, ok := t.records[tab.ID()]
			if !ok {
				k = restore.Record{ID: tab.ID(), Session: session, URL: tab.Info().URL}
			}
			all = append(all, tabState{Record: k, Restore: tab.Restore()})
		}
	}
	return all
}
