package logs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/cluster/embedded"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// bounded returns a test's context with a timeout, so that a hanging call fails with an error.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// open opens logs on a new server.
func open(t *testing.T) *logs.Log {
	t.Helper()
	s, err := embedded.Start(bounded(t), embedded.Config{Name: "one", Secret: "secret", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	conn, err := embedded.Connect(bounded(t), embedded.Client{Server: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	l, err := logs.Open(bounded(t), conn, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// write appends a record. It fails the test on an error.
func write(t *testing.T, l *logs.Log, tab, record string, keyframe bool, after uint64) uint64 {
	t.Helper()
	sequence, err := l.Append(bounded(t), tab, []byte(record), keyframe, after)
	if err != nil {
		t.Fatal(err)
	}
	return sequence
}

// reader collects records. Records that begin with K are keyframes.
type reader struct {
	mu   sync.Mutex
	got  []string
	more chan struct{}
	// refuse is a record that can only be read directly after a keyframe.
	refuse string
}

func (r *reader) take(_ uint64, record []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if record[0] != 'K' && (len(r.got) == 0 || string(record) == r.refuse) {
		r.refuse = ""
		return logs.ErrRestart
	}
	r.got = append(r.got, string(record))
	select {
	case r.more <- struct{}{}:
	default:
	}
	return nil
}

// await waits until the reader has the given records.
func (r *reader) await(t *testing.T, want ...string) {
	t.Helper()
	ctx := bounded(t)
	for {
		r.mu.Lock()
		got := fmt.Sprint(r.got)
		r.mu.Unlock()
		if got == fmt.Sprint(want) {
			return
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			t.Fatalf("the reader has %s, want %v", got, want)
		}
	}
}

// follow starts a follower, which ends with the test.
func follow(t *testing.T, l *logs.Log, tab string, r *reader) *logs.Follower {
	t.Helper()
	r.more = make(chan struct{}, 1)
	f := l.Follow(tab, r.take)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the follower ended with %v", err)
		}
	})
	return f
}

func TestFollowersHaveEveryRecordFromTheKeyframeOn(t *testing.T) {
	l := open(t)
	at := write(t, l, "a", "K1", true, 0)
	at = write(t, l, "a", "d2", false, at)
	write(t, l, "b", "K of another tab", true, 0)
	at = write(t, l, "a", "K3", true, at)
	at = write(t, l, "a", "d4", false, at)
	var early, late reader
	follow(t, l, "a", &early)
	early.await(t, "K3", "d4")
	at = write(t, l, "a", "d5", false, at)
	early.await(t, "K3", "d4", "d5") // a keyframe replaces all records before it, so a reader that is behind may miss d5
	write(t, l, "a", "K6", true, at)
	early.await(t, "K3", "d4", "d5", "K6")
	follow(t, l, "a", &late)
	late.await(t, "K6")
}

func TestFollowersWaitForTheFirstRecord(t *testing.T) {
	l := open(t)
	var r reader
	f := follow(t, l, "a", &r)
	f.Known(1) // the record does not exist yet, which is not an error
	write(t, l, "a", "K1", true, 0)
	r.await(t, "K1")
}

func TestFollowersStartOverWhereARecordIsMissing(t *testing.T) {
	l := open(t)
	at := write(t, l, "a", "K1", true, 0)
	r := reader{refuse: "d2"}
	follow(t, l, "a", &r)
	r.await(t, "K1")
	write(t, l, "a", "d2", false, at)
	r.await(t, "K1", "K1", "d2")
}

func TestFollowersLeaveOutWhatNoKeyframeStandsBefore(t *testing.T) {
	l := open(t)
	at := write(t, l, "a", "d1", false, 0)
	at = write(t, l, "a", "d2", false, at)
	var r reader
	follow(t, l, "a", &r)
	write(t, l, "a", "K3", true, at)
	r.await(t, "K3")
}

func TestOneOfTwoOwnersAppends(t *testing.T) {
	l := open(t)
	at := write(t, l, "a", "K1", true, 0)
	write(t, l, "a", "K of the new owner", true, at)
	for _, keyframe := range []bool{false, true} {
		if _, err := l.Append(bounded(t), "a", []byte("stale"), keyframe, at); !errors.Is(err, registry.ErrConflict) {
			t.Errorf("keyframe %v: the stale owner appended: %v", keyframe, err)
		}
	}
	if _, last, err := l.Last(bounded(t), "a"); err != nil || string(last) != "K of the new owner" {
		t.Errorf("the last record is %q, %v", last, err)
	}
}

func TestLogsWithoutRecordsAndRecordsTooLarge(t *testing.T) {
	l := open(t)
	if _, _, err := l.Last(bounded(t), "a"); !errors.Is(err, logs.ErrGone) {
		t.Errorf("the last record of no log: %v", err)
	}
	if _, err := l.Append(bounded(t), "a", bytes.Repeat([]byte("x"), logs.MaxRecord+1), true, 0); !errors.Is(err, logs.ErrTooLarge) {
		t.Errorf("too large a record: %v", err)
	}
	at := write(t, l, "a", string(bytes.Repeat([]byte("x"), logs.MaxRecord)), true, 0)
	ctx := bounded(t)
	sequence, record, err := l.Last(ctx, "a")
	for errors.Is(err, registry.ErrUnavailable) && ctx.Err() == nil { // on a busy machine, it takes longer than the timeout of a request
		sequence, record, err = l.Last(ctx, "a")
	}
	if err != nil || sequence != at || len(record) != logs.MaxRecord {
		t.Errorf("the largest record: %d bytes, %v", len(record), err)
	}
}
