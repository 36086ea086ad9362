package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	// shortestWait is what the first attempt to go on waits at most, longestWait the later ones.
	shortestWait = 100 * time.Millisecond
	longestWait  = 5 * time.Second
	// defaultPatience is how long Follow goes on without an answer.
	defaultPatience = 2 * time.Minute
	// silence is how long a stream may say nothing. The daemon says something every 15 s.
	silence = time.Minute
)

// ErrTabGone says that the daemon does not know the tab: it was closed while the connection was lost, or the daemon was
// started anew, which opens no tabs by itself.
var ErrTabGone = errors.New("the tab is gone: open another one")

// errSilent is why a stream was given up that said nothing.
var errSilent = fmt.Errorf("the daemon said nothing for %v", silence)

// FollowOptions say what to follow.
type FollowOptions struct {
	// View has the options of the view: which elements, min_interval, format. The tab, what to resume from and
	// omit_initial are not taken from it. Nil: the defaults.
	View *domtapv1.WatchDomRequest
	// From is the State of the last Update that was dealt with, of the same tab and view: Follow goes on there, also in
	// another process. Nil: it begins with the page as it is.
	From *domtapv1.GetDomResponse
	// Patience is how long Follow tries to go on without hearing anything. 0: two minutes.
	Patience time.Duration
	// Lost is told when a stream was lost, why, and how long Follow waits until it tries to go on. Nil: nobody is.
	Lost func(cause error, wait time.Duration)
}

// Update is one message of a stream, and what is known once it is applied.
type Update struct {
	// State is what GetDom with the same options would answer: tab_id, url, title, revision, epoch and the elements
	// in order, without boxes. Nobody writes to it again, so it may be kept: it is what FollowOptions.From takes,
	// and a file may hold it as protobuf or JSON.
	State *domtapv1.GetDomResponse
	// Message is what came: a diff, a resync, a snapshot, a navigation, a status or a heartbeat.
	Message *domtapv1.WatchDomResponse
}

// Follow yields what the tab shows, and then every change, in order, without a gap and without repeating one: when the
// connection is lost or the daemon ends, it waits a little, longer each time, and goes on where it was. What happened
// meanwhile comes as one diff, or as a resync, whose reason says why. A daemon that was started anew counts in another
// epoch, so everything comes anew (epoch_changed) when it has such a tab.
//
// The loop ends without an error when the tab is closed, after an Update that says so. Otherwise the last thing it
// yields is an error: that of ctx; one that wraps ErrTabGone; one after Client.Close; one that trying again does not mend, such as
// INVALID_ARGUMENT; or, after Patience, what kept it from going on.
//
// A body that takes long gets fewer, larger diffs, and holds up nobody else. State may be kept, and is written
// before the next Update by programs that want to go on after a crash.
func (t *Tab) Follow(ctx context.Context, o FollowOptions) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		f := &follower{ctx: ctx, client: t.client, tab: t.id, options: o, yield: yield}
		if err := f.run(); err != nil && !errors.Is(err, errLeft) {
			yield(nil, err)
		}
	}
}

// errLeft says that the caller left its loop.
var errLeft = errors.New("left")

// follower is one loop over Follow.
type follower struct {
	ctx     context.Context
	client  *Client
	tab     string
	options FollowOptions
	yield   func(*Update, error) bool

	state *domtapv1.GetDomResponse
	// failures counts the streams since one was in order; since is when the first of them failed.
	failures int
	since    time.Time
}

// run follows stream after stream; nil: the tab was closed.
func (f *follower) run() error {
	f.state = f.options.From
	for {
		began := time.Now()
		heard, err := f.watch()
		if err == nil || errors.Is(err, errLeft) {
			return err
		}
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		if f.client.isClosed() {
			return fmt.Errorf("the client was closed: %w", err)
		}
		if f.options.View.GetFrameId() == "" && gone(err) {
			return fmt.Errorf("%w (%s: %w)", ErrTabGone, f.tab, err)
		}
		if !passing(err) {
			return err
		}
		if errors.Is(err, ErrMismatch) {
			f.state = nil
		}
		if heard || time.Since(began) > longestWait {
			f.failures = 0
		}
		if err := f.rest(err); err != nil {
			return err
		}
	}
}

// rest waits until the next attempt: each time up to twice as long, and by chance, so that many clients of a daemon do
// not come back at once.
func (f *follower) rest(cause error) error {
	if f.failures == 0 {
		f.since = time.Now()
	}
	patience := f.options.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	if over := time.Since(f.since); over > patience {
		return fmt.Errorf("tab %s cannot be followed any more, after %d attempts in %v: %w", f.tab, f.failures, over.Round(time.Second), cause)
	}
	most := min(longestWait, shortestWait<<min(f.failures, 10))
	wait := most/2 + rand.N(most/2)
	f.failures++
	if f.options.Lost != nil {
		f.options.Lost(cause, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
}

// watch reads one stream to its end. heard says whether it said anything but what the tab's status is: a page that
// crashed says so to each stream at once, which is no sign of life.
func (f *follower) watch() (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer silent.Stop()
	stream, err := f.client.Dom.WatchDom(ctx, f.request())
	if err != nil {
		return false, err
	}
	for sequence := uint64(1); ; sequence++ {
		silent.Reset(silence)
		message, err := stream.Recv()
		silent.Stop() // the caller's time is its own
		switch {
		case errors.Is(err, io.EOF):
			return heard, nil
		case errors.Is(context.Cause(ctx), errSilent):
			return heard, errSilent
		case err != nil:
			return heard, err
		case message.GetSequence() != sequence:
			return heard, mismatch("message %d came as number %d", message.GetSequence(), sequence)
		}
		state, err := Take(f.state, message)
		if err != nil {
			return heard, err
		}
		heard, f.state = heard || message.GetTabStatus() == nil, state
		f.state.TabId = f.tab
		if !f.yield(&Update{State: state, Message: message}, nil) {
			return heard, errLeft
		}
	}
}

// request asks for what is to come after the state.
func (f *follower) request() *domtapv1.WatchDomRequest {
	r := &domtapv1.WatchDomRequest{}
	if f.options.View != nil {
		r = proto.CloneOf(f.options.View)
	}
	r.TabId, r.OmitInitial, r.FromRevision, r.Epoch = f.tab, false, nil, ""
	if f.state != nil {
		revision := f.state.GetRevision()
		r.FromRevision, r.Epoch = &revision, f.state.GetEpoch()
	}
	return r
}

// Take returns the state after a message of a stream: it takes over a snapshot, applies a diff, and notes what else the
// message says. It does not write to the old state, which is nil before the first message. For those who read
// WatchDom themselves; Follow does it. The error wraps ErrMismatch.
func Take(old *domtapv1.GetDomResponse, m *domtapv1.WatchDomResponse) (*domtapv1.GetDomResponse, error) {
	now := &domtapv1.GetDomResponse{
		TabId: old.GetTabId(), Url: old.GetUrl(), Title: old.GetTitle(), Elements: old.GetElements(), Metadata: old.GetMetadata(),
		Revision: m.GetRevision(), Epoch: m.GetEpoch(),
	}
	snapshot := m.GetSnapshot()
	if r := m.GetResync(); r != nil {
		snapshot = r.GetSnapshot()
	}
	switch {
	case snapshot != nil:
		now.Url, now.Title = snapshot.GetUrl(), snapshot.GetTitle()
		now.Elements, now.Metadata = snapshot.GetElements(), snapshot.GetMetadata()
	case old == nil:
		return nil, mismatch("the first message is no snapshot")
	case m.GetDiff() != nil:
		if from := m.GetDiff().GetFromRevision(); from != old.GetRevision() || m.GetEpoch() != old.GetEpoch() {
			return nil, mismatch("it leads from revision %d of %s, and the elements are of revision %d of %s",
				from, m.GetEpoch(), old.GetRevision(), old.GetEpoch())
		}
		elements, err := Apply(old.GetElements(), m.GetDiff())
		if err != nil {
			return nil, err
		}
		now.Elements = elements
	case m.GetNavigated() != nil:
		now.Url, now.Title = m.GetNavigated().GetUrl(), m.GetNavigated().GetTitle()
	}
	return now, nil
}

// gone reports whether an error says that there is no such tab, or no such frame when the view is that of one.
func gone(err error) bool {
	return status.Code(err) == codes.NotFound || Reason(err) == "TAB_CLOSED"
}

// passing reports whether what failed may work a little later.
func passing(err error) bool {
	if errors.Is(err, ErrMismatch) || errors.Is(err, errSilent) {
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.ResourceExhausted, codes.Internal, codes.Canceled:
		return true
	}
	return false
}
