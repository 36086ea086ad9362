// Package registry stores the state that all nodes of a cluster share: the nodes, the node of each session, and the session of each tab. It
// uses three buckets of NATS JetStream with the layout of NATS' key-value stores.
//
// What the package guarantees:
//
//   - A write names the revision that it replaces and is stored only if that revision is still current. Of two writes that replace the same
//     revision, at most one is stored.
//   - Errors state the outcome: after ErrConflict and ErrUnavailable nothing was stored; after ErrUnknown the value may have been stored.
//   - Bucket.Get reads from the leader of the bucket. A leader that has just been cut off still answers, so a read can be stale by about 10
//     seconds. ErrNotFound never proves that a key is missing; only Create does.
//   - A view receives stored values in order with a short delay, and this node's own writes immediately. It detects missed changes within
//     Verify and catches up from the leader.
//   - Revisions increase and stored values persist, unless NATS loses acknowledged writes. Views report such losses as Change.Lost.
//   - No decision depends on wall clocks. To clean up, the servers remove keys of nodes KeepNodes after their last write, by their own
//     clocks. All other keys stay until they are deleted.
//
// Callers must call Close.
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
	// Verify is the interval at which a view compares itself with the leader.
	Verify = 2 * time.Second
	// KeepNodes is how long the key of a node is kept after its last write. It is independent of leases.
	KeepNodes = time.Hour
	// keepMarkers is how long deletion markers are kept for views that missed a deletion.
	keepMarkers = 10 * time.Minute
	// callTimeout bounds one request: without a leader, no server answers.
	callTimeout = 5 * time.Second
	// openTimeout bounds one attempt to find or create a stream. openWait is the delay between attempts to open a bucket.
	openTimeout = 2 * time.Second
	openWait    = 100 * time.Millisecond
)

// Config sets up a Registry.
type Config struct {
	// Replicas is the number of servers that store each bucket: 1, 3 or 5. It applies only to buckets that do not exist yet.
	Replicas int
	// Nodes, Sessions and Tabs, unless nil, are called for each change of their view, in order and one call at a time per view. They must
	// not block or use the view.
	Nodes    func(Change[Node])
	Sessions func(Change[Session])
	Tabs     func(Change[Tab])
	// GoBack is how long the leader must have had less than a view before the view reverts to the leader's state. A former leader that was
	// cut off keeps answering for about 11 seconds. Zero means 15 seconds.
	GoBack time.Duration
	// Logger receives failures outside calls. If nil, nothing is logged.
	Logger *slog.Logger
}

// Registry provides the three buckets. Its fields do not change after Open, and their methods are safe for concurrent use.
type Registry struct {
	// Nodes has one key for each incarnation of a node; see NodeKey.
	Nodes *Bucket[Node]
	// Sessions stores the sessions by name.
	Sessions *Bucket[Session]
	// Tabs stores the tabs by ID.
	Tabs *Bucket[Tab]

	conn *nats.Conn
	end  context.CancelFunc
	done []<-chan struct{}
}

// Open finds or creates the buckets and fills the views. It retries until ctx ends, because requests fail while servers elect a leader. The
// caller closes the connection after the Registry.
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

// Close stops the views and waits for their goroutines.
func (r *Registry) Close() {
	r.end()
	for _, done := range r.done {
		<-done
	}
}

// opener holds the parameters with which all buckets are opened.
type opener struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	patience time.Duration
	logger   *slog.Logger
	// running ends when the registry is closed.
	running context.Context
}

// layout holds the settings that differ between buckets.
type layout struct {
	name string
	// age is how long a key is kept after its last write. Zero means until it is deleted.
	age time.Duration
	// keep makes the view keep values that the bucket has lost.
	keep bool
}

// open opens one bucket and fills its view. It retries until its context ends.
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

// tryOpen makes one attempt to open a bucket.
func tryOpen[V any](ctx context.Context, o opener, l layout, changed func(Change[V])) (*Bucket[V], error) {
	stream, err := FindStream(ctx, o.js, streamConfig(l.name, l.age, o.replicas))
	if err != nil {
		return nil, err
	}
	b := &Bucket[V]{name: l.name, js: o.js, stream: stream}
	b.view = newView(b, o, l.keep, changed)
	return b, b.view.start(ctx, o.running, o.conn)
}

// FindStream finds or creates a stream. It does not change an existing stream.
func FindStream(ctx context.Context, js jetstream.JetStream, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, cfg)
	}
	return stream, err
}

// streamConfig returns the configuration of a NATS key-value store with two differences. Direct reads are off, because replicas that lag
// behind answer them. Each change is republished on a plain subject, so that views need no consumer; a consumer is silent for seconds after
// its server dies.
func streamConfig(name string, age time.Duration, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: streamPrefix + name, Subjects: []string{subject(name, ">")}, Replicas: replicas, Storage: jetstream.FileStorage,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1, MaxAge: age, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: false, AllowMsgTTL: true, SubjectDeleteMarkerTTL: keepMarkers,
		RePublish: &jetstream.RePublish{Source: subject(name, ">"), Destination: changesOf(name)},
	}
}

// streamPrefix is the prefix that NATS gives to streams of key-value stores.
const streamPrefix = "KV_"

// subject returns the subject under which a key is stored.
func subject(bucket, key string) string { return "$KV." + bucket + "." + key }

// changesOf returns the subjects on which stored changes of a bucket are published.
func changesOf(bucket string) string { return "domtap.changes." + bucket + ".>" }
