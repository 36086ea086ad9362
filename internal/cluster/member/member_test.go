package member_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/member"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/sessions"
)

// TestMain fails the run when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := actortest.Goroutines(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

const shop = "https://shop.example/"

// quick is a timing for tests, about a fifth of the standard timing.
var quick = lease.Timing{TTL: 3 * time.Second, HolderMargin: 400 * time.Millisecond, TakeoverMargin: 400 * time.Millisecond, RenewEvery: 400 * time.Millisecond}

// stage is a cluster in one process: real NATS, real pools and sessions, and fake browsers.
type stage struct {
	*testing.T
	ctx    context.Context
	server *embedded.Server
	nodes  []*node
}

// node is one node of a stage.
type node struct {
	*cluster.Node
	member   *member.Member
	browser  *actortest.Browser
	pool     *tabpool.Pool
	sessions *sessions.Sessions
	states   *registry.States
	registry *registry.Registry
	stage    *stage
	left     bool
}

func newStage(t *testing.T, nodes int) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	server, err := embedded.Start(ctx, embedded.Config{Name: "server", Secret: "secret", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	st := &stage{T: t, ctx: ctx, server: server}
	for i := range nodes {
		st.nodes = append(st.nodes, st.join(fmt.Sprintf("n%d", i+1)))
	}
	for _, n := range st.nodes {
		for len(n.Nodes()) < nodes {
			st.wait(n.Changed())
		}
	}
	return st
}

// wait waits for a channel to be closed.
func (st *stage) wait(c <-chan struct{}) {
	st.Helper()
	select {
	case <-c:
	case <-st.ctx.Done():
		st.Fatal("it takes too long")
	}
}

// until checks a condition every 10 ms until it is met.
func (st *stage) until(what string, met func() bool) {
	st.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !met() {
		select {
		case <-again.C:
		case <-st.ctx.Done():
			st.Fatalf("it takes too long until %s", what)
		}
	}
}

// quota allows the client ann two sessions and two tabs.
func quota(session string) (client string, most int) {
	if strings.HasPrefix(session, "ann.") {
		return "ann", 2
	}
	return "", 0
}

func (st *stage) join(id string) *node {
	st.Helper()
	conn, err := embedded.Connect(st.ctx, embedded.Client{Name: id, Server: st.server})
	if err != nil {
		st.Fatal(err)
	}
	st.Cleanup(conn.Close)
	states, err := registry.OpenStates(st.ctx, conn, 1, []byte("a key of the cluster"))
	if err != nil {
		st.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(st.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	n := &node{stage: st, states: states, browser: actortest.NewBrowser()}
	n.browser.Serve(shop, func() actortest.Screen {
		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Buy")}}
	})
	n.member = member.New(st.ctx, member.Config{States: states, MaxSessions: 10, Logger: log, Client: func(session string) string {
		client, _ := quota(session)
		return client
	}})
	n.pool = tabpool.New(n.browser, tabpool.Config{
		RestoreStore: n.member, KeepAll: true, MayAct: n.member.MayAct, Opaque: func(string) bool { return true }, Quota: quota, Elsewhere: n.member.TabsElsewhere,
	})
	n.sessions = sessions.New(n.pool, n.browser, sessions.Config{
		Max: 10, Registrar: n.member, Logger: log, Quota: quota, Elsewhere: n.member.SessionsElsewhere,
	})
	n.member.Use(n.pool, n.sessions)
	n.Node, err = cluster.Join(st.ctx, cluster.Config{
		ID: id, Address: "address-of-" + id, Host: n.member, States: states, Timing: quick, Logger: log,
		Open: func(ctx context.Context, cfg registry.Config) (_ *registry.Registry, err error) {
			n.registry, err = registry.Open(ctx, conn, cfg)
			return n.registry, err
		},
	})
	if err != nil {
		st.Fatal(err)
	}
	n.member.Start(n.Node)
	st.Cleanup(n.leave)
	return n
}

// leave ends a node like a daemon that stops without moving its sessions.
func (n *node) leave() {
	if n.left {
		return
	}
	n.left = true
	n.member.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.stage.ctx), 10*time.Second)
	defer cancel()
	n.Close(ctx)
	if err := n.pool.Close(ctx); err != nil {
		n.stage.Error(err)
	}
	n.sessions.Wait()
}

// create creates a session with a cookie and a tab.
func (n *node) create(session string, restore bool) *actor.Tab {
	n.stage.Helper()
	cookie := sessions.Cookie{Name: "who", Value: "me", Domain: "shop.example", Path: "/"}
	settings := sessions.Settings{Emulation: sessions.Emulation{Locale: "de-DE"}, Credentials: &sessions.Credentials{Username: "me", Password: "pass"}}
	if _, err := n.sessions.Create(n.stage.ctx, session, settings, sessions.State{Cookies: []sessions.Cookie{cookie}}); err != nil {
		n.stage.Fatal(err)
	}
	return n.open(session, restore)
}

// open opens a tab as a call does.
func (n *node) open(session string, restore bool) *actor.Tab {
	n.stage.Helper()
	done, err := n.member.Begin("", session, false)
	if err != nil {
		n.stage.Fatal(err)
	}
	defer done(n.stage.ctx)
	tab, err := n.sessions.Open(n.stage.ctx, tabpool.OpenOptions{Session: session, URL: shop, Restore: restore})
	if err != nil {
		n.stage.Fatal(err)
	}
	return tab
}

// copy returns the settings and state of a session on the node.
func (n *node) copy(ctx context.Context, session string) (sessions.Settings, sessions.State, error) {
	return sessions.Handover{Sessions: n.sessions}.Copy(ctx, session, 1<<20)
}

// owner returns the node that has a tab, as another node knows it.
func (st *stage) owner(from *node, tab string) string {
	st.Helper()
	p, err := from.TabOwner(st.ctx, tab, true)
	if err != nil {
		st.Fatal(err)
	}
	return p.Node
}

// arrived checks that a session has arrived with a tab, its settings and its cookies.
func (st *stage) arrived(at *node, session string, was *actor.Tab) {
	st.Helper()
	tab, err := at.pool.Tab(was.ID())
	if err != nil {
		st.Fatal(err)
	}
	if info := tab.Info(); info.URL != shop || info.Session != session || info.Status != actor.StatusReady || info.Restore != was.Restore() {
		st.Errorf("the tab is %+v", info)
	}
	reading, err := tab.Read(st.ctx, actor.ReadOptions{})
	if err != nil {
		st.Fatal(err)
	}
	last := was.Head().Snapshot.Elements.Slice()
	if now := reading.Head.Snapshot.Elements.Slice(); len(now) != 1 || len(last) > 0 && now[0].Ref <= last[len(last)-1].Ref {
		st.Errorf("the elements are %+v, and were %+v", now, last)
	}
	settings, stored, err := at.copy(st.ctx, session)
	if err != nil {
		st.Fatal(err)
	}
	if settings.Emulation.Locale != "de-DE" || settings.Credentials == nil || settings.Credentials.Password != "pass" {
		st.Errorf("the settings are %+v", settings)
	}
	if len(stored.Cookies) != 1 || stored.Cookies[0].Value != "me" {
		st.Errorf("the cookies are %+v", stored.Cookies)
	}
}

func isKind(t *testing.T, err error, kind apierr.ErrorKind) {
	t.Helper()
	if !apierr.Is(err, kind) {
		t.Errorf("error is %v, want an *Error of kind %d", err, kind)
	}
}

func TestASessionThatMovesHasWhatItHad(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	tab := a.create("work", false)
	if _, err := tab.Read(st.ctx, actor.ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	if at := st.owner(b, tab.ID()); at != "n1" {
		t.Errorf("the tab is at %s", at)
	}
	if err := a.Operations().Move(st.ctx, "work", "n2"); err != nil {
		t.Fatal(err)
	}
	if at := st.owner(a, tab.ID()); at != "n2" {
		t.Errorf("the tab is at %s", at)
	}
	st.arrived(b, "work", tab)
	isKind(t, tab.Err(), apierr.Restoring)
	if err := a.sessions.Has("work"); err == nil {
		t.Error("the session is at both nodes")
	}
	// Move it back.
	var err error
	st.until("the node knows that it has the session", func() bool {
		err = b.Operations().Move(st.ctx, "work", "n1")
		return !errors.Is(err, cluster.ErrElsewhere)
	})
	if err != nil {
		t.Fatal(err)
	}
	if at := st.owner(b, tab.ID()); at != "n1" {
		t.Errorf("the tab is at %s", at)
	}
	st.arrived(a, "work", tab)
}

func TestASessionWithATabToRestoreIsTakenOver(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	tab := a.create("work", true)
	other := a.open("work", false)
	a.create("lost", false)
	st.until("the session is saved", func() bool { text, err := a.states.Load(st.ctx, "work"); return err == nil && text != nil })
	a.leave()
	st.until("the other node has the tab", func() bool { return st.owner(b, tab.ID()) == "n2" })
	st.arrived(b, "work", tab)
	if _, err := b.pool.Tab(other.ID()); err == nil {
		t.Error("a tab without restore came back")
	}
	if _, err := b.SessionOwner(st.ctx, "lost", true); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("a session without a tab to restore: %v", err)
	}
}

// TestALoginIsSavedSoon logs in after the first save, which happens while the tab opens.
func TestALoginIsSavedSoon(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	if _, err := a.sessions.Create(st.ctx, "work", sessions.Settings{}, sessions.State{}); err != nil {
		t.Fatal(err)
	}
	tab := a.open("work", true)
	saved := func(text string) func() bool {
		return func() bool {
			state, err := a.states.Load(st.ctx, "work")
			return err == nil && strings.Contains(string(state), text)
		}
	}
	st.until("the session is saved", saved(tab.ID()))
	done, err := a.member.Begin(tab.ID(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	cookie := sessions.Cookie{Name: "who", Value: "me-again", Domain: "shop.example", Path: "/"}
	if err := a.sessions.SetState(st.ctx, "work", sessions.State{Cookies: []sessions.Cookie{cookie}}, false); err != nil {
		t.Fatal(err)
	}
	done(st.ctx)
	at := time.Now()
	st.until("the login is saved", saved("me-again"))
	if took := time.Since(at); took >= member.SaveEvery {
		t.Errorf("that took %v", took)
	}
	a.leave()
	st.until("the other node has the tab", func() bool { return st.owner(b, tab.ID()) == "n2" })
	if _, stored, err := b.copy(st.ctx, "work"); err != nil || len(stored.Cookies) != 1 {
		t.Errorf("the cookies are %+v, %v", stored.Cookies, err)
	}
}

func TestCallsEndBeforeASessionMoves(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	tab := a.create("work", false)
	done, err := a.member.Begin(tab.ID(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	moved := make(chan error, 1)
	go func() { moved <- a.Operations().Move(st.ctx, "work", "n2") }()
	var late error
	st.until("new calls are refused", func() bool {
		var end func(context.Context)
		if end, late = a.member.Begin(tab.ID(), "", false); late == nil {
			end(st.ctx)
		}
		return late != nil
	})
	isKind(t, late, apierr.NotFound)
	if _, err := tab.Read(st.ctx, actor.ReadOptions{}); err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	done(st.ctx)
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	if at := st.owner(a, tab.ID()); at != "n2" {
		t.Errorf("the tab is at %s", at)
	}
	st.arrived(b, "work", tab)
}

func TestAMoveGivesUpWhenCallsDoNotEnd(t *testing.T) {
	st := newStage(t, 2)
	a := st.nodes[0]
	tab := a.create("work", false)
	done, err := a.member.Begin(tab.ID(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(st.ctx, 100*time.Millisecond)
	defer cancel()
	if err := a.Operations().Move(short, "work", "n2"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the move ended with %v", err)
	}
	done(st.ctx)
	if again, err := a.member.Begin(tab.ID(), "", false); err != nil {
		t.Errorf("the session is not as before: %v", err)
	} else {
		again(st.ctx)
	}
	if _, err := tab.Read(st.ctx, actor.ReadOptions{}); err != nil {
		t.Errorf("the tab is not as before: %v", err)
	}
}

// A session whose state is too large to be saved stays on its node, with its pages.
func TestASessionThatCannotBeSavedStaysAsItIs(t *testing.T) {
	st := newStage(t, 2)
	a := st.nodes[0]
	tab := a.create("work", true)
	random := make([]byte, 8<<20) // not compressible
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	large := []sessions.Origin{{Origin: "https://shop.example", Entries: []sessions.Entry{{Name: "all", Value: base64.StdEncoding.EncodeToString(random)}}}}
	if err := a.sessions.SetState(st.ctx, "work", sessions.State{Origins: large}, false); err != nil {
		t.Fatal(err)
	}
	if err := a.Operations().Move(st.ctx, "work", "n2"); !errors.Is(err, registry.ErrTooLarge) {
		t.Errorf("the move ended with %v", err)
	}
	if info := tab.Info(); info.Status != actor.StatusReady || tab.Err() != nil {
		t.Errorf("the tab is %+v, %v", info, tab.Err())
	}
	done, err := a.member.Begin(tab.ID(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	done(st.ctx)
}

func TestTheDefaultSessionIsMadeOnFirstUse(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	if err := a.sessions.Has(sessions.Default); err == nil {
		t.Error("the default session is there before its first use")
	}
	tab := a.create(sessions.Default, false)
	_, err := b.sessions.Create(st.ctx, sessions.Default, sessions.Settings{}, sessions.State{})
	isKind(t, err, apierr.Exists)
	if err := a.Operations().Move(st.ctx, sessions.Default, "n2"); err != nil {
		t.Fatal(err)
	}
	if at := st.owner(a, tab.ID()); at != "n2" {
		t.Errorf("the tab is at %s", at)
	}
	st.arrived(b, sessions.Default, tab)
	if state, err := a.browser.DefaultContext().State(st.ctx, sessions.StateOptions{}); err != nil || len(state.Cookies) > 0 {
		t.Errorf("the node that had the session keeps %+v, %v", state, err)
	}
}

func TestTabsAreRegisteredWhileTheyAreOpen(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	tab := a.create("work", false)
	st.owner(b, tab.ID())
	if err := a.pool.CloseTab(st.ctx, tab.ID()); err != nil {
		t.Fatal(err)
	}
	gone := func(id string) func() bool {
		return func() bool { _, err := b.TabOwner(st.ctx, id, true); return errors.Is(err, cluster.ErrNone) }
	}
	st.until("the closed tab is not registered", gone(tab.ID()))
	second := a.open("work", false)
	if err := a.sessions.Close(st.ctx, "work", false); err != nil {
		t.Fatal(err)
	}
	if !gone(second.ID())() {
		t.Error("the tab of a closed session is registered")
	}
	if _, err := b.sessions.Create(st.ctx, "work", sessions.Settings{}, sessions.State{}); err != nil {
		t.Errorf("the name of a closed session is not free: %v", err)
	}
}

// A call that navigates a tab ends only when other nodes would restore the new page, because the node may die right after the answer.
func TestACallEndsWhenItsPageIsRegistered(t *testing.T) {
	st := newStage(t, 1)
	a := st.nodes[0]
	tab := a.create("work", true)
	for i := range 10 {
		url := fmt.Sprint(shop, "page", i)
		a.browser.Serve(url, func() actortest.Screen { return actortest.Screen{Title: "Page"} })
		done, err := a.member.Begin(tab.ID(), "", false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tab.Navigate(st.ctx, url, actor.WaitLoad)
		done(st.ctx)
		if e, failed := a.registry.Tabs.Get(st.ctx, tab.ID()); err != nil || failed != nil || e.Value.URL != url {
			t.Errorf("at %s, %s is registered: %v, %v", url, e.Value.URL, err, failed)
		}
	}
}

// Sessions and tabs on other nodes count against a client's quotas.
func TestQuotasAreThoseOfTheCluster(t *testing.T) {
	st := newStage(t, 2)
	a, b := st.nodes[0], st.nodes[1]
	a.create("ann.one", false)
	b.create("ann.two", false)
	for _, n := range st.nodes {
		st.until("the node knows what the other has", func() bool { return n.member.SessionsElsewhere("ann") == 1 && n.member.TabsElsewhere("ann") == 1 })
		_, err := n.sessions.Create(st.ctx, "ann.three", sessions.Settings{}, sessions.State{})
		isKind(t, err, apierr.Exhausted)
		_, err = n.sessions.Open(st.ctx, tabpool.OpenOptions{Session: map[*node]string{a: "ann.one", b: "ann.two"}[n], URL: shop})
		isKind(t, err, apierr.Exhausted)
		n.create("other", false)
		if err := n.sessions.Close(st.ctx, "other", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.sessions.Close(st.ctx, "ann.one", false); err != nil {
		t.Fatal(err)
	}
	st.until("the other node knows that there is room", func() bool { return b.member.SessionsElsewhere("ann") == 0 && b.member.TabsElsewhere("ann") == 0 })
	b.create("ann.three", false)
}

func TestNothingActsWithoutALease(t *testing.T) {
	st := newStage(t, 1)
	a := st.nodes[0]
	tab := a.create("work", true)
	st.until("the session is to be restored", func() bool { text, err := a.states.Load(st.ctx, "work"); return err == nil && text != nil })
	st.server.Close()
	st.until("the node is cut off", func() bool { return errors.Is(a.Err(), cluster.ErrFenced) })
	<-tab.Done()
	isKind(t, tab.Err(), apierr.Restoring)
	isKind(t, a.member.MayAct("work"), apierr.Fenced) // also for calls that started before
	st.until("the session has ended", func() bool { return a.sessions.Has("work") != nil })
}
