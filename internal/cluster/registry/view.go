package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pendingChanges limits how many changes may wait for the view. Further changes are dropped, and the view catches up from the leader.
const pendingChanges = 4096

// View is an in-memory copy that follows a bucket. Its methods are safe for concurrent use and do not block.
type View[V any] struct {
	bucket *Bucket[V]
	logger *slog.Logger
	done   chan struct{}
	cache  cache[V]
}

func newView[V any](b *Bucket[V], o opener, keep bool, changed func(Change[V])) *View[V] {
	return &View[V]{bucket: b, logger: o.logger.With("bucket", b.name), done: make(chan struct{}), cache: newCache(keep, o.patience, changed)}
}

// Get returns a value. A value may be missing because the view is behind.
func (v *View[V]) Get(key string) (Entry[V], bool) { return v.cache.get(key) }

// All returns the values, sorted by key.
func (v *View[V]) All() []Entry[V] { return v.cache.all() }

// Changed returns a channel that is closed at the next change. To wait for a condition, get the channel, check the condition, and then
// wait.
func (v *View[V]) Changed() <-chan struct{} { return v.cache.next() }

// Age returns the time since the view was last known to be complete, by the monotonic clock. While the leader answers, Age rarely exceeds
// Verify.
func (v *View[V]) Age() time.Duration { return time.Since(v.cache.known()) }

// Leader returns the server that led the bucket when the view was last compared with it.
func (v *View[V]) Leader() string { return v.cache.leads() }

// start subscribes to changes and reads the bucket. The goroutine that follows the bucket ends with running; ctx only bounds the start.
// After an error nothing keeps running.
func (v *View[V]) start(ctx, running context.Context, conn *nats.Conn) error {
	changes := make(chan *nats.Msg, pendingChanges)
	sub, err := conn.ChanSubscribe(changesOf(v.bucket.name), changes)
	if err != nil {
		return err
	}
	// Subscribe before reading from the leader, so that no change is missed between both.
	flushing, cancel := bounded(ctx) // a flush without a deadline is refused
	defer cancel()
	if err = conn.FlushWithContext(flushing); err == nil {
		err = v.catchUp(ctx)
	}
	if err != nil {
		return errors.Join(err, sub.Unsubscribe())
	}
	go func() {
		defer close(v.done)
		defer func() { _ = sub.Unsubscribe() }() // the connection may be closed already
		v.follow(running, changes)
	}()
	return nil
}

// follow applies changes and compares the view with the leader until ctx ends.
func (v *View[V]) follow(ctx context.Context, changes <-chan *nats.Msg) {
	tick := time.NewTicker(Verify)
	defer tick.Stop()
	for {
		complete := true
		select {
		case message := <-changes:
			complete = v.apply(message)
		case <-tick.C:
			complete = false
		case <-ctx.Done():
			return
		}
		if complete {
			continue
		}
		if err := v.catchUp(ctx); err != nil && ctx.Err() == nil {
			v.logger.Debug("the view could not be compared with the leader", "error", err)
		}
	}
}

// apply applies a published change. It returns false if changes before it were missed.
func (v *View[V]) apply(message *nats.Msg) bool {
	revision, err := strconv.ParseUint(message.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return false
	}
	return v.cache.apply(v.decode(message.Header.Get(jetstream.SubjectHeader), revision, message.Header, message.Data), true)
}

// decode decodes a stored value. A value that cannot be decoded, because another program wrote it, counts as missing.
func (v *View[V]) decode(at string, revision uint64, header nats.Header, data []byte) stored[V] {
	key, ok := decodeKey(strings.TrimPrefix(at, subject(v.bucket.name, "")))
	s := stored[V]{entry: Entry[V]{Key: key, Revision: revision}}
	if ok {
		var err error
		if s.entry, s.live, err = decode[V](key, revision, header, data); err != nil {
			v.logger.Warn("a value of the registry is ignored", "key", key, "error", err)
		}
	}
	return s
}

// catchUp reads from the leader what the view has missed. It reads everything after a gap in which deletion markers may have expired, and
// when the registry may have lost data.
func (v *View[V]) catchUp(ctx context.Context) error {
	asked := time.Now()
	at, err := v.ask(ctx)
	if err != nil {
		return err
	}
	plan, err := v.cache.plan(asked, at)
	if err != nil {
		return err
	}
	first := at
	read, err := v.readFrom(ctx, plan.from, &at)
	if err == nil && plan.back {
		v.logger.Debug("the leader was behind: all is read, in case the registry has lost something")
		err = v.same(ctx, first)
	}
	if err != nil {
		return err
	}
	v.cache.merge(read, plan, at, asked)
	return nil
}

// readFrom reads the values from a revision on and sets at.last to the last revision read.
func (v *View[V]) readFrom(ctx context.Context, from uint64, at *state) (read []stored[V], err error) {
	for next, end := from, at.last; next <= end; {
		message, err := v.read(ctx, next)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		read = append(read, v.decode(message.Subject, message.Sequence, message.Header, message.Data))
		next = message.Sequence + 1
		at.last = max(at.last, message.Sequence)
	}
	return read, nil
}

// same returns an error if the leader has changed since an earlier reading, because the values read may then not be the state of one
// leader.
func (v *View[V]) same(ctx context.Context, earlier state) error {
	now, err := v.ask(ctx)
	if err == nil && (now.leader != earlier.leader || now.leader == "" || !now.made.Equal(earlier.made) || now.last < earlier.last) {
		err = errors.New("the leader has changed")
	}
	return err
}

// ask asks the leader for the state of the bucket.
func (v *View[V]) ask(ctx context.Context) (state, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	info, err := v.bucket.stream.Info(ctx)
	if err != nil {
		return state{}, fmt.Errorf("ask for the state of %s: %w", v.bucket.name, err)
	}
	at := state{last: info.State.LastSeq, made: info.Created}
	if info.Cluster != nil {
		at.leader = info.Cluster.Leader // empty during an election
	} else {
		at.leader = v.bucket.js.Conn().ConnectedServerName() // a single server
	}
	return at, nil
}

// read reads the first value from a sequence on.
func (v *View[V]) read(ctx context.Context, from uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return v.bucket.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject(v.bucket.name, ">")))
}

// own applies a write of this node immediately, so that the writer can read it.
func (v *View[V]) own(e Entry[V], live bool) { v.cache.apply(stored[V]{e, live}, false) }
