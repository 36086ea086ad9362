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
	// maxPending is how many repeated records wait for a follower before the log is read instead.
	maxPending = 1024
	// retryWait is how long a follower waits before it asks a leader again that did not answer.
	retryWait = 250 * time.Millisecond
)

// ErrRestart is what those who take records return when they cannot go on without a keyframe.
var ErrRestart = errors.New("a record needs others that are missing")

// Follower follows the log of one tab. Make one with Log.Follow.
type Follower struct {
	log  *Log
	tab  string
	take func(sequence uint64, record []byte) error
	// last is the sequence of the newest record that was taken or left out. Run alone writes it.
	last atomic.Uint64
	// lost says that no record was taken yet, or that a keyframe is needed.
	lost bool
	// due is signalled when the log has to be read.
	due chan struct{}
}

// Follow returns a follower of a tab's log, which Run starts. It gives each record to take. When take returns ErrRestart, the follower
// reads the log from its beginning, and leaves out what take cannot start with.
func (l *Log) Follow(tab string, take func(sequence uint64, record []byte) error) *Follower {
	return &Follower{log: l, tab: tab, take: take, lost: true, due: make(chan struct{}, 1)}
}

// Known says that somebody knows of a record with a sequence: when the follower does not have it yet, it reads the log. It never
// blocks.
func (f *Follower) Known(sequence uint64) {
	if sequence <= f.last.Load() {
		return
	}
	select {
	case f.due <- struct{}{}:
	default:
	}
}

// Run follows the log until ctx ends, and returns its cause; or the error of take.
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

// deliver gives a record to take. It returns ErrRestart when the log is to be read from its beginning.
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

// catchUp reads the log behind the last record. A log without records is no error: they will come.
func (f *Follower) catchUp(ctx context.Context) error {
	select {
	case <-f.due: // what is read now is newer
	default:
	}
	for {
		m, err := f.log.next(ctx, f.tab, f.last.Load()+1)
		switch {
		case errors.Is(err, ErrGone):
			return nil
		case err == nil:
			// Whether records between are gone is for take to see: sequences count the records of all tabs.
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
