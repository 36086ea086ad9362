package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/retry"
)

// The headers of NATS' key-value stores.
const (
	operation   = "KV-Operation"
	purge       = "PURGE"
	deleted     = "DEL"
	ttlOfMarker = "Nats-TTL"
)

// Bucket holds values by key. Its methods are safe for concurrent use. Each request has 5 seconds, or what its context leaves of them.
type Bucket[V any] struct {
	name   string
	js     jetstream.JetStream
	stream jetstream.Stream
	view   *View[V]
}

// Entry is a value with its key and its revision. Revisions grow within a bucket, over all keys.
type Entry[V any] struct {
	Key      string
	Value    V
	Revision uint64
}

// View is the bucket's cached view.
func (b *Bucket[V]) View() *View[V] { return b.view }

// Get asks the leader. Errors are ErrNotFound and ErrUnavailable.
func (b *Bucket[V]) Get(ctx context.Context, key string) (Entry[V], error) {
	e, live, err := b.last(ctx, key)
	if err == nil && !live {
		err = explain(jetstream.ErrMsgNotFound, false, "read", key)
	}
	return e, err
}

// last is what is stored last under a key, also when that says that the key was deleted.
func (b *Bucket[V]) last(ctx context.Context, key string) (e Entry[V], live bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	message, err := b.stream.GetLastMsgForSubject(ctx, subject(b.name, encodeKey(key)))
	if err != nil {
		return e, false, explain(err, false, "read", key)
	}
	if e, live, err = decode[V](key, message.Sequence, message.Header, message.Data); err != nil {
		return e, false, explain(err, false, "read", key)
	}
	return e, live, nil
}

// Create stores a value under a key that has none, and returns its revision. Errors are ErrConflict, when the key has a value,
// ErrUnknown and ErrUnavailable.
func (b *Bucket[V]) Create(ctx context.Context, key string, value V) (revision uint64, err error) {
	revision, err = b.Update(ctx, key, value, 0)
	if !errors.Is(err, ErrConflict) {
		return revision, err
	}
	// The key may have been deleted a moment ago, which is remembered for a while.
	marker, live, failed := b.last(ctx, key)
	if failed != nil || live {
		return 0, err
	}
	return b.Update(ctx, key, value, marker.Revision)
}

// Update replaces the value that has a revision, and returns the new revision. Errors are ErrConflict, ErrUnknown and ErrUnavailable.
func (b *Bucket[V]) Update(ctx context.Context, key string, value V, revision uint64) (uint64, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return 0, explain(errors.Join(ErrConflict, err), true, "store", key)
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	message := &nats.Msg{Subject: subject(b.name, encodeKey(key)), Data: data}
	ack, err := b.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(revision))
	if err != nil {
		return 0, explain(err, true, "store", key)
	}
	b.view.own(Entry[V]{Key: key, Value: value, Revision: ack.Sequence}, true)
	return ack.Sequence, nil
}

// Delete deletes the value that has a revision. Errors are ErrConflict, ErrUnknown and ErrUnavailable.
func (b *Bucket[V]) Delete(ctx context.Context, key string, revision uint64) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	message := nats.NewMsg(subject(b.name, encodeKey(key)))
	message.Header.Set(operation, purge)
	message.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	message.Header.Set(ttlOfMarker, keepMarkers.String())
	ack, err := b.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(revision))
	if err != nil {
		return explain(err, true, "delete", key)
	}
	b.view.own(Entry[V]{Key: key, Revision: ack.Sequence}, false)
	return nil
}

// Remove deletes the value of a key if a test accepts it, and tries until the outcome is known, or ctx ends, or the registry is not available.
func (b *Bucket[V]) Remove(ctx context.Context, key string, accept func(V) bool) error {
	for {
		e, err := b.Get(ctx, key)
		if errors.Is(err, ErrNotFound) || err == nil && !accept(e.Value) {
			return nil
		}
		if err == nil {
			err = b.Delete(ctx, key, e.Revision)
		}
		if err == nil || errors.Is(err, ErrUnavailable) {
			return err
		}
		if Pause(ctx); ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// PauseFor is how long to wait before the registry is asked again after a failure.
const PauseFor = 100 * time.Millisecond

// Pause waits for PauseFor, or until ctx ends, at which callers look.
func Pause(ctx context.Context) { _ = retry.Pause(ctx, PauseFor) }

// decode reads what is stored; live is false for what says that the key was deleted, or that its time was over.
func decode[V any](key string, revision uint64, header nats.Header, data []byte) (e Entry[V], live bool, err error) {
	e = Entry[V]{Key: key, Revision: revision}
	if op := header.Get(operation); op == purge || op == deleted || header.Get(jetstream.MarkerReasonHeader) != "" {
		return e, false, nil
	}
	if err := json.Unmarshal(data, &e.Value); err != nil {
		return e, false, fmt.Errorf("it cannot be read: %w", err)
	}
	return e, true, nil
}
