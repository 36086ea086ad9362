package replication

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
	"github.com/domtap/domtap/internal/cluster/logs"
	"github.com/domtap/domtap/internal/cluster/tablog"
)

// Follower follows a log. *logs.Follower implements it.
type Follower interface {
	Run(ctx context.Context) error
	Known(sequence uint64)
}

// Transport connects a copy to the owner of its tab and to the tab's log.
type Transport interface {
	// Ask sends an encoded InterestRequest to a node and returns the encoded InterestReply.
	Ask(ctx context.Context, node string, request []byte) ([]byte, error)
	// Follow follows the log of a tab; see logs.Log.Follow.
	Follow(tab string, take func(sequence uint64, record []byte) error) Follower
}

// Replicas holds this node's copies of other nodes' tabs. Its methods are safe for concurrent use.
type Replicas struct {
	node      string
	transport Transport
	logger    *slog.Logger
	// started counts the copies, so that each has a unique name.
	started atomic.Uint64
	running context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	copies map[string]*Copy
}

// NewReplicas returns a Replicas without copies. All later copies end with ctx. node must be unique to this incarnation of the node.
func NewReplicas(ctx context.Context, node string, transport Transport, logger *slog.Logger) *Replicas {
	r := &Replicas{node: node, transport: transport, logger: logger, copies: map[string]*Copy{}}
	r.running, r.end = context.WithCancel(ctx)
	return r
}

// Close ends all copies and returns when no goroutine is left.
func (r *Replicas) Close() {
	r.end()
	r.work.Wait()
}

// Len returns the number of copies.
func (r *Replicas) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.copies)
}

// Open returns the copy of a tab that another node owns. The copy ends when all its users have called release. An error means that the tab
// cannot be followed through its log; a call to the owner returns the reason. release may be called more than once.
func (r *Replicas) Open(ctx context.Context, tab, owner string) (c *Copy, release func(), err error) {
	r.mu.Lock()
	c = r.copies[tab]
	if c == nil || c.owner != owner || c.replica() != nil && isClosed(c.replica().Done()) {
		if r.running.Err() != nil {
			r.mu.Unlock()
			return nil, nil, errors.New("the node is ending")
		}
		c = r.start(tab, owner)
	}
	c.users++
	r.mu.Unlock()
	release = sync.OnceFunc(func() { r.release(c) })
	select {
	case <-c.ready:
		if c.failed != nil {
			release()
			return nil, nil, c.failed
		}
		return c, release, nil
	case <-ctx.Done():
		release()
		return nil, nil, context.Cause(ctx)
	}
}

// start starts a copy. The caller holds the lock.
func (r *Replicas) start(tab, owner string) *Copy {
	c := &Copy{
		id: tab, owner: owner, name: fmt.Sprintf("%s/%d", r.node, r.started.Add(1)), transport: r.transport, logger: r.logger,
		ready: make(chan struct{}), moved: make(chan struct{}), held: map[*actor.WatchOptions]struct{}{},
		questions: questions{wanted: make(chan struct{}, 1)},
	}
	ctx, end := context.WithCancelCause(r.running)
	c.end = end
	r.copies[tab] = c
	r.work.Go(func() {
		c.run(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.copies[tab] == c {
			delete(r.copies, tab)
		}
	})
	return c
}

// release removes one user of a copy. It ends the copy with the last user.
func (r *Replicas) release(c *Copy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	c.end(errUnused)
	if r.copies[c.id] == c {
		delete(r.copies, c.id)
	}
}

// errUnused means that a copy has no users left.
var errUnused = errors.New("the tab has no more followers")

// Copy is a copy of a tab of another node. It can be followed like a tab.
type Copy struct {
	id, owner, name string
	transport       Transport
	logger          *slog.Logger
	end             context.CancelCauseFunc
	// users counts the users that have opened the copy. The lock of Replicas guards it.
	users int
	// ready is closed when the copy has a state, or when failed is set because it never will.
	ready  chan struct{}
	failed error

	// log follows the tab's log. reader is used only by the goroutine that runs log.
	reader tablog.Reader
	log    Follower

	mu sync.Mutex
	// heads is the replica. It is nil until the first record.
	heads *actor.Replica
	// applied is the sequence number of the copy's newest record. moved is closed and replaced when applied changes.
	applied uint64
	moved   chan struct{}
	// asked counts the requests to the owner. known is the newest answer that determines the copy's age.
	asked uint64
	known freshness
	// strange counts consecutive answers that may belong to another log than the copy's.
	strange int
	// held contains the options of all watchers.
	held map[*actor.WatchOptions]struct{}
	questions
}

// replica returns heads. It returns nil until the first record.
func (c *Copy) replica() *actor.Replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads
}

// ID returns the tab's id.
func (c *Copy) ID() string { return c.id }

// Head returns the newest state.
func (c *Copy) Head() *actor.Head { return c.replica().Head() }

// Done returns a channel that is closed when the copy has ended.
func (c *Copy) Done() <-chan struct{} { return c.replica().Done() }

// Err returns the reason why the copy ended, once Done is closed. It returns nil if the tab was closed.
func (c *Copy) Err() error { return c.replica().Err() }

// Watch makes the owner's page report what the options select until release is called. It returns when the copy has the page's state at the
// time of the call, or a later one. Copies ignore Selectors and Network.
func (c *Copy) Watch(ctx context.Context, o actor.WatchOptions) (release func(), err error) {
	one := &o
	c.mu.Lock()
	c.held[one] = struct{}{}
	c.mu.Unlock()
	release = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, one)
	}
	reply, err := c.join(ctx)
	if err == nil {
		err = c.awaitSequence(ctx, reply.GetSequence())
	}
	if err != nil {
		release()
		return nil, c.explain(err)
	}
	return release, nil
}

// explain converts the error of a watch for clients.
func (c *Copy) explain(err error) error {
	if _, ok := errors.AsType[*apierr.Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return c.lost(err)
}

// lostError hides its cause from clients. The cause names processes and subjects, and may be a deadline that is not the client's.
type lostError struct {
	told  *apierr.Error
	cause error
}

func (e *lostError) Error() string { return e.told.Error() }

// Unwrap returns the client's error.
func (e *lostError) Unwrap() error { return e.told }

// Is reports whether the cause matches target. It returns false for context errors, because these would change the status code.
func (e *lostError) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && errors.Is(e.cause, target)
}

// lost returns the error for followers of a copy that cannot be kept up to date.
func (c *Copy) lost(err error) error {
	node, _, _ := strings.Cut(c.owner, ".") // the incarnation is of no use to clients
	return &lostError{apierr.Errorf(apierr.Lost, "node %s, which has tab %s, does not answer: start the watch again from the last revision that was applied", node, c.id), err}
}

// ask requests from the owner what all watchers need.
func (c *Copy) ask(ctx context.Context, r *clusterv1.InterestRequest) (*clusterv1.InterestReply, error) {
	r.TabId, r.Replica = c.id, c.name
	c.mu.Lock()
	c.asked++
	r.Order = c.asked
	for o := range c.held {
		r.Structural, r.Geometry, r.Notices = r.GetStructural() || o.Structural, r.GetGeometry() || o.Geometry, r.GetNotices() || o.Notices
		r.Attributes = append(r.Attributes, o.Attributes...)
	}
	c.mu.Unlock()
	slices.Sort(r.Attributes)
	r.Attributes = slices.Compact(r.Attributes)
	request, err := proto.Marshal(r)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	answer, err := c.transport.Ask(ctx, c.owner, request)
	if err != nil {
		return nil, fmt.Errorf("ask node %s for tab %s: %w", c.owner, c.id, err)
	}
	reply := new(clusterv1.InterestReply)
	if err := proto.Unmarshal(answer, reply); err != nil {
		return nil, err
	}
	if reply.GetError() != "" {
		return nil, refused(reply)
	}
	if !c.isConsistent(reply) {
		return nil, &refusal{errRestarted, true}
	}
	c.log.Known(reply.GetSequence())
	if !r.GetOver() && !reply.GetBehind() {
		c.learn(freshness{r.GetOrder(), begun, reply.GetSequence(), actor.WatchOptions{Structural: r.GetStructural(), Attributes: r.GetAttributes(), Geometry: r.GetGeometry()}})
	}
	return reply, nil
}

// refusal is the error of an owner that does not publish the tab as requested. gone reports that it never will.
type refusal struct {
	error
	gone bool
}

func (r *refusal) Unwrap() error { return r.error }

// refused returns the error of a reply. A reply with a kind becomes an *apierr.Error for clients.
func refused(reply *clusterv1.InterestReply) *refusal {
	r := &refusal{gone: reply.GetGone()}
	switch kind := reply.GetKind(); {
	case kind > 0 && kind <= 256:
		r.error = &apierr.Error{Kind: apierr.ErrorKind(kind - 1), Message: reply.GetError(), Detail: reply.GetDetail(), Field: reply.GetField()}
	default:
		r.error = errors.New(reply.GetError())
	}
	return r
}

// awaitSequence waits until the copy has the record with the sequence number, or a later one.
func (c *Copy) awaitSequence(ctx context.Context, sequence uint64) error {
	for {
		c.mu.Lock()
		moved, done := c.moved, c.applied >= sequence
		var ended <-chan struct{}
		if c.heads != nil {
			ended = c.heads.Done()
		}
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-moved:
		case <-ended:
			return cmp.Or(c.Err(), errUnused)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run follows the log and renews the interest until ctx ends or the owner stops answering.
func (c *Copy) run(ctx context.Context) {
	c.log = c.transport.Follow(c.id, c.take)
	following, stop := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	work.Go(func() { stop(cmp.Or(c.log.Run(following), errUnused)) })
	work.Go(func() { c.askForAll(following) })
	err := c.renew(following)
	stop(err)
	work.Wait()
	c.finish(err)
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), Renewal)
	defer cancel()
	if _, err := c.ask(bye, &clusterv1.InterestRequest{Over: true}); err != nil {
		c.logger.Debug("the owner of a tab was not told that it has no followers", "tab", c.id, "error", err)
	}
}

// renew renews the interest. It returns the reason why the copy ends.
func (c *Copy) renew(ctx context.Context) error {
	heard, current, last := time.Now(), time.Now(), uint64(0)
	ticker := time.NewTicker(Renewal)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, Silence)
		reply, err := c.ask(bounded, &clusterv1.InterestRequest{Renewal: isClosed(c.ready)})
		if err == nil && !isClosed(c.ready) {
			if err = c.awaitSequence(bounded, reply.GetSequence()); err == nil {
				close(c.ready)
			}
		}
		cancel()
		refused, _ := errors.AsType[*refusal](err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			heard = time.Now()
			if !reply.GetBehind() || reply.GetSequence() > last { // a page that changes constantly is always slightly ahead of its log
				current, last = heard, reply.GetSequence()
			}
			if time.Since(current) >= Stall {
				return errors.New("the log of the tab does not continue")
			}
		case refused != nil && refused.gone, time.Since(heard) >= Silence, !isClosed(c.ready):
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finish ends the heads, so that their followers stop.
func (c *Copy) finish(err error) {
	heads := c.replica()
	if !isClosed(c.ready) {
		c.failed = err
		close(c.ready)
	}
	if heads == nil {
		return
	}
	if heads.Head().Info.Status == actor.StatusClosed {
		heads.End(nil)
		return
	}
	if !errors.Is(err, errUnused) {
		c.logger.Info("the copy of a tab of another node ends", "tab", c.id, "owner", c.owner, "cause", err)
	}
	heads.End(c.lost(err))
}

// take applies a record of the log.
func (c *Copy) take(sequence uint64, record []byte) error {
	state, err := c.reader.Read(record)
	if err != nil {
		if !errors.Is(err, tablog.ErrGap) {
			c.logger.Warn("a record of a tab cannot be read", "tab", c.id, "error", err)
		}
		return logs.ErrRestart
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads == nil {
		c.heads = actor.NewReplica(c.id, state, actor.Options{})
	} else {
		c.heads.Publish(state)
	}
	c.applied = sequence
	close(c.moved)
	c.moved = make(chan struct{})
	if state.Info.Status == actor.StatusClosed {
		c.end(errClosed)
	}
	return nil
}

// errClosed means that the tab was closed.
var errClosed = errors.New("the tab is closed")

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
