package replication

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/cluster/tablog"
	"github.com/domtap/domtap/internal/retry"
)

// ErrFenced means that another node owns the session now, and that this node must not write to the logs of its tabs.
var ErrFenced = errors.New("another node owns the session of the tab")

// position is the newest record and state in a tab's log.
type position struct {
	sequence, revision uint64
	epoch              string
}

// publisher writes one tab to its log: first a keyframe, then changes. One record is in flight at a time. Later changes are merged into the
// next record.
type publisher struct {
	tab    Tab
	log    Log
	logger *slog.Logger
	// allowed reports whether the node still holds its lease. It is called before each record.
	allowed func() bool

	writer tablog.Writer
	// sequence is the sequence number of the log's newest record. deltas counts the records after the last keyframe. written is the time of
	// that keyframe.
	sequence uint64
	deltas   int
	written  time.Time
	// lastNotice identifies the newest change to the tab's notices that was written.
	lastNotice uint64

	// ended is closed when run returns. err is then the error of run.
	ended chan struct{}
	err   error

	mu sync.Mutex
	at position
	// moved is closed when at changes.
	moved chan struct{}
}

func newPublisher(tab Tab, log Log, token uint64, allowed func() bool, logger *slog.Logger) *publisher {
	return &publisher{tab: tab, log: log, logger: logger, allowed: allowed, writer: tablog.Writer{Token: token}, ended: make(chan struct{}), moved: make(chan struct{})}
}

// run publishes until ctx ends. It returns ErrFenced if this node may no longer write, or logs.ErrTooLarge if a page is too large for the
// log.
func (p *publisher) run(ctx context.Context) error {
	defer close(p.ended)
	p.err = p.follow(ctx)
	return p.err
}

// hasEnded reports whether run has returned.
func (p *publisher) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// follow implements run.
func (p *publisher) follow(ctx context.Context) error {
	if _, err := p.find(ctx, nil); err != nil {
		return err
	}
	p.lastNotice = p.tab.Head().Notices().Last() // earlier notices are not published
	timer := time.NewTimer(maxInterval)
	defer timer.Stop()
	due := true
	for {
		head := p.tab.Head()
		if err := p.publish(ctx, head, due); err != nil {
			return err
		}
		due = false
		timer.Reset(time.Until(p.written.Add(maxInterval)))
		next := head.Next()
		if head.Info.Status == actor.StatusClosed {
			next = nil // this is the last head
		}
		select {
		case <-next:
		case <-timer.C:
			due = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// find looks up the end of the log, which an earlier owner may have written, and reports whether expected is the newest record. It retries
// until the log answers.
func (p *publisher) find(ctx context.Context, expected []byte) (stored bool, err error) {
	for {
		sequence, record, err := p.log.Last(ctx, p.tab.ID())
		switch {
		case err == nil:
			token, err := tablog.TokenOf(record)
			if err == nil && token > p.writer.Token {
				return false, ErrFenced
			}
			p.sequence = sequence
			return expected != nil && bytes.Equal(record, expected), nil
		case errors.Is(err, logs.ErrGone):
			p.sequence = 0
			return false, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
		p.logger.Debug("the log does not say where it ends", "tab", p.tab.ID(), "error", err)
		if err := p.pause(ctx); err != nil {
			return false, err
		}
	}
}

// publish writes a head and returns when it is in the log. It writes a keyframe if one is due or needed.
func (p *publisher) publish(ctx context.Context, head *actor.Head, keyframe bool) error {
	now := head.Published(p.lastNotice)
	keyframe = keyframe || p.deltas >= maxDeltas
	for {
		if !p.allowed() {
			return ErrFenced
		}
		record, whole, err := p.record(now, keyframe)
		if err != nil {
			return fmt.Errorf("publish tab %s: %w", p.tab.ID(), err)
		}
		sequence, err := p.log.Append(ctx, p.tab.ID(), record, whole, p.sequence)
		switch {
		case err == nil:
			p.sequence = sequence
			p.wrote(now, head, whole)
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, logs.ErrTooLarge):
			return err
		case errors.Is(err, registry.ErrUnavailable):
			p.logger.Debug("the log takes no record", "tab", p.tab.ID(), "error", err)
			if err := p.pause(ctx); err != nil {
				return err
			}
			continue
		}
		// Either another writer appended a record, the log was emptied, or the append timed out. After a timeout the record may have been
		// stored.
		stored, err := p.find(ctx, record)
		if err != nil {
			return err
		}
		if stored {
			p.wrote(now, head, whole)
			return nil
		}
		keyframe = true // a keyframe can follow any record
	}
}

// record returns the record of a state. whole reports whether it is a keyframe.
func (p *publisher) record(now actor.Published, keyframe bool) (record []byte, whole bool, err error) {
	if !keyframe {
		record, err = p.writer.Delta(now)
		if !errors.Is(err, tablog.ErrNoDelta) {
			return record, false, err
		}
	}
	record, err = p.writer.Keyframe(now)
	return record, true, err
}

// wrote updates the publisher after a head was stored in the log.
func (p *publisher) wrote(now actor.Published, head *actor.Head, keyframe bool) {
	p.writer.Written(now)
	p.lastNotice = head.Notices().Last()
	p.deltas++
	if keyframe {
		p.deltas, p.written = 0, time.Now()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = position{p.sequence, now.Snapshot.Revision, now.Snapshot.Epoch}
	close(p.moved)
	p.moved = make(chan struct{})
}

// position returns the position of the log and a channel that is closed when it changes.
func (p *publisher) position() (position, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.moved
}

// now returns the position of the log and whether the tab's head is newer.
func (p *publisher) now() (at position, behind bool, err error) {
	if p.hasEnded() {
		return position{}, true, p.err
	}
	at, _ = p.position()
	return at, !at.has(p.tab.Head().Snapshot), nil
}

// has reports whether the log has a snapshot or a later one of the same epoch.
func (at position) has(s *dom.Snapshot) bool {
	return at.sequence > 0 && at.epoch == s.Epoch && at.revision >= s.Revision
}

// reaches waits until the log has the tab's current head or a later one. It returns the position of the log.
func (p *publisher) reaches(ctx context.Context) (position, error) {
	want := p.tab.Head().Snapshot
	for {
		at, moved := p.position()
		now := p.tab.Head().Snapshot
		if now.Epoch != want.Epoch {
			want = now
		}
		if at.has(want) {
			return at, nil
		}
		select {
		case <-moved:
		case <-p.ended:
			return position{}, p.err
		case <-ctx.Done():
			return position{}, context.Cause(ctx)
		}
	}
}

// pause waits before the next request to the log. It fails if ctx ends or the lease has ended.
func (p *publisher) pause(ctx context.Context) error {
	if !p.allowed() {
		return ErrFenced
	}
	return retry.Pause(ctx, retryWait)
}
