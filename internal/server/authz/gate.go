// Package authz stands between the handlers of package rpc and the tabs and sessions: it is the only way to them, and asks the
// context of every call whose they are.
//
// What it guarantees:
//
//   - The operator sees all tabs and sessions. A named client sees those alone that are its own, under names without its
//     own before them; nobody sees none.
//   - What is somebody else's is answered like what there never was: with the same error, word for word.
//   - Each client has a session named default, which is made when it is first needed.
//
// A handler that the gate gave a tab may keep it for the call, not longer.
package authz

import (
	"context"
	"strconv"
	"sync"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/sessions"
)

// Gate lets calls through to the tabs and sessions of who makes them.
type Gate struct {
	pool     *actor.Pool
	sessions *sessions.Sessions
	// dialogs is the policy of the sessions that are made here.
	dialogs actor.DialogPolicy

	mu    sync.Mutex
	firms map[string]*firm
}

// firm is what the gate keeps of one client.
type firm struct {
	// turn holds the one token of who makes the default session.
	turn chan struct{}
	// made counts the sessions whose names were made here; Gate.mu guards it.
	made int
}

// New makes the gate to a pool and its sessions, which belong to the caller.
func New(pool *actor.Pool, all *sessions.Sessions) *Gate {
	return &Gate{pool: pool, sessions: all, dialogs: pool.DialogPolicy(sessions.Default), firms: map[string]*firm{}}
}

// Tab finds a tab of the caller's, which is in use until ctx, the call's, ends.
func (g *Gate) Tab(ctx context.Context, id string) (*actor.Tab, error) {
	tab, err := g.pool.Tab(id)
	if err != nil {
		return nil, err
	}
	if !identity.From(ctx).Owns(tab.Session()) {
		return nil, actor.NoTab(id)
	}
	return g.pool.Use(ctx, id)
}

// Tabs lists the caller's open tabs, oldest first; with a session only those of that.
func (g *Gate) Tabs(ctx context.Context, session string) ([]*actor.Tab, error) {
	who := identity.From(ctx)
	only, err := g.known(ctx, session)
	if err != nil {
		return nil, err
	}
	var own []*actor.Tab
	for _, tab := range g.pool.Tabs() {
		if who.Owns(tab.Session()) && (session == "" || tab.Session() == only) {
			own = append(own, tab)
		}
	}
	return own, nil
}

// Watch reads the events of the caller's tabs; with a session only those of that. The caller owes a Stop.
func (g *Gate) Watch(ctx context.Context, session string) (*actor.TabWatch, error) {
	if session == "" {
		return g.pool.WatchSome(identity.From(ctx).Owns), nil
	}
	only, err := g.known(ctx, session)
	if err != nil {
		return nil, err
	}
	if err := g.sessions.Use(ctx, only); err != nil {
		return nil, err
	}
	return g.pool.WatchSession(only), nil
}

// Open opens a tab in a session of the caller's.
func (g *Gate) Open(ctx context.Context, o actor.OpenOptions) (*actor.Tab, error) {
	session, err := g.session(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	o.Session = session
	return g.sessions.Open(ctx, o)
}

// CloseTab closes a tab of the caller's.
func (g *Gate) CloseTab(ctx context.Context, id string) error {
	if _, err := g.Tab(ctx, id); err != nil {
		return err
	}
	return g.pool.CloseTab(ctx, id)
}

// Create makes a session of the caller's. An empty id lets the daemon choose one.
func (g *Gate) Create(ctx context.Context, id string, s sessions.Settings, state sessions.State) (sessions.Info, error) {
	who := identity.From(ctx)
	if who.IsOperator() {
		return g.sessions.Create(ctx, id, s, state)
	}
	if who.Name() == "" {
		return sessions.Info{}, nobody()
	}
	if id == "" {
		id = g.choose(who)
	}
	if id == sessions.Default {
		if _, err := g.session(ctx, id); err != nil {
			return sessions.Info{}, err
		}
	}
	return g.sessions.Create(ctx, who.Inward(id), s, state)
}

// choose makes up the name of a session that the client has not.
func (g *Gate) choose(who identity.Principal) string {
	f := g.firm(who)
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		f.made++
		id := "s" + strconv.Itoa(f.made)
		if g.sessions.Has(who.Inward(id)) != nil {
			return id
		}
	}
}

// List lists the caller's sessions, its default one first.
func (g *Gate) List(ctx context.Context) ([]sessions.Info, error) {
	who := identity.From(ctx)
	standard, err := g.session(ctx, sessions.Default)
	if err != nil {
		return nil, err
	}
	var own []sessions.Info
	for _, info := range g.sessions.List() {
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
func (g *Gate) Update(ctx context.Context, id string, s sessions.Settings) (sessions.Info, error) {
	id, err := g.session(ctx, id)
	if err != nil {
		return sessions.Info{}, err
	}
	return g.sessions.Update(ctx, id, s)
}

// Close closes a session, but for the caller's default one.
func (g *Gate) Close(ctx context.Context, id string, keep bool) error {
	if who := identity.From(ctx); id != "" && id != sessions.Default {
		if id = who.Inward(id); id == "" {
			return nobody()
		}
	}
	return g.sessions.Close(ctx, id, keep)
}

// State reads what a session has stored.
func (g *Gate) State(ctx context.Context, id string) (sessions.State, error) {
	id, err := g.session(ctx, id)
	if err != nil {
		return sessions.State{}, err
	}
	return g.sessions.State(ctx, id)
}

// SetState stores something in a session; with replace, all that is there is forgotten first.
func (g *Gate) SetState(ctx context.Context, id string, state sessions.State, replace bool) error {
	id, err := g.session(ctx, id)
	if err != nil {
		return err
	}
	return g.sessions.SetState(ctx, id, state, replace)
}

// Downloads lists the downloads of a session, newest first.
func (g *Gate) Downloads(ctx context.Context, id string) ([]actor.DownloadRecord, error) {
	id, err := g.session(ctx, id)
	if err != nil {
		return nil, err
	}
	return g.pool.Downloads(id), nil
}

// Session returns the daemon's name of a session of the caller's; empty for an empty one.
func (g *Gate) Session(ctx context.Context, id string) (string, error) { return g.known(ctx, id) }

// known is session, but leaves the empty name alone, which stands for all sessions.
func (g *Gate) known(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return g.session(ctx, id)
}

// session returns the daemon's name of a session of the caller's, and makes the default one of a client when it is
// not there. An empty name is the default one's.
func (g *Gate) session(ctx context.Context, id string) (string, error) {
	who := identity.From(ctx)
	if id == "" {
		id = sessions.Default
	}
	name := who.Inward(id)
	if name == "" {
		return "", nobody()
	}
	err := g.sessions.Has(name)
	if err != nil && id == sessions.Default && !who.IsOperator() {
		err = g.found(ctx, who, name)
	}
	return name, err
}

// found makes the default session of a client; one call at a time does.
func (g *Gate) found(ctx context.Context, who identity.Principal, name string) error {
	f := g.firm(who)
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.turn }()
	if g.sessions.Has(name) == nil {
		return nil
	}
	_, err := g.sessions.Create(ctx, name, sessions.Settings{Dialogs: g.dialogs}, sessions.State{})
	return err
}

func (g *Gate) firm(who identity.Principal) *firm {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.firms[who.Name()]
	if f == nil {
		f = &firm{turn: make(chan struct{}, 1)}
		g.firms[who.Name()] = f
	}
	return f
}

// nobody is the error of a call that came here without a principal, which is a fault of the daemon's.
func nobody() error {
	return actor.Errorf(actor.NotFound, "there is no session for a call of nobody: please report it")
}

// HasSession reports whether there is a session, by the daemon's name for it. It is for the daemon's own books, not for answers.
func (g *Gate) HasSession(name string) bool { return g.sessions.Has(name) == nil }

// SessionOf is the daemon's name of the session of an open tab that the principal sees; empty: there is none.
func (g *Gate) SessionOf(who identity.Principal, tab string) string {
	if t, err := g.pool.Tab(tab); err == nil && who.Owns(t.Session()) {
		return t.Session()
	}
	return ""
}

// Shut closes all tabs, and waits for the sessions that are being closed. It is bounded by ctx and the sessions' own bound.
func (g *Gate) Shut(ctx context.Context) error {
	err := g.pool.Close(ctx)
	g.sessions.Wait()
	return err
}
