package replication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// OwnerConfig sets up an Owner. Tab, Log and Allowed are required.
type OwnerConfig struct {
	// Tab returns a tab of this node and the fencing token of its session. It returns an error for a tab that the node does not have.
	Tab func(id string) (tab Tab, token uint64, err error)
	Log Log
	// Allowed reports whether the node holds its lease.
	Allowed func() bool
	// Logger logs errors that cannot be returned to a caller. If nil, nothing is logged.
	Logger *slog.Logger
}

// Owner publishes the tabs of this node that other nodes follow. Its methods are safe for concurrent use.
type Owner struct {
	cfg     OwnerConfig
	written written
	// running ends with the Owner.
	running context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	mu   sync.Mutex
	tabs map[string]*followed
}

// followed is a tab that other nodes follow.
type followed struct {
	tab       Tab
	publisher *publisher
	end       context.CancelFunc
	// interests maps the names of followers to their interests.
	interests map[string]*interest
}

// interest is one follower's interest in a tab.
type interest struct {
	// order is the order of the newest request.
	order uint64
	// options selects what the page reports for this interest, once release is set.
	options actor.WatchOptions
	release func()
	expiry  *time.Timer
}

// NewOwner returns an Owner that publishes nothing yet. It stops publishing when ctx ends.
func NewOwner(ctx context.Context, cfg OwnerConfig) *Owner {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	o := &Owner{cfg: cfg, tabs: map[string]*followed{}}
	o.cfg.Log = countingLog{cfg.Log, &o.written}
	o.running, o.end = context.WithCancel(ctx)
	return o
}

// Close ends all publishing and returns when no goroutine is left.
func (o *Owner) Close() {
	o.end()
	o.mu.Lock()
	for id, f := range o.tabs {
		for name := range f.interests {
			o.drop(id, f, name)
		}
	}
	o.mu.Unlock()
	o.work.Wait()
}

// Leave stops publishing tabs that move to another node. Their copies learn of it with their next request.
func (o *Owner) Leave(ids ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		if f := o.tabs[id]; f != nil {
			for name := range f.interests {
				o.drop(id, f, name)
			}
		}
	}
}

// Published returns the number of tabs that are published now.
func (o *Owner) Published() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.tabs)
}

// Written returns the number of records stored in the logs, and their total size in bytes.
func (o *Owner) Written() (records, bytes int64) {
	return o.written.records.Load(), o.written.bytes.Load()
}

// Answer answers an InterestRequest with an InterestReply, both encoded. It returns when the page reports what the request selects. Unless
// the request is a renewal, it then also waits until the log has the tab's current state.
func (o *Owner) Answer(ctx context.Context, request []byte) []byte {
	var reply clusterv1.InterestReply
	var r clusterv1.InterestRequest
	err := proto.Unmarshal(request, &r)
	if err == nil {
		var at position
		if at, reply.Behind, err = o.answer(ctx, &r); err == nil {
			reply.Sequence, reply.Revision, reply.Epoch = at.sequence, at.revision, at.epoch
		}
	}
	if err != nil {
		reply.Error, reply.Gone = err.Error(), errors.Is(err, errGone) || errors.Is(err, ErrFenced)
		if e, ok := errors.AsType[*apierr.Error](err); ok {
			reply.Error, reply.Kind, reply.Detail, reply.Field = e.Error(), uint32(e.Kind)+1, e.Detail, e.Field
		}
	}
	out, err := proto.Marshal(&reply)
	if err != nil { // the text is not valid UTF-8
		out, _ = proto.Marshal(&clusterv1.InterestReply{Error: "the tab cannot be followed"})
	}
	return out
}

// errGone means that the node does not have the tab.
var errGone = errors.New("the tab is not here")

func (o *Owner) answer(ctx context.Context, r *clusterv1.InterestRequest) (at position, behind bool, err error) {
	if r.GetOver() {
		o.endInterest(r.GetTabId(), r.GetReplica())
		return position{}, false, nil
	}
	f, err := o.hold(r)
	if err == nil {
		err = o.watch(ctx, f, r)
	}
	switch {
	case err != nil:
		return position{}, false, err
	case r.GetRenewal():
		return f.publisher.now()
	}
	at, err = f.publisher.reaches(ctx)
	return at, false, err
}

// hold adds or renews an interest. It starts to publish the tab for the first interest.
func (o *Owner) hold(r *clusterv1.InterestRequest) (*followed, error) {
	id, name := r.GetTabId(), r.GetReplica()
	tab, token, err := o.cfg.Tab(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errGone, err)
	}
	if !o.cfg.Allowed() {
		return nil, ErrFenced
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running.Err() != nil {
		return nil, errors.New("the node is ending")
	}
	f := o.tabs[id]
	if f != nil && (f.tab != tab || f.publisher.writer.Token != token || f.publisher.hasEnded()) { // the publisher is for an earlier tab or token, or has failed
		for other := range f.interests {
			o.drop(id, f, other)
		}
		f = nil
	}
	if f == nil {
		f = o.start(id, tab, token)
	}
	one := f.interests[name]
	if one == nil {
		one = &interest{}
		one.expiry = time.AfterFunc(Expiry, func() { o.endInterest(id, name) })
		f.interests[name] = one
	}
	one.expiry.Reset(Expiry)
	return f, nil
}

// start publishes a tab. The caller holds the lock.
func (o *Owner) start(id string, tab Tab, token uint64) *followed {
	ctx, end := context.WithCancel(o.running)
	f := &followed{
		tab: tab, publisher: newPublisher(tab, o.cfg.Log, token, o.cfg.Allowed, o.cfg.Logger), end: end, interests: map[string]*interest{},
	}
	o.tabs[id] = f
	o.work.Go(func() {
		if err := f.publisher.run(ctx); ctx.Err() == nil {
			o.cfg.Logger.Warn("a tab is not published any more", "tab", id, "error", err)
		}
	})
	return f
}

// watch makes the page report what an interest needs, if that has changed.
func (o *Owner) watch(ctx context.Context, f *followed, r *clusterv1.InterestRequest) error {
	want := actor.WatchOptions{Structural: r.GetStructural(), Attributes: r.GetAttributes(), Geometry: r.GetGeometry(), Notices: r.GetNotices()}
	o.mu.Lock()
	one := f.interests[r.GetReplica()]
	held := one != nil && (one.release != nil && sameReports(one.options, want) || r.GetOrder() < one.order)
	if one != nil {
		one.order = max(one.order, r.GetOrder())
	}
	o.mu.Unlock()
	if held {
		return nil
	}
	release, err := f.tab.Watch(ctx, want)
	if err != nil {
		return fmt.Errorf("watch tab %s: %w", f.tab.ID(), err)
	}
	o.mu.Lock()
	one = f.interests[r.GetReplica()]
	switch {
	case one == nil:
		o.mu.Unlock()
		release()
		return errors.New("the interest is over")
	case r.GetOrder() < one.order && one.release != nil: // a later request has replaced this one
		o.mu.Unlock()
		release()
		return nil
	}
	before := one.release
	one.options, one.release = want, release
	o.mu.Unlock()
	if before != nil {
		before()
	}
	return nil
}

// sameReports reports whether a page reports the same for both options.
func sameReports(a, b actor.WatchOptions) bool {
	return a.Structural == b.Structural && a.Geometry == b.Geometry && a.Notices == b.Notices && slices.Equal(a.Attributes, b.Attributes)
}

// endInterest ends an interest. When a tab has no more interests, its publishing ends.
func (o *Owner) endInterest(id, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.tabs[id]; f != nil && f.interests[name] != nil {
		o.drop(id, f, name)
	}
}

// drop ends an interest. The caller holds the lock.
func (o *Owner) drop(id string, f *followed, name string) {
	one := f.interests[name]
	one.expiry.Stop()
	if one.release != nil {
		one.release() // never blocks
	}
	delete(f.interests, name)
	if len(f.interests) == 0 {
		f.end()
		if o.tabs[id] == f {
			delete(o.tabs, id)
		}
	}
}
