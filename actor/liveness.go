package actor

import (
	"context"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

const (
	// pulse is how long after one answer the page is asked for the next sign of life while it is acted on.
	pulse = 250 * time.Millisecond
	// hangBound is how long it may take to give that, and newDocumentBound how long a document that an action led to may:
	// it may be busy with its first scripts.
	hangBound        = 2 * time.Second
	newDocumentBound = 5 * time.Second
	// readShare is how many times as long as the last read of the page it may take besides: while the page is read, it does
	// not answer anything else.
	readShare = 4
)

// Liveness watches over the page while a turn acts on it: an action whose page stops answering is told so at once, whatever time
// its caller has. Only the tab's goroutine touches it.
type Liveness struct {
	t *loop
	// signs is nil while no turn acts.
	signs *signs
	// hung says that the page stopped answering since the turn began to act.
	hung bool
	// commits is the count of the documents when the action began.
	commits int
	// read is how long the page took to be read last, by its own account.
	read time.Duration
}

// signs is what is known of the page's signs of life.
type signs struct {
	mu sync.Mutex
	// bound is how long each may take; 0: none is expected.
	bound time.Duration
	// period counts what makes the one that is under way say nothing, such as another document.
	period int
	missed bool
}

// begin starts a period.
func (s *signs) begin(bound time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound, s.missed = bound, false
	s.period++
}

func (s *signs) now() (bound time.Duration, period int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound, s.period
}

// tell notes whether a sign was missed that was expected in a period; false: in another one.
func (s *signs) tell(period int, missed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == period {
		s.missed = missed
	}
	return s.missed
}

// Watch begins to watch over the page, until the returned function is called.
func (l *Liveness) Watch() (end func()) {
	t := l.t
	one := &signs{}
	l.signs, l.hung = one, false
	l.Begin()
	page := t.page()
	ctx, cancel := context.WithCancel(t.ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for pauseFor(ctx, pulse) {
			bound, period := one.now()
			if bound > 0 && one.tell(period, !lives(ctx, page, bound)) {
				t.requestPublish()
			}
		}
	})
	return func() {
		cancel()
		watcher.Wait()
		l.signs, l.hung = nil, false
	}
}

// Begin says that an action begins.
func (l *Liveness) Begin() {
	l.commits = l.t.commits()
	l.expect()
}

// expect begins to expect signs of life anew: of another document, or when a dialog is gone. It does nothing while no turn acts.
func (l *Liveness) expect() {
	if l.signs == nil {
		return
	}
	bound := hangBound + readShare*min(l.read, hangBound)
	if l.t.commits() != l.commits {
		bound = max(bound, newDocumentBound)
	}
	l.signs.begin(bound)
}

// Suspend runs work that leads to another document, which need not answer meanwhile.
func (l *Liveness) Suspend(work func() error) error {
	one := l.signs
	if one == nil {
		return work()
	}
	l.signs = nil
	one.begin(0)
	defer func() {
		l.signs = one
		l.Begin()
	}()
	return work()
}

// pauseFor waits for a time; false: ctx has ended.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// lives reports whether the page gives a sign of life within a bound. An error is one, too: the page is being replaced, or is gone.
func lives(ctx context.Context, page driver.Page, bound time.Duration) bool {
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return page.Ping(bounded) == nil || bounded.Err() == nil || ctx.Err() != nil
}

// Silent reports whether the page does not answer while it is acted on. Behind a dialog it cannot.
func (l *Liveness) Silent() bool {
	one := l.signs
	if one == nil || l.t.dialogs.Open() != nil {
		return false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.missed
}

// Stop notes that the page hangs and returns the error of what it was to do.
func (l *Liveness) Stop() error {
	if !l.hung {
		l.t.log.Info("the page stopped answering while it was acted on")
	}
	l.hung = true
	l.t.health.Hangs()
	l.t.prober.suspect()
	return l.silence("the page of tab "+l.t.id+" stopped answering", "")
}

// silence makes an error of a page that does not answer; more says what of an action was done.
func (l *Liveness) silence(what, more string) error {
	return &apierr.Error{Kind: apierr.Unresponsive, Message: what + more + ": wait until GetTab says READY and read the page, or navigate the tab elsewhere"}
}

// During says of the error of a page that stopped answering when it did so.
func (l *Liveness) During(err error, what, more string) error {
	if !apierr.Is(err, apierr.Unresponsive) || !l.hung { // it may be a frame alone that hangs
		return err
	}
	return l.silence("the page of tab "+l.t.id+" stopped answering "+what, more)
}

// Hung reports whether the page stopped answering since the call began to act.
func (l *Liveness) Hung() bool { return l.hung }
