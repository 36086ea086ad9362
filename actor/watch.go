package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/internal/notices"
	"github.com/domtap/domtap/actor/internal/observation"
)

// followBound limits how long reading the page for its followers may take.
const followBound = 10 * time.Second

// WatchOptions selects what the page reports for a watch.
type WatchOptions = observation.Options

// Network is the state of a page's requests. It is known only while a watch requests it.
type Network = observation.Network

// Notices lists what a person would notice on a page; see package notices.
type Notices = notices.List

// Watch makes the page push its changes, so that the head follows them, until release is called. It returns when the head is up to date,
// with the errors of Read. Release may be called more than once and never blocks.
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

// Following is the result of one Follow.
type Following struct {
	tab    *Tab
	watch  *observation.Watch
	number uint64
}

// Follow is like Watch, but needs no turn. It returns immediately. When the tab's loop is idle, it subscribes to the page's changes and
// reads the page once for all new followers, so any number of them may start concurrently. If the page cannot be read, because of a dialog
// or a script that does not end, the read is deferred. The caller follows the heads and must call Release. Follow fails with an
// *apierr.Error of kind Exhausted if the page already evaluates too many selectors.
func (t *Tab) Follow(o WatchOptions) (*Following, error) {
	if t.past != nil {
		return recorded{t}.follow(o), nil
	}
	one := observation.NewWatch(o)
	number, ok := t.watches.Follow(one)
	if !ok {
		const most = observation.MaxSelectors
		return nil, apierr.Exceeded("selectors", most, "tab %s has %d selectors that calls wait for, which is the limit: wait until one of these calls returns, then try again", t.id, most)
	}
	return &Following{tab: t, watch: one, number: number}, nil
}

// CaughtUp reports whether h was published after the page was read for this Following.
func (f *Following) CaughtUp(h *Head) bool { return h.view.CaughtUp >= f.number }

// Release ends the Following. It may be called more than once and never blocks.
func (f *Following) Release() { f.tab.watches.Release(f.watch) }
