package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// bounded returns a test's context with a timeout, so that a hanging call fails with an error.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startServer(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	cfg.Name, cfg.Secret = "one", "secret"
	s, err := embedded.Start(bounded(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func connect(t *testing.T, c embedded.Client) *nats.Conn {
	t.Helper()
	conn, err := embedded.Connect(bounded(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

func open(t *testing.T, conn *nats.Conn, cfg registry.Config) *registry.Registry {
	t.Helper()
	r, err := registry.Open(t.Context(), conn, cfg) // no deadline is needed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// two opens two registries on one server.
func two(t *testing.T) (a, b *registry.Registry) {
	t.Helper()
	s := startServer(t, embedded.Config{StoreDir: t.TempDir()})
	return open(t, connect(t, embedded.Client{Server: s}), registry.Config{}), open(t, connect(t, embedded.Client{Server: s}), registry.Config{})
}

// await waits until ok returns true. It checks after each change of the view.
func await[V any](t *testing.T, v *registry.View[V], ok func() bool) {
	t.Helper()
	ctx := bounded(t)
	for {
		changed := v.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the view has %v", v.All())
		}
	}
}

func TestAWriteReplacesTheRevisionThatItNames(t *testing.T) {
	a, b := two(t)
	ctx := bounded(t)
	first, err := a.Sessions.Create(ctx, "ada.work", registry.Session{Node: "n1", Phase: registry.Ready})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sessions.Create(ctx, "ada.work", registry.Session{Node: "n2"}); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("created twice: %v", err)
	}
	second, err := b.Sessions.Update(ctx, "ada.work", registry.Session{Node: "n2", Fence: first}, first)
	if err != nil || second <= first {
		t.Fatalf("revision %d after %d, %v", second, first, err)
	}
	if _, err := a.Sessions.Update(ctx, "ada.work", registry.Session{Node: "n3"}, first); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("an old revision was replaced: %v", err)
	}
	if err := a.Sessions.Delete(ctx, "ada.work", first); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("an old revision was deleted: %v", err)
	}
	e, err := a.Sessions.Get(ctx, "ada.work")
	if err != nil || e.Value.Node != "n2" || e.Revision != second || registry.Token(e) != first {
		t.Errorf("got %+v, token %d, %v", e, registry.Token(e), err)
	}
	if err := a.Sessions.Delete(ctx, "ada.work", second); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sessions.Get(ctx, "ada.work"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("a deleted key: %v", err)
	}
	third, err := b.Sessions.Create(ctx, "ada.work", registry.Session{Node: "n4"})
	if err != nil || third <= second {
		t.Errorf("created again: revision %d after %d, %v", third, second, err)
	}
	if _, err := a.Sessions.Update(ctx, "ada.work", registry.Session{}, second); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("a revision from before the deletion was replaced: %v", err)
	}
}

func TestKeysMayBeAnyText(t *testing.T) {
	a, b := two(t)
	ctx := bounded(t)
	keys := []string{"default", "ada.work", "a b", "*", ">", "=2E", "ü/..\x00", "."}
	for _, key := range keys {
		if _, err := a.Tabs.Create(ctx, key, registry.Tab{Title: key}); err != nil {
			t.Errorf("%q: %v", key, err)
		}
		if e, err := b.Tabs.Get(ctx, key); err != nil || e.Value.Title != key {
			t.Errorf("%q: got %+v, %v", key, e, err)
		}
	}
	await(t, b.Tabs.View(), func() bool { return len(b.Tabs.View().All()) == len(keys) })
	for _, key := range keys {
		if e, ok := b.Tabs.View().Get(key); !ok || e.Key != key || e.Value.Title != key {
			t.Errorf("%q: the view has %+v, %v", key, e, ok)
		}
	}
}

func TestAViewHasItsOwnWritesAtOnceAndThoseOfOthersSoon(t *testing.T) {
	a, b := two(t)
	ctx := bounded(t)
	revision, err := a.Sessions.Create(ctx, "s", registry.Session{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := a.Sessions.View().Get("s"); !ok || e.Revision != revision {
		t.Errorf("the writer's view has %+v, %v", e, ok)
	}
	await(t, b.Sessions.View(), func() bool { _, ok := b.Sessions.View().Get("s"); return ok })
	if err := b.Sessions.Delete(ctx, "s", revision); err != nil {
		t.Fatal(err)
	}
	if e, ok := b.Sessions.View().Get("s"); ok {
		t.Errorf("after its own deletion, the view has %+v", e)
	}
	await(t, a.Sessions.View(), func() bool { _, ok := a.Sessions.View().Get("s"); return !ok })
}

func TestAViewBeginsWithWhatThereIs(t *testing.T) {
	s := startServer(t, embedded.Config{StoreDir: t.TempDir()})
	conn := connect(t, embedded.Client{Server: s})
	a := open(t, conn, registry.Config{})
	for i := range 20 {
		revision, err := a.Sessions.Create(t.Context(), fmt.Sprint(i), registry.Session{Node: "n1"})
		if err == nil && i%2 == 1 {
			err = a.Sessions.Delete(t.Context(), fmt.Sprint(i), revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, conn, registry.Config{})
	if n := len(b.Sessions.View().All()); n != 10 {
		t.Errorf("a new view has %d values", n)
	}
	if age := b.Sessions.View().Age(); age > time.Minute {
		t.Errorf("its age is %v", age)
	}
}

// The callback receives each change of the view in order, including the node's own changes.
func TestChangesAreReportedInOrder(t *testing.T) {
	s := startServer(t, embedded.Config{StoreDir: t.TempDir()})
	var mu sync.Mutex
	got := map[string]string{}
	conn := connect(t, embedded.Client{Server: s})
	a := open(t, conn, registry.Config{Sessions: func(c registry.Change[registry.Session]) {
		mu.Lock()
		defer mu.Unlock()
		if (c.Old == nil) != (got[c.Key] == "") || c.Old != nil && c.Old.Value.Node != got[c.Key] {
			t.Errorf("the old value of %s is %+v, after %q", c.Key, c.Old, got[c.Key])
		}
		if delete(got, c.Key); c.New != nil {
			got[c.Key] = c.New.Value.Node
		}
	}})
	b := open(t, conn, registry.Config{})
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() { churn(t, []*registry.Registry{a, b}[i%2], fmt.Sprint("s", i/2)) })
	}
	writers.Wait()
	last, err := b.Sessions.Create(t.Context(), "last", registry.Session{Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, a.Sessions.View(), func() bool { e, ok := a.Sessions.View().Get("last"); return ok && e.Revision == last })
	mu.Lock()
	defer mu.Unlock()
	if all := a.Sessions.View().All(); len(all) != len(got) {
		t.Errorf("the view has %v, and the changes made %v", all, got)
	}
	for _, e := range a.Sessions.View().All() {
		if leader, err := b.Sessions.Get(t.Context(), e.Key); err != nil || leader.Revision != e.Revision || got[e.Key] != e.Value.Node {
			t.Errorf("%s: the view has revision %d, the leader %d, %v; the changes made %q", e.Key, e.Revision, leader.Revision, err, got[e.Key])
		}
	}
}

// churn creates, updates and deletes a key, concurrently with other goroutines.
func churn(t *testing.T, r *registry.Registry, key string) {
	for i := range 40 {
		e, err := r.Sessions.Get(t.Context(), key)
		switch {
		case errors.Is(err, registry.ErrNotFound):
			_, err = r.Sessions.Create(t.Context(), key, registry.Session{Node: fmt.Sprint(i)})
		case err == nil && i%3 == 0:
			err = r.Sessions.Delete(t.Context(), key, e.Revision)
		case err == nil:
			_, err = r.Sessions.Update(t.Context(), key, registry.Session{Node: fmt.Sprint(i)}, e.Revision)
		}
		if err != nil && !errors.Is(err, registry.ErrConflict) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestOfContendingWritersOneWins(t *testing.T) {
	a, b := two(t)
	for i := range 50 {
		key := fmt.Sprint("s", i)
		var won [4]bool
		var writers sync.WaitGroup
		for w := range won {
			writers.Go(func() {
				_, err := []*registry.Registry{a, b}[w%2].Sessions.Create(t.Context(), key, registry.Session{Node: fmt.Sprint(w)})
				if won[w] = err == nil; err != nil && !errors.Is(err, registry.ErrConflict) {
					t.Errorf("%s: %v", key, err)
				}
			})
		}
		writers.Wait()
		n := 0
		for _, w := range won {
			if w {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d of %d writers created %s", n, len(won), key)
		}
	}
}

// While the server is unavailable, writes fail immediately and are known not to be stored. Later the view catches up with missed changes.
func TestAServerThatIsAwayForAWhile(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, embedded.Config{StoreDir: dir})
	address := s.Address()
	a := open(t, connect(t, embedded.Client{Server: s}), registry.Config{})
	conn := connect(t, embedded.Client{URLs: []string{"nats://" + address}, Secret: "secret"})
	b := open(t, conn, registry.Config{})
	revision, err := a.Sessions.Create(t.Context(), "s", registry.Session{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	away, back := conn.StatusChanged(nats.RECONNECTING), conn.StatusChanged(nats.CONNECTED)
	s.Close()
	<-away
	if _, err := b.Sessions.Update(t.Context(), "s", registry.Session{}, revision); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a write without a server: %v", err)
	}
	if _, err := b.Sessions.Get(t.Context(), "s"); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a read without a server: %v", err)
	}
	again := startServer(t, embedded.Config{StoreDir: dir, Listen: address})
	c := open(t, connect(t, embedded.Client{Server: again}), registry.Config{})
	if _, err := c.Sessions.Update(t.Context(), "s", registry.Session{Node: "n2"}, revision); err != nil {
		t.Errorf("the revision did not survive: %v", err)
	}
	<-back
	await(t, b.Sessions.View(), func() bool { e, _ := b.Sessions.View().Get("s"); return e.Value.Node == "n2" })
}

// A view skips values that another program stored.
func TestAViewIgnoresWhatItCannotRead(t *testing.T) {
	s := startServer(t, embedded.Config{StoreDir: t.TempDir()})
	conn := connect(t, embedded.Client{Server: s})
	a := open(t, conn, registry.Config{})
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "domtap_sessions") // the tools of NATS can read the buckets
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"text", "two.tokens"} {
		if _, err := kv.Put(t.Context(), key, []byte("no JSON")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Sessions.Create(t.Context(), "s", registry.Session{Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	if entry, err := kv.Get(t.Context(), "s"); err != nil || len(entry.Value()) == 0 {
		t.Errorf("NATS' own client: %v, %v", entry, err)
	}
	b := open(t, conn, registry.Config{})
	for _, r := range []*registry.Registry{a, b} {
		if all := r.Sessions.View().All(); len(all) != 1 || all[0].Key != "s" {
			t.Errorf("a view has %v", all)
		}
	}
	if _, err := a.Sessions.Get(t.Context(), "text"); err == nil {
		t.Error("it was read")
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	s := startServer(t, embedded.Config{StoreDir: t.TempDir()})
	conn := connect(t, embedded.Client{Server: s})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := registry.Open(ctx, conn, registry.Config{}); err == nil {
		r.Close()
		t.Error("it is open")
	}
	// Three replicas are impossible on one server.
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r, err := registry.Open(ctx, conn, registry.Config{Replicas: 3}); err == nil {
		r.Close()
		t.Error("it is open with three replicas")
	}
}
