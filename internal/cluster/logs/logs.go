// Package logs stores the logs of the cluster's tabs in a stream of NATS JetStream. Each tab has one subject, with a keyframe followed by
// deltas. Package tablog defines the content of records.
//
// What the package guarantees:
//
//   - Append names the record that the new one must follow, and stores nothing if another record follows it. If two owners append after the
//     same record, at most one succeeds. Storing a keyframe removes all records before it in the same step.
//   - Follow delivers every record of a tab from the last keyframe on, once, in order and without gaps, even if servers die or records are
//     removed during the read. If records are gone, it reports that and restarts with a keyframe.
//   - Reads go to the leader of the stream, never to a replica that may lag behind.
//
// The servers keep the logs in memory: they only let replicas follow tabs and are no durable record. After a restart of all servers that
// hold a copy, the logs are empty and sequences start over.
//
// Records expire after MaxAge, and a log keeps the newest MaxRecords records. Owners must write a new keyframe before this limit removes
// the last one.
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
	// MaxRecords is the maximum number of records in a log.
	MaxRecords = 500
	// MaxRecord is the maximum size of a record in bytes.
	MaxRecord = 8<<20 - 64<<10

	stream = "domtap_log"
	// stored prefixes the subjects of stored records, and live the subjects on which they are republished to followers.
	stored = "domtap.log."
	live   = "domtap.live."

	// callTimeout bounds one request. Without a leader no server answers, and requests from before an election are never answered.
	callTimeout = 2 * time.Second
	// leastRate is the minimum rate at which a busy server stores a record, in bytes per second.
	leastRate = 1 << 20
	openWait  = 100 * time.Millisecond
)

// ErrTooLarge reports that a record has more than MaxRecord bytes. Nothing was stored.
var ErrTooLarge = errors.New("the record is too large for the log")

// ErrGone reports that a log has no records: they were removed, or none was ever stored.
var ErrGone = errors.New("the log has no records")

// Log accesses the stream of all logs. Its methods are safe for concurrent use. It starts no goroutine and does not close the connection.
type Log struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	logger *slog.Logger
}

// Open finds the stream or creates it with the given number of replicas. It retries until ctx ends, because requests fail while servers
// elect a leader.
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

// config returns the stream's configuration. The stream is in memory. On disk, each change would wait until a majority has synced it
// (sync_always), which takes longer than everything else together if a disk is busy.
func config(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: stream, Subjects: []string{stored + "*"}, Replicas: replicas, Storage: jetstream.MemoryStorage,
		MaxMsgsPerSubject: MaxRecords, MaxAge: MaxAge, MaxMsgSize: MaxRecord + 4<<10, Discard: jetstream.DiscardOld, AllowRollup: true,
		RePublish: &jetstream.RePublish{Source: stored + "*", Destination: live + "{{wildcard(1)}}"},
	}
}

// Append stores a record and returns its sequence. after is the sequence of the record that precedes it, or 0 for the first record. A
// keyframe removes all records before it. Append returns ErrTooLarge or an error of the registry: ErrConflict if another record follows the
// previous one, or the previous one is gone; ErrUnknown if no answer arrived in time. After ErrUnknown, call Last before the next Append.
func (l *Log) Append(ctx context.Context, tab string, record []byte, keyframe bool, previous uint64) (sequence uint64, err error) {
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
	ack, err := l.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(previous))
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

// next returns the first record of a tab at or after a sequence.
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

// sequences returns the sequence of a republished record, and the sequence of the previous record of the same tab.
func sequences(m *nats.Msg) (sequence, before uint64, ok bool) {
	sequence, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	before, err = strconv.ParseUint(m.Header.Get(jetstream.LastSequenceHeader), 10, 64)
	return sequence, before, err == nil
}
