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

// Bucket stores values by key. Its methods are safe for concurrent use. Each request ends after 5 seconds, or earlier with its context.
type Bucket[V any] struct {
	name   string
	js     jetstream.JetStream
	stream jetstream.Stream
	view   *View[V]
}

// Entry is a value with its key and its revision. Revisions increase across all keys of a bucket.
type Entry[V any] struct {
	Key      string
	Value    V
	Revision uint64
}

// View returns the bucket's cached view.
func (b *Bucket[V]) View() *View[V] { return b.view }

// Get reads a value from the leader. It returns ErrNotFound or ErrUnavailable.
func (b *Bucket[V]) Get(ctx context.Context, key string) (Entry[V], error) {
	e, live, err := b.last(ctx, key)
	if err == nil && !live {
		err = explain(jetstream.ErrMsgNotFound, false, "read", key)
	}
	return e, err
}

// last returns the last message of a key. live is false if the message marks a deletion.
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

// Create stores a value under a key that has none and returns its revision. It returns ErrConflict if the key has a value, ErrUnknown or
// ErrUnavailable.
func (b *Bucket[V]) Create(ctx context.Context, key string, value V) (revision uint64, err error) {
	revision, err = b.Update(ctx, key, value, 0)
	if !errors.Is(err, ErrConflict) {
		return revision, err
	}
	// The key may have been deleted recently; deletion markers are kept for a while.
	marker, live, failed := b.last(ctx, key)
	if failed != nil || live {
		return 0, err
	}
	return b.Update(ctx, key, value, marker.Revision)
}

// Update replaces the value with the given revision and returns the new revision. It returns ErrConflict, ErrUnknown or ErrUnavailable.
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

// Delete deletes the value with the given revision. It returns ErrConflict, ErrUnknown or ErrUnavailable.
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

// Remove deletes the value of a key if accept returns true for it. It retries until the outcome is known, ctx ends, or the registry is
// unavailable.
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

// PauseFor is the delay before a failed request to the registry is retried.
const PauseFor = 100 * time.Millisecond

// Pause waits for PauseFor or until ctx ends. Callers check ctx.
func Pause(ctx context.Context) { _ = retry.Pause(ctx, PauseFor) }

// decode decodes a stored message. live is false if the message marks a deleted or expired key.
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
