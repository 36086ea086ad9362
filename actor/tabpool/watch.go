package tabpool

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// watchBound is how many events a reader may be behind.
const watchBound = 256

// Watch is one reader of tab events.
type Watch struct {
	stop func()
	// session is the one whose tabs are watched; empty: all those that only lets pass.
	session string
	only    func(session string) bool

	mu     sync.Mutex
	queue  []actor.TabEvent
	bound  int
	err    error
	arrive chan struct{}
}

// watchers are the readers of tab events. The pool's lock guards the map; each reader has a lock of its own.
type watchers map[*Watch]struct{}

// send queues an event for the readers that see its session, and drops those that are too far behind.
func (ws watchers) send(e actor.TabEvent) {
	for w := range ws {
		if w.sees(e.Info.Session) && !w.add(e) {
			delete(ws, w)
		}
	}
}

// end ends all readers, once they have read what is queued.
func (ws watchers) end(why error) {
	for w := range ws {
		w.finish(why)
		delete(ws, w)
	}
}

// endSession ends the readers of one session, once they have read what is queued. It may be called while the session's
// tabs are still ending: the readers learn of the session's end, and not of each tab's.
func (ws watchers) endSession(session string, why error) {
	for w := range ws {
		if w.session == session {
			w.finish(why)
			delete(ws, w)
		}
	}
}

// Watch reads the events of all tabs. The first are a TabOpened for each tab that is open already,
// oldest first. The caller owes a Stop.
func (p *Pool) Watch() *Watch { return p.WatchSession("") }

// WatchSession is Watch for the tabs of one session; empty: all. It ends with an *Error of kind NotFound when the
// session is closed.
func (p *Pool) WatchSession(session string) *Watch {
	return (&Watch{session: session}).start(p)
}

// WatchSome is Watch for the tabs of those sessions for which only holds. It is called with the pool's lock held.
func (p *Pool) WatchSome(only func(session string) bool) *Watch {
	return (&Watch{only: only}).start(p)
}

// start begins to read the events of a pool.
func (w *Watch) start(p *Pool) *Watch {
	w.arrive, w.bound = make(chan struct{}, 1), watchBound
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.tabs {
		if t := m.Tab(); w.sees(t.Session()) {
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

// sees reports whether the reader gets the events of a session.
func (w *Watch) sees(session string) bool {
	return (w.session == "" || w.session == session) && (w.only == nil || w.only(session))
}

// Next returns the next event, waiting for it. After the last it fails with an *Error: Exhausted when
// the reader was too far behind, Lost when the pool was closed, Closed after Stop; or with the context's
// error.
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
			w.wake() // for others that wait
		}
		return actor.TabEvent{}, false, w.err
	}
	e = w.queue[0]
	w.queue[0] = actor.TabEvent{}
	w.queue = w.queue[1:]
	return e, true, nil
}

// add queues an event; false when the reader is too far behind, which ends it.
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

// finish ends the reader once the queue is read.
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
