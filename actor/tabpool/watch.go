package tabpool

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// watchBound limits how many events a reader may be behind.
const watchBound = 256

// Watch is a reader of tab events.
type Watch struct {
	stop func()
	// session is the session to watch. If empty, include selects the sessions.
	session string
	include func(session string) bool

	mu     sync.Mutex
	queue  []actor.TabEvent
	bound  int
	err    error
	arrive chan struct{}
}

// watchers holds the readers of tab events. The pool's lock guards the map; each reader has its own lock.
type watchers map[*Watch]struct{}

// send queues an event for the readers of its session, and removes readers that are too far behind.
func (ws watchers) send(e actor.TabEvent) {
	for w := range ws {
		if w.includes(e.Info.Session) && !w.add(e) {
			delete(ws, w)
		}
	}
}

// end ends all readers, once they have read the queued events.
func (ws watchers) end(why error) {
	for w := range ws {
		w.finish(why)
		delete(ws, w)
	}
}

// endSession ends the readers of one session, once they have read the queued events. It may be called while the session's tabs are still
// ending. The readers then learn of the session's end, but not of the end of each tab.
func (ws watchers) endSession(session string, why error) {
	for w := range ws {
		if w.session == session {
			w.finish(why)
			delete(ws, w)
		}
	}
}

// Watch returns a reader of the events of all tabs. It starts with a TabOpened event for each open tab, oldest first. The caller must call
// Stop.
func (p *Pool) Watch() *Watch { return p.WatchSession("") }

// WatchSession works like Watch, but only for the tabs of one session. If session is empty, it includes all tabs. The reader ends with an
// *Error of kind NotFound when the session is closed.
func (p *Pool) WatchSession(session string) *Watch {
	return (&Watch{session: session}).start(p)
}

// WatchSome works like Watch, but only for the tabs of the sessions for which include returns true. The function is called with the pool's
// lock held.
func (p *Pool) WatchSome(include func(session string) bool) *Watch {
	return (&Watch{include: include}).start(p)
}

// start starts to read the events of a pool.
func (w *Watch) start(p *Pool) *Watch {
	w.arrive, w.bound = make(chan struct{}, 1), watchBound
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.tabs {
		if t := m.Tab(); w.includes(t.Session()) {
			w.queue = append(w.queue, actor.TabEvent{Kind: actor.TabOpened, Info: t.Info(), At: time.Now()})
		}
	}
	w.bound += len(w.queue)
	w.stop = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, w)
	}
	if p.slots.closed || p.lost != nil && len(p.tabs) == 0 {
		w.finish(p.lost)
	} else {
		p.watchers[w] = struct{}{}
	}
	return w
}

// includes reports whether the reader gets the events of a session.
func (w *Watch) includes(session string) bool {
	return (w.session == "" || w.session == session) && (w.include == nil || w.include(session))
}

// Next waits for the next event and returns it. After the last event it fails with an *Error of kind Exhausted if the reader was too far
// behind, Lost if the pool was closed, or Closed after Stop. It fails with the context's error if ctx ends.
func (w *Watch) Next(ctx context.Context) (actor.TabEvent, error) {
	for {
		if e, ok, err := w.take(); ok || err != nil {
			return e, err
		}
		select {
		case <-w.arrive:
		case <-ctx.Done():
			return actor.TabEvent{}, ctx.Err()
		}
	}
}

// Stop ends the reader. It may be called more than once, and while Next waits.
func (w *Watch) Stop() {
	w.stop()
	w.mu.Lock()
	w.queue = nil
	w.mu.Unlock()
	w.finish(apierr.Errorf(apierr.Closed, "the watch was stopped"))
}

func (w *Watch) take() (e actor.TabEvent, ok bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		if w.err != nil {
			w.wake() // wakes other waiting calls
		}
		return actor.TabEvent{}, false, w.err
	}
	e = w.queue[0]
	w.queue[0] = actor.TabEvent{}
	w.queue = w.queue[1:]
	return e, true, nil
}

// add queues an event. It ends the reader and returns false if the reader is too far behind.
func (w *Watch) add(e actor.TabEvent) bool {
	w.mu.Lock()
	full := len(w.queue) >= w.bound
	if !full {
		w.queue = append(w.queue, e)
		w.wake()
	}
	w.mu.Unlock()
	if full {
		w.finish(apierr.Exceeded("tab_events", watchBound, "the reader is %d tab events behind: start the watch again", watchBound))
	}
	return !full
}

// finish ends the reader once the queued events are read.
func (w *Watch) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.wake()
}

func (w *Watch) wake() {
	select {
	case w.arrive <- struct{}{}:
	default:
	}
}
