package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// probeBound is how long a page may take to answer before it counts as unresponsive.
const probeBound = 2 * time.Second

// errStopped ends a page call that has no more to say.
var errStopped = errors.New("the call was stopped")

// command is a call that waits in the mailbox.
type command struct {
	// ctx is the caller's.
	ctx context.Context
	run func(ctx context.Context, x *Exclusive)
}

// Tracer takes turns of tabs, to be traced. Its methods are called from many goroutines and must not wait.
type Tracer interface {
	// Turn says that a call of a tab waits for its turn; begun is called when that begins, unless the call ended before, and end when the
	// call has ended. There are few kinds of turns. The context is the caller's.
	Turn(ctx context.Context, what, tab string) (begun func(), end func(error))
}

// Command says what a call of Do is.
type Command struct {
	// Name is what errors and traces call it. There are few.
	Name string
	// ReadOnly says that the call leaves the page as it is. What was read before any other call is no longer served to those
	// whom an older answer would do (ReadOptions.MaxAge).
	ReadOnly bool
	// Leaves says that the call navigates the tab elsewhere: a query that the page does not answer makes way for it.
	Leaves bool
	// URL is where the call navigates to, if that is known: the URL policy is asked before the call waits.
	URL string
}

// Do runs work on the tab's goroutine, while nothing else acts on the tab. It returns when work has, when ctx ends, or when the
// tab ends. Work's context is the tab's, also ended by the caller's.
func Do[T any](ctx context.Context, t *Tab, c Command, work func(ctx context.Context, x *Exclusive) (T, error)) (T, error) {
	var none T
	if c.URL != "" {
		if err := t.policy.allow(c.URL); err != nil {
			return none, err
		}
	}
	if c.Leaves {
		t.leavers.Add(1)
		begun := sync.OnceFunc(func() { t.leavers.Add(-1) })
		defer begun()
		t.stir()
		work = after(begun, work)
	}
	if t.tracer == nil {
		return enqueue(ctx, t, c, work)
	}
	begun, end := t.tracer.Turn(ctx, c.Name, t.id)
	value, err := enqueue(ctx, t, c, after(begun, work))
	end(err)
	return value, err
}

// after is work that calls first before it begins.
func after[T any](first func(), work func(context.Context, *Exclusive) (T, error)) func(context.Context, *Exclusive) (T, error) {
	return func(ctx context.Context, x *Exclusive) (T, error) {
		first()
		return work(ctx, x)
	}
}

// enqueue puts work into the mailbox and waits for it.
func enqueue[T any](ctx context.Context, t *Tab, c Command, work func(ctx context.Context, x *Exclusive) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	answers := make(chan answer, 1)
	generation := t.back.turn.Load()
	queued := command{ctx: ctx, run: func(ctx context.Context, x *Exclusive) {
		if err := t.here(generation); err != nil {
			answers <- answer{err: err}
			return
		}
		if !c.ReadOnly {
			t.lastRead.Store(nil)
		}
		value, err := work(ctx, x)
		if gone := t.here(generation); err != nil && gone != nil && ctx.Err() == nil {
			err = gone // whatever the call ran into
		}
		answers <- answer{value, err}
	}}
	if t.ctx.Err() != nil {
		return none, t.ended()
	}
	if err := ctx.Err(); err != nil {
		return none, t.explain(ctx, c.Name, err)
	}
	if err := t.here(generation); err != nil {
		return none, err
	}
	select {
	case t.mailbox <- queued:
	default:
		return none, apierr.Exceeded("mailbox", cap(t.mailbox), "tab %s has %d calls waiting: wait for one to end, then try again, or raise --mailbox", t.id, cap(t.mailbox))
	}
	select {
	case a := <-answers:
		return a.value, t.explain(ctx, c.Name, a.err)
	case <-ctx.Done():
		return none, t.explain(ctx, c.Name, ctx.Err())
	case <-t.done:
		return none, t.ended()
	}
}

// explain turns what ended a call into what its caller is told.
func (t *Tab) explain(ctx context.Context, what string, err error) error {
	var e *apierr.Error
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return t.ended()
	case errors.As(err, &e):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, ErrTimeUp):
		return fmt.Errorf("%s on tab %s was not done in time; the tab stays usable: try again with more time, navigate elsewhere or close it: %w",
			what, t.id, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return fmt.Errorf("%s on tab %s was cancelled: %w", what, t.id, ctx.Err())
	}
	return fmt.Errorf("%s on tab %s: %w", what, t.id, err)
}

// execute runs a command. Its context is the tab's, also ended by the caller's.
func (t *Tab) execute(c command) {
	if c.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.ctx, func() { cancel(c.ctx.Err()) })
	defer stop()
	if deadline, ok := c.ctx.Deadline(); ok {
		var release context.CancelFunc
		ctx, release = context.WithDeadline(ctx, deadline)
		defer release()
	}
	t.exclusive(func(x *Exclusive) { c.run(ctx, x) })
}

// exclusive runs work as the one call that has the tab.
func (t *Tab) exclusive(work func(x *Exclusive)) {
	if t.turn != nil {
		panic("actor: a call began within another one")
	}
	t.turn = &Exclusive{t}
	defer func() { t.turn = nil }()
	work(t.turn)
}

// step waits for one thing to happen and handles it; the caller publishes. It returns false when done
// is closed or ctx has ended. Only an idle tab takes commands.
func (t *Tab) step(ctx context.Context, done <-chan struct{}, idle bool) bool {
	var mailbox <-chan command
	var changed <-chan struct{}
	var fetched <-chan fetched
	if idle {
		mailbox, changed, fetched = t.mailbox, t.watches.changed, t.back.fetched
	}
	select {
	case <-done:
		return false
	case <-ctx.Done():
		return false
	case e, ok := <-t.events:
		t.wake(idle)
		t.receive(e, ok)
	case alive := <-t.probed:
		t.wake(idle)
		t.answered(alive)
	case id := <-t.popups:
		t.opened(id)
	case c := <-mailbox:
		t.wake(idle)
		t.execute(c)
		t.locate()
	case <-changed:
		t.wake(idle)
		t.exclusive(func(*Exclusive) { t.attend() })
	case w := <-t.located:
		t.found(w)
	case <-t.stirred: // there is something to publish
	case f := <-fetched:
		t.wake(idle)
		t.exclusive(func(*Exclusive) { t.takeUp(f) })
	}
	return true
}

// await handles what happens until a condition holds. It fails with the condition's error or with the
// cause of the context's end.
func (t *Tab) await(ctx context.Context, until func() (bool, error)) error {
	for {
		if met, err := until(); met || err != nil {
			return err
		}
		if !t.step(ctx, nil, false) {
			return context.Cause(ctx)
		}
		t.publish()
	}
}

// call runs a call to the page beside the tab's goroutine, which goes on handling what happens. It
// fails when the call does, when ctx ends, when the renderer crashes, or when stop, if any, gives an
// error; but what the page did answer in the end counts. It always waits until work has returned, so
// that work may write to the caller's variables.
func (t *Tab) call(ctx context.Context, stop func() error, work func(ctx context.Context) error) error {
	if stop != nil {
		if err := stop(); err != nil {
			return err // there already
		}
	}
	if t.liveness.hung {
		return t.liveness.Stop()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = work(inner)
	}()
	stopped := t.beside(ctx, done, stop)
	cancel()
	for t.step(context.WithoutCancel(ctx), done, false) {
		t.publish()
	}
	switch {
	case err == nil:
		return nil
	case stopped != nil:
		return stopped
	case ctx.Err() != nil:
		t.suspect()
		return context.Cause(ctx)
	}
	return err
}

// beside handles what happens until a call is done, and returns why the call must end before; nil when it is done, or ctx has ended.
func (t *Tab) beside(ctx context.Context, done <-chan struct{}, stop func() error) (stopped error) {
	crashes := t.crashes
	for stopped == nil && t.step(ctx, done, false) {
		t.publish()
		if t.crashes != crashes {
			stopped = t.crash()
		} else if stop != nil {
			stopped = stop()
		}
		if stopped == nil && t.liveness.Silent() {
			stopped = t.liveness.Stop()
		}
	}
	return stopped
}

// crash is the error of a call on a page whose renderer is gone.
func (t *Tab) crash() error {
	if t.info.Why != "" {
		return Info{ID: t.id, Status: StatusCrashed, Why: t.info.Why}.Gone("try")
	}
	return apierr.Errorf(apierr.Lost, "the renderer of tab %s crashed: navigate or reload, the tab starts anew", t.id)
}

// suspect finds out, beside everything else, whether the page still answers.
func (t *Tab) suspect() {
	if t.probed != nil || t.crashed || t.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	results := make(chan bool)
	t.probed, t.calm = results, cancel
	t.children.Go(func() {
		defer cancel()
		t.probe(ctx, results)
	})
}

// probe asks until the page answers, less and less often.
func (t *Tab) probe(ctx context.Context, results chan<- bool) {
	for bound := probeBound; ; bound = min(2*bound, time.Minute) {
		bounded, cancel := context.WithTimeout(ctx, bound)
		err := t.page().Ping(bounded)
		if err != nil {
			<-bounded.Done()
		}
		cancel()
		select {
		case results <- err == nil:
		case <-ctx.Done():
			return
		}
		if err == nil {
			return
		}
	}
}

// answered takes what a probe found. A page behind a dialog cannot answer, and is not to blame.
func (t *Tab) answered(alive bool) {
	if alive {
		t.alive()
		return
	}
	t.unresponsive = !t.crashed && t.info.Dialog == nil
}

// alive says that the page has shown life.
func (t *Tab) alive() {
	t.unresponsive = false
	if t.probed != nil {
		t.calm()
		t.probed, t.calm = nil, nil
		t.catchUp()
	}
}
