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

// ErrFenced says that another node owns the session now: this one must not write to the logs of its tabs.
var ErrFenced = errors.New("another node owns the session of the tab")

// position is where a tab's log is.
type position struct {
	sequence, revision uint64
	epoch              string
}

// publisher writes one tab to its log: a keyframe, and then what changes. One record is on its way at a time; what changes meanwhile is
// merged into the next.
type publisher struct {
	tab    Tab
	log    Log
	logger *slog.Logger
	// allowed reports whether the node still holds its lease; it is asked before each record.
	allowed func() bool

	writer tablog.Writer
	// sequence is that of the log's newest record, deltas how many follow its keyframe, and written when that was written.
	sequence uint64
	deltas   int
	written  time.Time
	// noticed is the newest change of the tab's notices that was written.
	noticed uint64

	// ended is closed when run returns, and err is its error then.
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

// run publishes until ctx ends. Its error is ErrFenced, or logs.ErrTooLarge for a page that the log does not take.
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

// follow is run.
func (p *publisher) follow(ctx context.Context) error {
	if _, err := p.find(ctx, nil); err != nil {
		return err
	}
	p.noticed = p.tab.Head().Notices().Last() // what was noticed before is no news
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
			next = nil // it was the last one
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

// find finds the end of the log, which an earlier owner may have written, and reports whether a record is the newest one. It asks until
// the log answers.
func (p *publisher) find(ctx context.Context, sent []byte) (stored bool, err error) {
	for {
		sequence, record, err := p.log.Last(ctx, p.tab.ID())
		switch {
		case err == nil:
			token, err := tablog.TokenOf(record)
			if err == nil && token > p.writer.Token {
				return false, ErrFenced
			}
			p.sequence = sequence
			return sent != nil && bytes.Equal(record, sent), nil
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

// publish writes a head, as a keyframe when one is due or needed, and returns when it is in the log.
func (p *publisher) publish(ctx context.Context, head *actor.Head, keyframe bool) error {
	now := head.Published(p.noticed)
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
		// Somebody else wrote, the log was emptied, or nobody answered in time: then the record may be there.
		stored, err := p.find(ctx, record)
		if err != nil {
			return err
		}
		if stored {
			p.wrote(now, head, whole)
			return nil
		}
		keyframe = true // whatever stands there now, a keyframe may follow it
	}
}

// record makes the record of a state; whole says that it is a keyframe.
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

// wrote notes that a head is in the log.
func (p *publisher) wrote(now actor.Published, head *actor.Head, keyframe bool) {
	p.writer.Written(now)
	p.noticed = head.Notices().Last()
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

// position returns where the log is, and what is closed when it moves on.
func (p *publisher) position() (position, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.moved
}

// now returns the position of the log, and whether the tab's head is newer.
func (p *publisher) now() (at position, behind bool, err error) {
	if p.hasEnded() {
		return position{}, true, p.err
	}
	at, _ = p.position()
	return at, !at.has(p.tab.Head().Snapshot), nil
}

// has reports whether the log has a snapshot, or a later one of its epoch.
func (at position) has(s *dom.Snapshot) bool {
	return at.sequence > 0 && at.epoch == s.Epoch && at.revision >= s.Revision
}

// reaches returns the position of the log when it has what the tab's head is now, or a later one.
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

// pause waits before the log is asked again; it fails when ctx ends or the lease is over.
func (p *publisher) pause(ctx context.Context) error {
	if !p.allowed() {
		return ErrFenced
	}
	return retry.Pause(ctx, retryWait)
}
