package logs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/retry"
)

const (
	// maxPending limits how many republished records wait for a follower before it reads the log instead.
	maxPending = 1024
	// retryWait is the delay before a follower retries a request that the leader did not answer.
	retryWait = 250 * time.Millisecond
)

// ErrRestart is returned by the take function when it needs a keyframe to continue.
var ErrRestart = errors.New("a record needs others that are missing")

// Follower follows the log of one tab. Log.Follow creates one.
type Follower struct {
	log  *Log
	tab  string
	take func(sequence uint64, record []byte) error
	// last is the sequence of the newest record that was delivered or skipped. Only Run writes it.
	last atomic.Uint64
	// lost reports that no record was delivered yet or that a keyframe is needed.
	lost bool
	// due is signaled when the log has to be read.
	due chan struct{}
}

// Follow returns a follower of a tab's log; call Run to start it. The follower passes each record to take. If take returns ErrRestart, the
// follower reads the log from its beginning and skips the records that take cannot start with.
func (l *Log) Follow(tab string, take func(sequence uint64, record []byte) error) *Follower {
	return &Follower{log: l, tab: tab, take: take, lost: true, due: make(chan struct{}, 1)}
}

// Known reports that a record with the given sequence exists. If the follower does not have it yet, it reads the log. Known never blocks.
func (f *Follower) Known(sequence uint64) {
	if sequence <= f.last.Load() {
		return
	}
	select {
	case f.due <- struct{}{}:
	default:
	}
}

// Run follows the log until ctx ends and returns its cause, or until take returns an error other than ErrRestart.
func (f *Follower) Run(ctx context.Context) error {
	arrived := make(chan *nats.Msg, maxPending)
	sub, err := f.log.conn.ChanSubscribe(live+f.tab, arrived)
	if err != nil {
		return fmt.Errorf("follow the log of tab %s: %w", f.tab, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := f.log.flush(ctx); err != nil && ctx.Err() == nil {
		f.log.logger.Debug("the server does not answer", "tab", f.tab, "error", err)
	}
	if err := f.catchUp(ctx); err != nil {
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case m := <-arrived:
			sequence, before, ok := sequences(m)
			switch last := f.last.Load(); {
			case ok && sequence <= last:
				continue
			case ok && before == last && last > 0:
				err = f.deliver(sequence, m.Data)
			default:
				err = f.catchUp(ctx)
			}
		case <-f.due:
			err = f.catchUp(ctx)
		}
		if errors.Is(err, ErrRestart) {
			err = f.catchUp(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// deliver passes a record to take. It returns ErrRestart if the log has to be read from its beginning.
func (f *Follower) deliver(sequence uint64, record []byte) error {
	err := f.take(sequence, record)
	switch {
	case err == nil:
		f.lost = false
	case !errors.Is(err, ErrRestart):
		return err
	case !f.lost:
		f.lost = true
		f.last.Store(0)
		return ErrRestart
	}
	f.last.Store(sequence)
	return nil
}

// catchUp reads the records after the last one. An empty log is not an error, because records will follow.
func (f *Follower) catchUp(ctx context.Context) error {
	select {
	case <-f.due: // the read below is newer than the signal
	default:
	}
	for {
		m, err := f.log.next(ctx, f.tab, f.last.Load()+1)
		switch {
		case errors.Is(err, ErrGone):
			return nil
		case err == nil:
			// Only take can detect gaps, because sequences count the records of all tabs.
			if err = f.deliver(m.Sequence, m.Data); err != nil && !errors.Is(err, ErrRestart) {
				return err
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, registry.ErrUnavailable):
			f.log.logger.Debug("the log cannot be read", "tab", f.tab, "error", err)
			if err := retry.Pause(ctx, retryWait); err != nil {
				return err
			}
		default:
			return err
		}
	}
}
