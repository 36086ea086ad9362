package replay

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/server/tabview"
)

// playback is a recorded tab that plays for one stream.
type playback struct{ *actor.Replica }

// Watch does nothing, because a recording cannot report more than it contains.
func (playback) Watch(context.Context, actor.WatchOptions) (func(), error) { return func() {}, nil }

// Follow plays a tab from a moment, by default from the position, at a speed. It plays until the recording ends or stop is called. The
// returned source ends when the recording does.
func (p *Player) Follow(ctx context.Context, tab string, at *domtapv1.Moment, speed float64) (_ tabview.Source, stop func(), err error) {
	t, err := p.track(tab)
	if err != nil {
		return nil, nil, err
	}
	from, err := p.when(t, p.Moment(at))
	if err != nil {
		return nil, nil, err
	}
	if len(t.states) == 0 {
		return nil, nil, apierr.Unknown("moment", "the recording of tab %s has no states", tab)
	}
	from = max(from, t.states[0].at)
	cursor := t.file.Cursor(from)
	first, ahead, err := upTo(cursor, from)
	if err != nil {
		cursor.Close()
		return nil, nil, err
	}
	replica := actor.NewReplica(tab, first, actor.Options{})
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		defer cursor.Close()
		defer replica.End(nil)
		play(ctx, replica, cursor, ahead, from, speed)
	})
	return playback{replica}, func() {
		cancel()
		work.Wait()
	}, nil
}

// upTo reads the last state at or before a time, and the next state after it if there is one.
func upTo(c *recording.Cursor, at time.Duration) (state actor.Published, ahead *recording.Moment, err error) {
	found := false
	for {
		m, err := c.Next()
		switch {
		case err != nil && !found:
			return state, nil, apierr.Unknown("moment", "the recording cannot be read at that time: use another time")
		case err != nil:
			return state, nil, nil
		case m.State == nil:
		case m.At > at && found:
			return state, &m, nil
		default:
			state, found = *m.State, true
		}
	}
}

// play publishes the states after a time at their recorded pace, scaled by speed.
func play(ctx context.Context, to *actor.Replica, c *recording.Cursor, next *recording.Moment, from time.Duration, speed float64) {
	begun := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next != nil {
		timer.Reset(time.Until(begun.Add(time.Duration(float64(next.At-from) / speed))))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		to.Publish(*next.State)
		next = nil
		for next == nil {
			m, err := c.Next()
			if err != nil {
				return
			}
			if m.State != nil {
				next = &m
			}
		}
	}
}
