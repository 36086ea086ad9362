package registry_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/registry"
)

var key = []byte("a key of the cluster")

func openStates(t *testing.T, conn *nats.Conn, key []byte) *registry.States {
	t.Helper()
	s, err := registry.OpenStates(bounded(t), conn, 1, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheNextOwnerTakesTheLastState(t *testing.T) {
	conn := connect(t, embedded.Client{Server: startServer(t, embedded.Config{StoreDir: t.TempDir()})})
	s, ctx := openStates(t, conn, key), bounded(t)
	if err := s.Save(ctx, "work", 7, []byte("first")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // an owner may retry
		if state, err := s.Take(ctx, "work", 9); string(state) != "first" || err != nil {
			t.Errorf("got %q, %v", state, err)
		}
	}
	if err := s.Save(ctx, "work", 7, []byte("late")); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("the owner before saves: %v", err)
	}
	if _, err := s.Take(ctx, "work", 8); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("an owner before takes: %v", err)
	}
	if state, err := s.Load(ctx, "work"); string(state) != "first" || err != nil {
		t.Errorf("then there is %q, %v", state, err)
	}
	// After Take found no state, an earlier owner cannot save one.
	if state, err := s.Take(ctx, "none", 9); len(state) != 0 || err != nil {
		t.Errorf("of a session without a state: %q, %v", state, err)
	}
	if err := s.Save(ctx, "none", 7, []byte("late")); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("the owner before saves: %v", err)
	}
	if err := s.Delete(ctx, "work", 9); err != nil {
		t.Fatal(err)
	}
	if state, err := s.Take(ctx, "work", 12); len(state) != 0 || err != nil {
		t.Errorf("after the end of the session: %q, %v", state, err)
	}
}

func TestStatesAreKeptUnderTheHighestToken(t *testing.T) {
	conn := connect(t, embedded.Client{Server: startServer(t, embedded.Config{StoreDir: t.TempDir()})})
	a, b, ctx := openStates(t, conn, key), openStates(t, conn, key), bounded(t)
	if state, err := a.Load(ctx, "ada.work"); state != nil || err != nil {
		t.Errorf("before it is saved: %q, %v", state, err)
	}
	for i, text := range []string{"first", "second", ""} {
		if err := a.Save(ctx, "ada.work", uint64(7+i), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if state, err := b.Load(ctx, "ada.work"); string(state) != text || err != nil {
			t.Errorf("got %q, %v; want %q", state, err, text)
		}
	}
	if err := a.Save(ctx, "ada.work", 9, []byte("again")); err != nil {
		t.Errorf("under the same token: %v", err)
	}
	if err := b.Save(ctx, "ada.work", 8, []byte("stale")); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("under a lower token: %v", err)
	}
	if err := b.Delete(ctx, "ada.work", 8); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("deleted under a lower token: %v", err)
	}
	if state, err := b.Load(ctx, "ada.work"); string(state) != "again" || err != nil {
		t.Errorf("got %q, %v", state, err)
	}
	for range 2 {
		if err := a.Delete(ctx, "ada.work", 9); err != nil {
			t.Fatal(err)
		}
		if state, err := b.Load(ctx, "ada.work"); state != nil || err != nil {
			t.Errorf("after its end: %q, %v", state, err)
		}
	}
	if err := a.Save(ctx, "ada.work", 10, []byte("new")); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

func TestStatesAreEncrypted(t *testing.T) {
	conn := connect(t, embedded.Client{Server: startServer(t, embedded.Config{StoreDir: t.TempDir()})})
	s, ctx := openStates(t, conn, key), bounded(t)
	if err := s.Save(ctx, "s", 1, []byte("password")); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "KV_domtap_state")
	if err != nil {
		t.Fatal(err)
	}
	message, err := stream.GetLastMsgForSubject(ctx, "$KV.domtap_state.s")
	if err != nil || bytes.Contains(message.Data, []byte("password")) {
		t.Errorf("it is stored as %q, %v", message.Data, err)
	}
	if state, err := openStates(t, conn, []byte("another key of a cluster")).Load(ctx, "s"); err == nil {
		t.Errorf("another key opens it: %q", state)
	}
	// A client with write access to NATS cannot pass the state of one session to another.
	copied := nats.NewMsg("$KV.domtap_state.t")
	copied.Data, copied.Header = message.Data, message.Header
	if _, err := js.PublishMsg(ctx, copied); err != nil {
		t.Fatal(err)
	}
	if state, err := s.Load(ctx, "t"); err == nil {
		t.Errorf("it is another session's, too: %q", state)
	}
	if _, err := registry.OpenStates(ctx, conn, 1, []byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}

func TestStatesHaveALimit(t *testing.T) {
	conn := connect(t, embedded.Client{Server: startServer(t, embedded.Config{StoreDir: t.TempDir()})})
	s, ctx := openStates(t, conn, key), bounded(t)
	random := make([]byte, 8<<20)
	_, _ = rand.Read(random)
	if err := s.Save(ctx, "s", 1, random); !errors.Is(err, registry.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	for name, state := range map[string][]byte{"random": random[:6<<20], "text": bytes.Repeat([]byte("cookie "), 4<<20)} {
		if err := s.Save(ctx, name, 1, state); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Load(ctx, name); err != nil || !bytes.Equal(got, state) {
			t.Errorf("%s: got %d bytes of %d, %v", name, len(got), len(state), err)
		}
	}
}

func TestOpenStatesEndsWithItsContext(t *testing.T) {
	conn := connect(t, embedded.Client{Server: startServer(t, embedded.Config{StoreDir: t.TempDir()})})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := registry.OpenStates(ctx, conn, 3, key); err == nil { // one server cannot keep three copies
		t.Error("it is open")
	}
}
