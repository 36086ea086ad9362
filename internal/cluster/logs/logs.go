// Package logs keeps the logs of the cluster's tabs in a stream of NATS JetStream: one subject for each tab, a keyframe first, deltas
// behind it. What the records say is package tablog's business.
//
// What the package guarantees:
//
//   - Append names the record that it follows, and stores only behind that one: of two owners who append behind the same record, at most
//     one succeeds. A keyframe removes all before it, in one step with being stored.
//   - Follow delivers every record of a tab from the last keyframe on, once, in order and without gaps, also when servers die and when
//     records are removed meanwhile; or it says that records are gone, and starts over with a keyframe.
//   - Reads ask the leader of the stream, never a replica that may lag behind.
//
// The logs are in the memory of the servers, as many as keep a copy: they are how copies follow tabs, and no record of anything. When all of these
// servers were started again, the logs are empty, and their numbers begin anew.
//
// A log that nobody writes to is gone after MaxAge, and a log has at most MaxRecords records, of which the oldest goes first: owners write a
// keyframe in time.
package logs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/retry"
)

const (
	// MaxAge is how long a record is kept.
	MaxAge = 10 * time.Minute
	// MaxRecords is how many records a log has.
	MaxRecords = 500
	// MaxRecord is how large a record may be, in bytes.
	MaxRecord = 8<<20 - 64<<10

	stream = "domtap_log"
	// stored and live are the subjects of records, as they are stored and as they are repeated for those who follow.
	stored = "domtap.log."
	live   = "domtap.live."

	// callTimeout bounds one request. While there is no leader nobody answers, and a request from before the election never is.
	callTimeout = 2 * time.Second
	// leastRate is how many bytes of a record a busy server stores in a second, at least.
	leastRate = 1 << 20
	openWait  = 100 * time.Millisecond
)

// ErrTooLarge says that a record has more than MaxRecord bytes. Nothing was stored.
var ErrTooLarge = errors.New("the record is too large for the log")

// ErrGone says that a log has no records any more, or never had any.
var ErrGone = errors.New("the log has no records")

// Log is the stream with the logs. Its methods are safe for concurrent use. It has no goroutine of its own; the connection stays the
// caller's.
type Log struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	logger *slog.Logger
}

// Open finds the stream, or makes it on as many servers as replicas says. While servers elect a leader that fails, so Open tries again
// until ctx ends.
func Open(ctx context.Context, conn *nats.Conn, replicas int, logger *slog.Logger) (*Log, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	l := &Log{conn: conn, js: js, logger: logger}
	l.stream, err = retry.Until(ctx, openWait, func() (jetstream.Stream, error) {
		found, err := registry.FindStream(ctx, js, config(max(replicas, 1)))
		if err != nil {
			logger.Debug("the log cannot be opened yet", "error", err)
		}
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return l, nil
}

// config is that of the stream. It is in memory: on a disk, each change would wait until the disks of a majority have it, which is what the
// servers do for everything (sync_always), and with a busy disk takes longer than all else together.
func config(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: stream, Subjects: []string{stored + "*"}, Replicas: replicas, Storage: jetstream.MemoryStorage,
		MaxMsgsPerSubject: MaxRecords, MaxAge: MaxAge, MaxMsgSize: MaxRecord + 4<<10, Discard: jetstream.DiscardOld, AllowRollup: true,
		RePublish: &jetstream.RePublish{Source: stored + "*", Destination: live + "{{wildcard(1)}}"},
	}
}

// Append stores a record behind the one with the sequence after; 0: there is none. A keyframe removes all before it. It returns the
// record's sequence. Errors are ErrTooLarge, and the kinds of the registry: ErrConflict when another record was stored behind after,
// or after is gone; ErrUnknown when nobody answered in time: call Last before the next record.
func (l *Log) Append(ctx context.Context, tab string, record []byte, keyframe bool, after uint64) (sequence uint64, err error) {
	if len(record) > MaxRecord {
		return 0, fmt.Errorf("%w: %d bytes of at most %d", ErrTooLarge, len(record), MaxRecord)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout+time.Duration(len(record)/leastRate)*time.Second)
	defer cancel()
	m := nats.NewMsg(stored + tab)
	m.Data = record
	if keyframe {
		m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	}
	ack, err := l.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(after))
	if err != nil {
		return 0, fmt.Errorf("append to the log of tab %s: %w: %w", tab, registry.Kind(err, true), err)
	}
	return ack.Sequence, nil
}

// Last returns the newest record of a tab and its sequence. Errors are ErrGone and registry.ErrUnavailable.
func (l *Log) Last(ctx context.Context, tab string) (sequence uint64, record []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := l.stream.GetLastMsgForSubject(ctx, stored+tab)
	if err != nil {
		return 0, nil, readError(tab, err)
	}
	return m.Sequence, m.Data, nil
}

// next returns the first record of a tab from a sequence on.
func (l *Log) next(ctx context.Context, tab string, from uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	m, err := l.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(stored+tab))
	if err != nil {
		return nil, readError(tab, err)
	}
	return m, nil
}

func readError(tab string, err error) error {
	kind := registry.Kind(err, false)
	if errors.Is(kind, registry.ErrNotFound) {
		kind = ErrGone
	}
	return fmt.Errorf("read the log of tab %s: %w: %w", tab, kind, err)
}

// sequences returns the sequence of a repeated record, and that of the one before it of the same tab.
func sequences(m *nats.Msg) (sequence, before uint64, ok bool) {
	sequence, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	before, err = strconv.ParseUint(m.Header.Get(jetstream.LastSequenceHeader), 10, 64)
	return sequence, before, err == nil
}
