package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/notices"
	"github.com/domtap/domtap/actor/internal/observation"
)

// followBound is how long the page may take to be read for those who follow it.
const followBound = 10 * time.Second

// WatchOptions says what a watch needs the page to report.
type WatchOptions = observation.Options

// Network is what is known of a page's requests, while somebody asks.
type Network = observation.Network

// Notices is what a person would notice on a page; see package notices.
type Notices = notices.List

// Watch lets the page push its changes, so that the head follows them, until release is called. It
// returns when the head is up to date. Release may be called more than once and never blocks. Errors
// are those of Read.
func (t *Tab) Watch(ctx context.Context, o WatchOptions) (release func(), err error) {
	if t.past != nil {
		return func() {}, nil
	}
	one := observation.NewWatch(o)
	release = func() { t.watches.Release(one) }
	_, err = shareTurn(ctx, t, "watch", &t.beginnings, one, func(ctx context.Context, x *Exclusive, all []*observation.Watch) (struct{}, error) {
		t.watches.Add(all...)
		err := x.Subscribe(ctx)
		if err == nil {
			_, err = x.Read(ctx, ReadOptions{})
		}
		return struct{}{}, err
	})
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Following is one Follow.
type Following struct {
	tab    *Tab
	watch  *observation.Watch
	number uint64
}

// Follow is Watch without a turn of its own: it returns at once, and the tab's loop lets the page push and
// reads it when it is idle, once for all that asked by then; so any number may begin at the same time. While the
// page cannot be read, because of a dialog or a script that does not end, that is put off. The caller follows
// the heads and owes a Release. It fails with an *apierr.Error of kind Exhausted when the page evaluates too many
// selectors already.
func (t *Tab) Follow(o WatchOptions) (*Following, error) {
	if t.past != nil {
		return recorded{t}.follow(o), nil
	}
	one := observation.NewWatch(o)
	number, ok := t.watches.Follow(one)
	if !ok {
		const most = observation.MaxSelectors
		return nil, apierr.Exceeded("selectors", most, "tab %s has %d selectors that somebody waits for: wait for one to be met, then try again", t.id, most)
	}
	return &Following{tab: t, watch: one, number: number}, nil
}

// CaughtUp reports whether a head was published after the page was read for this Following.
func (f *Following) CaughtUp(h *Head) bool { return h.view.CaughtUp >= f.number }

// Release ends it. It may be called more than once and never blocks.
func (f *Following) Release() { f.tab.watches.Release(f.watch) }
