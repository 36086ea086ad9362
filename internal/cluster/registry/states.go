package registry

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/retry"
)

// ErrTooLarge reports that a state is too large to store. It is not one of the kinds of Bucket's errors.
var ErrTooLarge = errors.New("it is too large to store")

const (
	// minStateKey is the minimum size of the encryption key, in bytes.
	minStateKey = 16
	// maxState limits the size of a stored state in bytes, and maxLoaded its size before compression.
	maxState  = 7 << 20
	maxLoaded = 64 << 20
	// tokenHeader names the header with the fencing token under which a state was saved.
	tokenHeader = "Domtap-Token"
)

// States stores the storage states of sessions. They contain logins, so they are encrypted with a key that NATS does not have. A state
// saved under one fencing token is not replaced under a lower one. Reads go to the leader. Its methods are safe for concurrent use.
type States struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	aead   cipher.AEAD
}

// OpenStates finds or creates the bucket of states. Like Open, it retries until ctx ends. The key must be the same on all nodes and have at
// least 16 bytes.
func OpenStates(ctx context.Context, conn *nats.Conn, replicas int, key []byte) (*States, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, fmt.Errorf("open the states of sessions: %w", err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the states of sessions: %w", err)
	}
	cfg := streamConfig("domtap_state", 0, max(replicas, 1))
	cfg.RePublish = nil
	stream, err := retry.Until(ctx, openWait, func() (jetstream.Stream, error) { return FindStream(ctx, js, cfg) })
	if err != nil {
		return nil, fmt.Errorf("open the states of sessions: %w", err)
	}
	return &States{js: js, stream: stream, aead: aead}, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) < minStateKey {
		return nil, fmt.Errorf("the key has %d bytes, and needs %d", len(key), minStateKey)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "domtap session state", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// subject returns the subject under which a session's state is stored.
func (s *States) subject(session string) string { return subject("domtap_state", encodeKey(session)) }

// Save saves the state of a session under the fencing token of its owner. It returns ErrConflict if a state was saved under a higher token,
// ErrTooLarge, ErrUnknown or ErrUnavailable.
func (s *States) Save(ctx context.Context, session string, token uint64, state []byte) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	last, saved, err := s.last(ctx, session)
	if err == nil && saved > token {
		err = fmt.Errorf("save %q: %w: under token %d, after %d", session, ErrConflict, token, saved)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return s.store(ctx, session, token, state, last)
}

// Load returns the last saved state, or nil if the leader has none. It returns ErrUnavailable, or another error if the state was saved with
// another key.
func (s *States) Load(ctx context.Context, session string) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	last, token, err := s.last(ctx, session)
	if errors.Is(err, ErrNotFound) || err == nil && last.Header.Get(operation) != "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state, err := s.unseal(session, token, last.Data)
	if err != nil {
		return nil, fmt.Errorf("load the state of session %s: %w", session, err)
	}
	return state, nil
}

// Take returns the last saved state for the next owner of a session, or nil if there is none. It saves the state again under the owner's
// token and replaces exactly the revision that it read. This proves that the state was the last one, even if a stale server answered the
// read, and prevents earlier owners from saving another. It returns the errors of Load and Save.
func (s *States) Take(ctx context.Context, session string, token uint64) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	last, saved, err := s.last(ctx, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if saved > token {
		return nil, fmt.Errorf("take %q: %w: under token %d, after %d", session, ErrConflict, token, saved)
	}
	var state []byte
	if err == nil && last.Header.Get(operation) == "" {
		if state, err = s.unseal(session, saved, last.Data); err != nil {
			return nil, fmt.Errorf("take the state of session %s: %w", session, err)
		}
	}
	return state, s.store(ctx, session, token, state, last)
}

// store replaces a message with a state.
func (s *States) store(ctx context.Context, session string, token uint64, state []byte, last *jetstream.RawStreamMsg) error {
	sealed, err := s.seal(session, token, state)
	if err != nil {
		return fmt.Errorf("save the state of session %s: %w", session, err)
	}
	message := nats.NewMsg(s.subject(session))
	message.Data = sealed
	message.Header.Set(tokenHeader, strconv.FormatUint(token, 10))
	_, err = s.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(revisionOf(last)))
	return explain(err, true, "save", session)
}

// Delete deletes the state of a session. It returns ErrConflict if the state was saved under a higher token, ErrUnknown or ErrUnavailable.
func (s *States) Delete(ctx context.Context, session string, token uint64) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	last, saved, err := s.last(ctx, session)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case saved > token:
		return fmt.Errorf("delete %q: %w: under token %d, after %d", session, ErrConflict, token, saved)
	}
	message := nats.NewMsg(s.subject(session))
	message.Header.Set(operation, purge)
	message.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	message.Header.Set(ttlOfMarker, keepMarkers.String())
	message.Header.Set(tokenHeader, strconv.FormatUint(token, 10))
	_, err = s.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(revisionOf(last)))
	return explain(err, true, "delete", session)
}

// last returns the last stored message of a session and its token.
func (s *States) last(ctx context.Context, session string) (*jetstream.RawStreamMsg, uint64, error) {
	last, err := s.stream.GetLastMsgForSubject(ctx, s.subject(session))
	if err != nil {
		return nil, 0, explain(err, false, "read", session)
	}
	token, _ := strconv.ParseUint(last.Header.Get(tokenHeader), 10, 64) // 0 if another program wrote it
	return last, token, nil
}

// revisionOf returns the sequence of a message, or 0 for nil.
func revisionOf(m *jetstream.RawStreamMsg) uint64 {
	if m == nil {
		return 0
	}
	return m.Sequence
}

// seal compresses and encrypts a state. It can be opened only with the same session and token.
func (s *States) seal(session string, token uint64, state []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		if _, err = w.Write(state); err == nil {
			err = w.Close()
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(state) > maxLoaded || b.Len() > maxState:
		return nil, fmt.Errorf("%w: it has %d bytes, compressed %d", ErrTooLarge, len(state), b.Len())
	}
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return s.aead.Seal(nonce, nonce, b.Bytes(), label(session, token)), nil
}

// unseal is the reverse of seal.
func (s *States) unseal(session string, token uint64, sealed []byte) ([]byte, error) {
	n := s.aead.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("it is cut off")
	}
	packed, err := s.aead.Open(nil, sealed[:n], sealed[n:], label(session, token))
	if err != nil {
		return nil, fmt.Errorf("it was saved with another key, or is damaged: %w", err)
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxLoaded))
}

// label binds a sealed state to its session and token.
func label(session string, token uint64) []byte {
	return []byte(strconv.FormatUint(token, 10) + " " + session)
}
