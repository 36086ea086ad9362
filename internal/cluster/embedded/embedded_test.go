package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/natstest"
)

const secret = "correct-horse"

// bounded returns a test's context with a timeout, so that a hanging call fails with an error.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "one"
	}
	if cfg.StoreDir == "" {
		cfg.StoreDir = t.TempDir()
	}
	cfg.Secret = secret
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

// store creates a stream and stores a message in it. It times out after a second, because servers without a leader do not answer.
func store(ctx context.Context, conn *nats.Conn, replicas int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: replicas})
	}
	if err == nil {
		_, err = js.Publish(ctx, "s", []byte("stored"))
	}
	return err
}

func TestAServerStoresInProcessAndOverTCP(t *testing.T) {
	s := start(t, embedded.Config{})
	for name, c := range map[string]embedded.Client{
		"in process": {Server: s},
		"TCP":        {URLs: []string{"nats://" + s.Address()}, Secret: secret},
	} {
		if err := store(t.Context(), connect(t, c), 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	s := start(t, embedded.Config{})
	conn := connect(t, embedded.Client{Server: s})
	if err := store(t.Context(), conn, 1); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	s.Close()
	s.Close() // does nothing
	ctx := bounded(t)
	for runtime.NumGoroutine() > before && ctx.Err() == nil {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("there were %d goroutines, and there are %d\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
}

func TestStartRefuses(t *testing.T) {
	ok := embedded.Config{Name: "one", Cluster: "c", Secret: secret, StoreDir: t.TempDir()}
	for want, change := range map[string]func(*embedded.Config){
		"letters, digits":         func(c *embedded.Config) { c.Name = "one.two" },
		"secret is missing":       func(c *embedded.Config) { c.Secret = "" },
		"JetStream is missing":    func(c *embedded.Config) { c.StoreDir = "" },
		"the routes are missing":  func(c *embedded.Config) { c.RouteListen = "127.0.0.1:0" },
		"no address to listen on": func(c *embedded.Config) { c.Routes = []string{"127.0.0.1:6222"} },
		"not a host and a port":   func(c *embedded.Config) { c.Listen = "127.0.0.1:port" },
		"is not loopback":         func(c *embedded.Config) { c.Listen = "0.0.0.0:4222" },
		"example.com:6222 is not": func(c *embedded.Config) { c.RouteListen, c.Routes = "example.com:6222", []string{"127.0.0.1:6222"} },
		"read the certificate":    func(c *embedded.Config) { c.TLS = &embedded.TLS{CertFile: "none", KeyFile: "none", CAFile: "none"} },
	} {
		cfg := ok
		change(&cfg)
		if s, err := embedded.Start(bounded(t), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v; want an error with %q", s, err, want)
		}
	}
}

// Start returns fatal errors of the server. With the standard logger of NATS, the server would have ended this process.
func TestWhatIsFatalForTheServerIsAnError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s, err := embedded.Start(bounded(t), embedded.Config{Name: "one", Secret: secret, StoreDir: t.TempDir(), Listen: taken.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := embedded.Start(ctx, embedded.Config{Name: "one", Secret: secret, StoreDir: t.TempDir()}); err == nil {
		s.Close()
		t.Error("it started")
	}
}

func TestTheSecretIsRequiredAndNotLogged(t *testing.T) {
	var log syncBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	routes := natstest.Free(t, 2)
	s := start(t, embedded.Config{Cluster: "c", RouteListen: routes[0], Routes: routes, Logger: logger})
	for _, wrong := range []string{"", "guess"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		conn, err := embedded.Connect(ctx, embedded.Client{URLs: []string{"nats://" + s.Address()}, Secret: wrong})
		cancel()
		if err == nil {
			conn.Close()
			t.Errorf("connected with the secret %q", wrong)
		}
	}
	if text := log.String(); text == "" || strings.Contains(text, secret) {
		t.Errorf("the log has the secret, or nothing:\n%s", text)
	}
}

func TestPublishingFailsAtOnceWhileTheServerIsAwayAndWorksAgainLater(t *testing.T) {
	dir, address := t.TempDir(), natstest.Free(t, 1)[0]
	s := start(t, embedded.Config{StoreDir: dir, Listen: address})
	conn := connect(t, embedded.Client{URLs: []string{"nats://" + address}, Secret: secret})
	away, back := conn.StatusChanged(nats.RECONNECTING), conn.StatusChanged(nats.CONNECTED)
	s.Close()
	<-away
	if err := conn.Publish("s", []byte("lost")); err == nil {
		t.Error("a message was taken that cannot be sent")
	}
	start(t, embedded.Config{StoreDir: dir, Listen: address})
	<-back
	if err := store(t.Context(), conn, 1); err != nil {
		t.Error(err)
	}
}

// syncBuffer is a buffer for concurrent writers.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
