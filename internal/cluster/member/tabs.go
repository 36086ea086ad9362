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
	// settleBound is how long a call waits at its end for the registry.
	settleBound = 2 * time.Second
	// registerPause is the least time between two looks at what has changed, and registerRetry is how soon what failed is tried again.
	registerPause = 100 * time.Millisecond
	registerRetry = time.Second
	// registerBound is how long the registry may take for one session.
	registerBound = 10 * time.Second
)

// tabs registers the tabs of this node's sessions. It compares what the registry was told with what there is, so that what fails is made up
// for later.
type tabs struct {
	m *Member
	// changed is filled when something may be to do.
	changed chan struct{}

	// mu guards the rest. The pool calls Keep with its lock held, so that the pool is never called with mu held.
	mu sync.Mutex
	// records are what the tabs need to come back, by tab.
	records map[string]restore.Record
	told    map[string]*told
}

// told is what the registry was told of a session.
type told struct {
	// writing holds the one token of whoever tells the registry something; the lock of tabs guards the rest.
	writing chan struct{}
	restore bool
	// token is the fencing token of the session when it was told.
	token uint64
	tabs  map[string]registry.Tab
}

// under says which token the session has. Under another one, all is told again: the registry forgets the tabs of a node that is cut off for
// long, which has the session under a new token when it is back. The caller holds the lock of tabs.
func (o *told) under(token uint64) {
	if o.token == token {
		return
	}
	o.token = token
	for id := range o.tabs {
		o.tabs[id] = registry.Tab{} // which it never is
	}
}

func newTabs(m *Member) *tabs {
	return &tabs{m: m, changed: make(chan struct{}, 1), records: map[string]restore.Record{}, told: map[string]*told{}}
}

// wake has the registry told what has changed.
func (t *tabs) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Keep implements actor.Keeper.
func (m *Member) Keep(k restore.Record) {
	m.tabs.mu.Lock()
	m.tabs.records[k.ID] = k
	m.tabs.mu.Unlock()
	m.tabs.wake()
}

// Forget implements actor.Keeper.
func (m *Member) Forget(id string) {
	m.tabs.mu.Lock()
	delete(m.tabs.records, id)
	m.tabs.mu.Unlock()
	m.tabs.wake()
}

// follow wakes for the events of tabs until the Member is closed.
func (t *tabs) follow() {
	for t.m.ctx.Err() == nil {
		watch := t.m.pool.Watch()
		for {
			_, err := watch.Next(t.m.ctx)
			t.wake()
			if err != nil { // it fell behind, or the pool is closed
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

// run tells the registry what has changed until the Member is closed.
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

// pass tells the registry what has changed of all sessions.
func (t *tabs) pass() {
	for _, session := range t.m.held() {
		ctx, cancel := context.WithTimeout(t.m.ctx, registerBound)
		err := t.tell(ctx, session)
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

// prune forgets the records of tabs that have ended.
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

// settle returns when the registry knows the tabs of a session, whether they are restored, and the URLs of those that are, or when it takes
// too long. So a tab comes back at the URL that it had when a call was answered.
func (t *tabs) settle(ctx context.Context, session string) {
	if t.settled(session) {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleBound)
	defer cancel()
	if err := t.tell(bounded, session); err != nil && !errors.Is(err, cluster.ErrElsewhere) {
		t.m.cfg.Logger.Warn("the tabs of a session are not registered yet", "session", session, "error", err)
	}
}

// settled reports whether the registry was told of all tabs of a session what others need.
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

// of finds what the registry was told of a session.
func (t *tabs) of(session string) *told {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.told[session]
	if one == nil {
		one = &told{writing: make(chan struct{}, 1), tabs: map[string]registry.Tab{}}
		t.told[session] = one
	}
	return one
}

// tell tells the registry what has changed of a session.
func (t *tabs) tell(ctx context.Context, session string) error {
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
			return nil // it leaves
		}
		if err := t.m.node.SetTab(ctx, id, tab); err != nil {
			return err
		}
		t.note(one, id, &tab)
	}
	for _, id := range removed {
		if !t.m.Has(session) {
			return nil
		}
		if err := t.m.node.RemoveTab(ctx, id); err != nil {
			return err
		}
		t.note(one, id, nil)
	}
	return t.tellRestore(ctx, session, one, restored)
}

// tellRestore tells the registry whether a session is to be taken over. The caller is writing.
func (t *tabs) tellRestore(ctx context.Context, session string, one *told, on bool) error {
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

// note notes what the registry was told of a tab; nil: that it is gone.
func (t *tabs) note(one *told, id string, tab *registry.Tab) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tab == nil {
		delete(one.tabs, id)
		return
	}
	one.tabs[id] = *tab
}

// changes is what the registry is to be told of a session, and whether one of its tabs is to be restored.
func (t *tabs) changes(session string, one *told) (set map[string]registry.Tab, removed []string, restored bool) {
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

// adopt says that tabs of a session are registered, which has a token from now on.
func (t *tabs) adopt(session string, token uint64, registered map[string]registry.Tab) {
	one := t.of(session)
	t.mu.Lock()
	defer t.mu.Unlock()
	one.token = token
	for id, tab := range registered {
		one.tabs[id] = tab
	}
}

// finish waits until nobody tells the registry anything of a session that is about to leave.
func (t *tabs) finish(session string) {
	one := t.of(session)
	one.writing <- struct{}{} // each write is bounded
	<-one.writing
}

// forget forgets a session that was closed, or left. What is registered stays.
func (t *tabs) forget(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.told, session)
}

// saved are the tabs of a session, as its state has them.
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
