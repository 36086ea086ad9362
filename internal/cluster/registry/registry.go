// Package registry is the cluster's common knowledge: which nodes there are, which session is on which of them, and which tab is in
// which session. It is kept in three buckets of NATS JetStream, whose layout is that of NATS' key-value stores.
//
// What the package guarantees:
//
//   - A write names the revision that it replaces, and is stored only if that is still the last one of its key. Of two writes that
//     replace the same revision, at most one is stored.
//   - An error says what is known: ErrConflict and ErrUnavailable, nothing was stored; ErrUnknown, perhaps it was.
//   - A read (Bucket.Get) asks the leader of the bucket. A leader that was cut off a moment ago still answers, so a read can be out of
//     date by some 10 seconds. ErrNotFound never proves that there is nothing: only Create does.
//   - A view has what was stored, in order, a moment later, and a node's own writes at once. It notices what it missed within Verify
//     and catches up from the leader.
//   - Revisions grow, and what was stored stays, unless NATS loses what it acknowledged. Then a view says so: Change.Lost.
//   - Nothing decides by wall clocks. Keys of nodes are removed KeepNodes after their last write, by the servers' clocks, to tidy up;
//     all others stay until they are deleted.
//
// Callers owe Close.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/retry"
)

const (
	// Verify is how often a view compares itself with the leader.
	Verify = 2 * time.Second
	// KeepNodes is how long the key of a node stays after its last write. It has nothing to do with leases.
	KeepNodes = time.Hour
	// keepMarkers is how long a deleted key is remembered, so that views that missed the deletion learn of it.
	keepMarkers = 10 * time.Minute
	// callTimeout bounds one request: while there is no leader, nobody answers.
	callTimeout = 5 * time.Second
	// openTimeout bounds one attempt to find or make a stream, and openWait is between two that open a bucket.
	openTimeout = 2 * time.Second
	openWait    = 100 * time.Millisecond
)

// Config sets up a Registry.
type Config struct {
	// Replicas is how many servers keep each bucket: 1, 3 or 5. It counts only for buckets that do not exist yet.
	Replicas int
	// Nodes, Sessions and Tabs are called for each change of a view, in order, one call at a time for each view; nil: not called. They
	// must not wait, nor use the view.
	Nodes    func(Change[Node])
	Sessions func(Change[Session])
	Tabs     func(Change[Tab])
	// GoBack is how long the leader has to know less than a view before the view takes its word: an earlier leader that was cut off answers
	// for some 11 seconds. Zero: 15 seconds.
	GoBack time.Duration
	// Logger takes what goes wrong without a caller; nil: nothing is logged.
	Logger *slog.Logger
}

// Registry has the three buckets. Its fields do not change after Open, and their methods are safe for concurrent use.
type Registry struct {
	// Nodes has one key for each incarnation of a node: see NodeKey.
	Nodes *Bucket[Node]
	// Sessions has the sessions by name.
	Sessions *Bucket[Session]
	// Tabs has the tabs by id.
	Tabs *Bucket[Tab]

	conn *nats.Conn
	end  context.CancelFunc
	done []<-chan struct{}
}

// Open finds the buckets, or makes them, and fills the views. While servers elect a leader that fails, so Open tries again until
// ctx ends. The connection stays the caller's, who closes it after the Registry.
func Open(ctx context.Context, conn *nats.Conn, cfg Config) (*Registry, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the registry: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	r := &Registry{conn: conn, end: end}
	o := opener{conn: conn, js: js, replicas: max(cfg.Replicas, 1), patience: cmp.Or(cfg.GoBack, defaultGoBack), logger: cfg.Logger, running: running}
	if r.Nodes, err = open(ctx, o, layout{name: "domtap_nodes", age: KeepNodes}, cfg.Nodes); err == nil {
		r.done = append(r.done, r.Nodes.view.done)
		if r.Sessions, err = open(ctx, o, layout{name: "domtap_sessions"}, cfg.Sessions); err == nil {
			r.done = append(r.done, r.Sessions.view.done)
			if r.Tabs, err = open(ctx, o, layout{name: "domtap_tabs", keep: true}, cfg.Tabs); err == nil {
				r.done = append(r.done, r.Tabs.view.done)
				return r, nil
			}
		}
	}
	r.Close()
	return nil, fmt.Errorf("open the registry: %w", err)
}

// Close ends the views, and returns when their goroutines are gone.
func (r *Registry) Close() {
	r.end()
	for _, done := range r.done {
		<-done
	}
}

// opener is what all buckets are opened with.
type opener struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	patience time.Duration
	logger   *slog.Logger
	// running ends when the registry is closed.
	running context.Context
}

// layout is what differs between buckets.
type layout struct {
	name string
	// age is how long a key is kept after its last write; 0: until it is deleted.
	age time.Duration
	// keep: the view keeps what the bucket has lost.
	keep bool
}

// open opens one bucket, and fills its view.
func open[V any](ctx context.Context, o opener, l layout, changed func(Change[V])) (*Bucket[V], error) {
	b, err := retry.Until(ctx, openWait, func() (*Bucket[V], error) {
		b, err := tryOpen(ctx, o, l, changed)
		if err != nil {
			o.logger.Debug("a bucket cannot be opened yet", "bucket", l.name, "error", err)
		}
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", l.name, err)
	}
	return b, nil
}

// tryOpen is one attempt of open.
func tryOpen[V any](ctx context.Context, o opener, l layout, changed func(Change[V])) (*Bucket[V], error) {
	stream, err := FindStream(ctx, o.js, streamConfig(l.name, l.age, o.replicas))
	if err != nil {
		return nil, err
	}
	b := &Bucket[V]{name: l.name, js: o.js, stream: stream}
	b.view = newView(b, o, l.keep, changed)
	return b, b.view.start(ctx, o.running, o.conn)
}

// FindStream finds a stream, or makes it. One that is there stays as it is.
func FindStream(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, cfg)
	}
	return stream, err
}

// streamConfig is that of a key-value store of NATS, but for direct reads, which any replica answers, also one that lags behind; and with
// a copy of each change on a plain subject, so that views need no consumer, which is silent for seconds when its server dies.
func streamConfig(name string, age time.Duration, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamPrefix + name, Subjects: []string{subject(name, ">")}, Replicas: replicas, Storage: jetstream.FileStorage,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1, MaxAge: age, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: false, AllowMsgTTL: true, SubjectDeleteMarkerTTL: keepMarkers,
		RePublish: &jetstream.RePublish{Source: subject(name, ">"), Destination: changesOf(name)},
	}
}

// streamPrefix is what NATS calls the streams of key-value stores.
const streamPrefix = "KV_"

// subject is where a key is stored.
func subject(bucket, key string) string { return "$KV." + bucket + "." + key }

// changesOf is where the changes of a bucket are published once they are stored.
func changesOf(bucket string) string { return "domtap.changes." + bucket + ".>" }
