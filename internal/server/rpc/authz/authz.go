// Package authz is the layer between the handlers and the tabs and sessions. All access goes through it, and it checks the owner for every
// call.
//
// Guarantees:
//
//   - The operator sees all tabs and sessions. A named client sees only its own tabs and sessions, under names without the client's prefix.
//     A call without
//     a principal sees none.
//   - A tab or session of another client yields exactly the same error as one that never existed.
//   - Each client has a session named default, which is created on first use.
//
// A handler may use a tab only until its call ends.
package authz

import (
	"context"
	"strconv"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/sessions"
)

// Access resolves the tabs and sessions of callers.
type Access struct {
	pool     *tabpool.Pool
	sessions *sessions.Sessions
	// dialogs is the dialog policy of the clients' default sessions.
	dialogs driver.DialogPolicy

	mu      sync.Mutex
	clients map[string]*clientSessions
}

// clientSessions holds the state of one client.
type clientSessions struct {
	// creating is a semaphore of size 1, held while the default session is created.
	creating chan struct{}
	// made counts the generated session names. Access.mu guards it.
	made int
}

// New returns an Access to a pool and its sessions. The caller keeps the ownership of both.
func New(pool *tabpool.Pool, all *sessions.Sessions) *Access {
	return &Access{pool: pool, sessions: all, dialogs: pool.DialogPolicy(sessions.Default), clients: map[string]*clientSessions{}}
}

// Tab finds a tab of the caller. The tab counts as in use until ctx, the context of the call, ends.
func (a *Access) Tab(ctx context.Context, id string) (*actor.Tab, error) {
	tab, err := a.pool.Tab(id)
	if err != nil {
		return nil, err
	}
	if !identity.From(ctx).Owns(tab.Session()) {
		return nil, tabpool.NoTab(id)
	}
	return a.pool.Use(ctx, id)
}

// Tabs lists the open tabs of the caller, oldest first. If session is set, only its tabs are listed.
func (a *Access) Tabs(ctx context.Context, session string) ([]*actor.Tab, error) {
	who := identity.From(ctx)
	name, err := a.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	var own []*actor.Tab
	for _, tab := range a.pool.Tabs() {
		if who.Owns(tab.Session()) && (session == "" || tab.Session() == name) {
			own = append(own, tab)
		}
	}
	return own, nil
}

// Others lists the pages that the user of the browser has open. Only the operator may see and take over these.
func (a *Access) Others(ctx context.Context) ([]driver.OtherPage, error) {
	if err := operatorOnly(ctx); err != nil {
		return nil, err
	}
	return a.pool.Others(ctx)
}

// operatorOnly returns an error unless the caller is the operator.
func operatorOnly(ctx context.Context) error {
	if identity.From(ctx).IsOperator() {
		return nil
	}
	return apierr.Unknown("page", "only the operator of the daemon can use the tabs that the user of the browser has open")
}

// Watch subscribes to the events of the caller's tabs. If session is set, only its tabs are watched. The caller must call Stop.
func (a *Access) Watch(ctx context.Context, session string) (*tabpool.Watch, error) {
	if session == "" {
		return a.pool.WatchSome(identity.From(ctx).Owns), nil
	}
	name, err := a.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	if err := a.sessions.Use(ctx, name); err != nil {
		return nil, err
	}
	return a.pool.WatchSession(name), nil
}

// Open opens a tab in a session of the caller.
func (a *Access) Open(ctx context.Context, o tabpool.OpenOptions) (*actor.Tab, error) {
	session, err := a.session(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	o.Session = session
	if o.TakeOver != "" {
		if err := operatorOnly(ctx); err != nil {
			return nil, err
		}
	}
	return a.sessions.Open(ctx, o)
}

// CloseTab closes a tab of the caller.
func (a *Access) CloseTab(ctx context.Context, id string) error {
	if _, err := a.Tab(ctx, id); err != nil {
		return err
	}
	return a.pool.CloseTab(ctx, id)
}

// Create creates a session for the caller. If id is empty, the daemon chooses one.
func (a *Access) Create(ctx context.Context, id string, s sessions.Settings, state sessions.State) (sessions.Info, error) {
	who := identity.From(ctx)
	switch {
	case who.Name() == "":
		return sessions.Info{}, noPrincipal()
	case id == "" && !who.IsOperator():
		id = a.choose(who)
	case id == "":
		return a.sessions.Create(ctx, id, s, state)
	}
	if id == sessions.Default {
		if _, err := a.session(ctx, id); err != nil {
			return sessions.Info{}, err
		}
	}
	return a.sessions.Create(ctx, who.SessionName(id), s, state)
}

// choose generates an unused session name for the client.
func (a *Access) choose(who identity.Principal) string {
	if name := a.sessions.RandomName(); name != "" {
		return name
	}
	f := a.of(who)
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		f.made++
		id := "s" + strconv.Itoa(f.made)
		if a.sessions.Has(who.SessionName(id)) != nil {
			return id
		}
	}
}

type oneNodeKey struct{}

// ForOneNode marks ctx as a call that lists the sessions of one node of a cluster. List then does not create the client's default session,
// which lives on a single node.
func ForOneNode(ctx context.Context) context.Context {
	return context.WithValue(ctx, oneNodeKey{}, true)
}

// List lists the sessions of the caller, the default one first.
func (a *Access) List(ctx context.Context) ([]sessions.Info, error) {
	who := identity.From(ctx)
	standard := who.SessionName(sessions.Default)
	if ctx.Value(oneNodeKey{}) == nil {
		if _, err := a.session(ctx, sessions.Default); err != nil {
			return nil, err
		}
	}
	var own []sessions.Info
	for _, info := range a.sessions.List() {
		switch {
		case info.ID == standard:
			own = append([]sessions.Info{info}, own...)
		case who.Owns(info.ID):
			own = append(own, info)
		}
	}
	return own, nil
}

// Update replaces the settings of a session.
func (a *Access) Update(ctx context.Context, id string, s sessions.Settings) (sessions.Info, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return sessions.Info{}, err
	}
	return a.sessions.Update(ctx, id, s)
}

// Close closes a session. The default session stays.
func (a *Access) Close(ctx context.Context, id string, keep bool) error {
	if who := identity.From(ctx); id != "" && id != sessions.Default {
		if id = who.SessionName(id); id == "" {
			return noPrincipal()
		}
	}
	return a.sessions.Close(ctx, id, keep)
}

// State returns a session's cookies and storage.
func (a *Access) State(ctx context.Context, id string, o sessions.StateOptions) (sessions.State, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return sessions.State{}, err
	}
	return a.sessions.State(ctx, id, o)
}

// Stored calls do with a session's storage.
func (a *Access) Stored(ctx context.Context, id string, do func(context.Context, sessions.Storage) error) error {
	id, err := a.session(ctx, id)
	if err != nil {
		return err
	}
	return a.sessions.Stored(ctx, id, do)
}

// SetState adds cookies and storage to a session. If replace is set, it clears the session first.
func (a *Access) SetState(ctx context.Context, id string, state sessions.State, replace bool) error {
	id, err := a.session(ctx, id)
	if err != nil {
		return err
	}
	return a.sessions.SetState(ctx, id, state, replace)
}

// Downloads lists the downloads of a session, newest first.
func (a *Access) Downloads(ctx context.Context, id string) ([]tabpool.DownloadRecord, error) {
	id, err := a.session(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.pool.Downloads(id), nil
}

// DownloadsOf lists the downloads of a tab's session, newest first.
func (a *Access) DownloadsOf(tab *actor.Tab) []tabpool.DownloadRecord {
	return a.pool.Downloads(tab.Session())
}

// Session returns the daemon's name for a session of the caller. It returns "" for an empty name, which selects all sessions.
func (a *Access) Session(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return a.session(ctx, id)
}

// session returns the daemon's name for a session of the caller. An empty name selects the default session, which is created if needed.
func (a *Access) session(ctx context.Context, id string) (string, error) {
	who := identity.From(ctx)
	if id == "" {
		id = sessions.Default
	}
	name := who.SessionName(id)
	if name == "" {
		return "", noPrincipal()
	}
	err := a.sessions.Has(name)
	if err != nil && id == sessions.Default {
		err = a.makeDefault(ctx, who, name)
	}
	return name, err
}

// makeDefault creates the default session of a client. Concurrent calls wait for each other.
func (a *Access) makeDefault(ctx context.Context, who identity.Principal, name string) error {
	f := a.of(who)
	select {
	case f.creating <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.creating }()
	if a.sessions.Has(name) == nil {
		return nil
	}
	_, err := a.sessions.Create(ctx, name, sessions.Settings{Dialogs: a.dialogs}, sessions.State{})
	return err
}

func (a *Access) of(who identity.Principal) *clientSessions {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.clients[who.Name()]
	if f == nil {
		f = &clientSessions{creating: make(chan struct{}, 1)}
		a.clients[who.Name()] = f
	}
	return f
}

// noPrincipal returns the error of a call that has no principal. Only a bug in the daemon causes it.
func noPrincipal() error {
	return apierr.Errorf(apierr.NotFound, "the call has no principal: this is a bug in domtap, please report it")
}

// HasSession reports whether a session exists, by the daemon's name for it. Use it for usage records, not for answers.
func (a *Access) HasSession(name string) bool { return a.sessions.Has(name) == nil }

// SessionOf returns the daemon's name for the session of an open tab. It returns "" if the principal cannot see such a tab.
func (a *Access) SessionOf(who identity.Principal, tab string) string {
	if t, err := a.pool.Tab(tab); err == nil && who.Owns(t.Session()) {
		return t.Session()
	}
	return ""
}

// CloseAll closes all tabs and waits for the closing sessions, until ctx ends at most.
func (a *Access) CloseAll(ctx context.Context) error {
	err := a.pool.Close(ctx)
	a.sessions.Wait()
	return err
}
