package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster"
	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/lease"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// quick is a timing for tests, about a fifth of the standard timing.
var quick = lease.Timing{TTL: 3 * time.Second, HolderMargin: 400 * time.Millisecond, TakeoverMargin: 400 * time.Millisecond, RenewEvery: 400 * time.Millisecond}

// capacity is the session limit of each test node.
const capacity = 100

// world is a cluster in one process: real NATS, real nodes, and hosts without browsers.
type world struct {
	*testing.T
	ctx    context.Context
	server *embedded.Server
	timing lease.Timing
	// keepLost is Config.KeepLost of nodes that join. Zero selects the default.
	keepLost time.Duration

	mu     sync.Mutex
	nodes  []*node
	states map[string][]byte
	// unsaveable is the error of Save, or nil if states can be saved.
	unsaveable error
	// tokens maps sessions to the highest tokens under which they were used.
	tokens map[string]uint64
}

func newWorld(t *testing.T, timing lease.Timing) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	server, err := embedded.Start(ctx, embedded.Config{Name: "server", Secret: "secret", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &world{T: t, ctx: ctx, server: server, timing: timing, states: map[string][]byte{}, tokens: map[string]uint64{}}
}

// node is one node with its host.
type node struct {
	*cluster.Node
	*host
	gone bool
}

// join adds a node that connects to address, or within the process if address is empty.
func (w *world) join(id, address string) *node {
	w.Helper()
	c := embedded.Client{Name: id, Server: w.server}
	if address != "" {
		c = embedded.Client{Name: id, URLs: []string{"nats://" + address}, Secret: "secret"}
	}
	conn, err := embedded.Connect(w.ctx, c)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(conn.Close)
	return w.joinBy(id, func(ctx context.Context, cfg registry.Config) (*registry.Registry, error) {
		return registry.Open(ctx, conn, cfg)
	})
}

// joinBy adds a node that opens the registry with open.
func (w *world) joinBy(id string, open func(context.Context, registry.Config) (*registry.Registry, error)) *node {
	w.Helper()
	level := slog.LevelError
	if os.Getenv("DOMTAP_CLUSTER_LOG") != "" {
		level = slog.LevelDebug
	}
	h := &host{world: w, id: id, sessions: map[string]*session{}, events: make(chan struct{})}
	n, err := cluster.Join(w.ctx, cluster.Config{
		ID: id, Address: "address-of-" + id, Role: registry.RoleServer, KeepLost: w.keepLost, Host: h, States: states{w}, Timing: w.timing,
		Open:   open,
		Logger: slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		w.Fatal(err)
	}
	h.node = n
	one := &node{Node: n, host: h}
	w.Cleanup(func() {
		if !one.gone {
			n.Close(w.ctx)
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = append(w.nodes, one)
	return one
}

// members adds n nodes and waits until all nodes know each other.
func (w *world) members(n int) []*node {
	w.Helper()
	list := make([]*node, n)
	var joining sync.WaitGroup
	for i := range list {
		joining.Go(func() { list[i] = w.join(fmt.Sprintf("n%02d", i+1), "") })
	}
	joining.Wait()
	for _, one := range list {
		w.await("all nodes to know of each other", one.Changed, func() bool { return len(one.Nodes()) == n })
	}
	return list
}

// await waits until ok returns true. It calls ok after each change.
func (w *world) await(what string, changed func() <-chan struct{}, ok func() bool) {
	w.Helper()
	for {
		c := changed()
		if ok() {
			return
		}
		select {
		case <-c:
		case <-w.ctx.Done():
			w.Fatalf("it takes too long for %s", what)
		}
	}
}

// create creates a session as a client at a gateway does, on the node that the gateway chooses.
func (w *world) create(gateway *node, name string, o cluster.Options) error {
	p, err := gateway.Place(name)
	if err != nil {
		return err
	}
	target := w.find(p.Node)
	return target.Acquire(w.ctx, name, o, func(context.Context) error { return target.add(name, nil) })
}

func (w *world) find(id string) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.nodes {
		if n.id == id && !n.gone {
			return n
		}
	}
	return nil
}

// call acts on a session as a client at a gateway does, and returns the node that has it. If that node no longer has the session, call
// looks it up again.
func (w *world) call(gateway *node, name string) (at string, err error) {
	latest := false
	for range 5 {
		p, err := gateway.SessionOwner(w.ctx, name, latest)
		if err != nil {
			return "", err
		}
		target := w.find(p.Node)
		if target == nil {
			return "", errDown
		}
		if err = target.act(name); !errors.Is(err, errMoved) {
			return p.Node, err
		}
		latest = true
	}
	return "", fmt.Errorf("session %s is never where it is looked for", name)
}

// acted records an action under a token. A token below an earlier one means that the session has a second owner.
func (w *world) acted(name string, token uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if token < w.tokens[name] {
		w.Errorf("session %s was acted on under token %d after %d: it has two owners", name, token, w.tokens[name])
	}
	w.tokens[name] = max(w.tokens[name], token)
}

// kill ends a node without a message to other nodes.
func (w *world) kill(n *node) {
	cluster.Kill(n.Node)
	w.mu.Lock()
	n.gone = true
	w.mu.Unlock()
}

// leave ends a node in good order.
func (w *world) leave(n *node) {
	n.Close(w.ctx)
	w.mu.Lock()
	n.gone = true
	w.mu.Unlock()
}

// unsaved makes all later saves fail with err. With nil, they succeed again.
func (w *world) unsaved(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsaveable = err
}

// states stores the states of all sessions.
type states struct{ w *world }

func (s states) Save(_ context.Context, name string, _ uint64, state []byte) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.unsaveable != nil {
		return s.w.unsaveable
	}
	s.w.states[name] = state
	return nil
}

func (s states) Take(_ context.Context, name string, _ uint64) ([]byte, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.states[name], nil
}

func (s states) Delete(_ context.Context, name string, _ uint64) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	delete(s.w.states, name)
	return nil
}

var (
	errMoved = errors.New("the session is not here: look again")
	errDown  = errors.New("the node does not answer")
	errFull  = errors.New("no room for states")
)

// host is a cluster.Host with sessions but no browsers.
type host struct {
	world *world
	id    string
	node  *cluster.Node

	mu       sync.Mutex
	sessions map[string]*session
	// events is closed and replaced with each change of sessions.
	events chan struct{}
	// fenced counts the calls of Fence for sessions of this host.
	fenced int
	// refuse is the number of calls of Restore that fail.
	refuse int
	// unstoppable is called by Stop and returns its error. If nil, sessions can be stopped.
	unstoppable func() error
	// hang is the number of calls of Restore that block until their context ends.
	hang int
	// entered receives a channel from each call of Restore, which continues when the channel is closed. If nil, Restore does not wait.
	entered chan chan struct{}
}

// session counts the actions on it. The count is its state.
type session struct {
	count    byte
	inside   sync.WaitGroup
	users    int
	stopping bool
}

// changed signals a change of the sessions. The caller holds the lock.
func (h *host) changed() {
	close(h.events)
	h.events = make(chan struct{})
}

func (h *host) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events
}

func (h *host) add(name string, state []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[name] != nil {
		return fmt.Errorf("%s has session %s already", h.id, name)
	}
	h.sessions[name] = &session{}
	if len(state) > 0 {
		h.sessions[name].count = state[0]
	}
	h.changed()
	return nil
}

// act performs one action on a session, as a call does.
func (h *host) act(name string) error {
	h.mu.Lock()
	s := h.sessions[name]
	if s == nil || s.stopping {
		h.mu.Unlock()
		return errMoved
	}
	s.inside.Add(1)
	s.users++
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		s.users--
		h.mu.Unlock()
		s.inside.Done()
	}()
	if err := h.node.Check(name); err != nil {
		return errMoved
	}
	token, err := h.node.Token(name)
	if err != nil {
		return errMoved
	}
	h.world.acted(name, token)
	h.mu.Lock()
	defer h.mu.Unlock()
	s.count++
	return nil
}

func (h *host) Restore(ctx context.Context, s cluster.Session) error {
	h.mu.Lock()
	if h.hang > 0 {
		h.hang--
		h.mu.Unlock()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if h.refuse > 0 {
		h.refuse--
		h.mu.Unlock()
		return errors.New("no browser")
	}
	entered := h.entered
	h.mu.Unlock()
	if entered != nil {
		goOn := make(chan struct{})
		entered <- goOn
		<-goOn
	}
	return h.add(s.Name, s.State)
}

func (h *host) Stop(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.unstoppable != nil {
		return nil, h.unstoppable()
	}
	h.mu.Lock()
	s := h.sessions[name]
	s.stopping = true
	h.mu.Unlock()
	s.inside.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, name)
	h.changed()
	return []byte{s.count}, nil
}

func (h *host) Fence(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[name] != nil {
		delete(h.sessions, name)
		h.fenced++
		h.changed()
	}
}

func (h *host) Idle(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[name]
	return s != nil && s.users == 0
}

func (h *host) Load() registry.Load {
	h.mu.Lock()
	defer h.mu.Unlock()
	return registry.Load{Sessions: len(h.sessions), MaxSessions: capacity}
}

// names returns the sessions of the host.
func (h *host) names() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]bool{}
	for name := range maps.Keys(h.sessions) {
		all[name] = true
	}
	return all
}

func (h *host) count(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[name]; s != nil {
		return int(s.count)
	}
	return -1
}

// making returns a function that creates a session on a host.
func making(n *node, name string) func(context.Context) error {
	return func(context.Context) error { return n.add(name, nil) }
}
