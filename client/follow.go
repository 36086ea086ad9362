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
	"github.com/domtap/domtap/internal/retry"
)

const (
	// shortestWait limits the wait before the first retry, longestWait the wait before later ones.
	shortestWait = 100 * time.Millisecond
	longestWait  = 5 * time.Second
	// defaultPatience limits how long Follow retries without an answer.
	defaultPatience = 2 * time.Minute
	// maxSilence limits how long a stream may be silent. The daemon sends a heartbeat every 15 s.
	maxSilence = time.Minute
)

// ErrTabGone reports that the daemon does not know the tab. The tab was closed while the connection was lost, or the daemon was restarted.
var ErrTabGone = errors.New("the tab is gone: open another one")

// errSilent ends a stream that was silent for too long.
var errSilent = fmt.Errorf("the daemon sent nothing for %v", maxSilence)

// FollowOptions configures Follow.
type FollowOptions struct {
	// View contains the options of the view: the selection of elements, min_interval and format. Its tab_id, from_revision, epoch and
	// omit_initial are ignored. If nil, the defaults apply.
	View *domtapv1.WatchDomRequest
	// From is the State of the last processed Update of the same tab and view. Follow resumes there, also in another process. If nil,
	// Follow starts with the current page.
	From *domtapv1.GetDomResponse
	// Patience limits how long Follow retries without an answer. Zero means two minutes.
	Patience time.Duration
	// Lost, if not nil, is called when a stream is lost, with the cause and the wait before the retry.
	Lost func(cause error, wait time.Duration)
}

// Update is one message of a stream and the state after that message.
type Update struct {
	// State is the response that GetDom would return with the same options: tab_id, url, title, revision, epoch and the elements in order,
	// without boxes. It never changes, so the caller may keep it for FollowOptions.From, or store it in a file as protobuf or JSON.
	State *domtapv1.GetDomResponse
	// Message is the message: a diff, a resync, a snapshot, a navigation, a status or a heartbeat.
	Message *domtapv1.WatchDomResponse
}

// Follow yields the page of the tab and then every change, in order, without gaps or repetitions. When the connection is lost or the daemon
// ends, Follow retries with increasing waits and resumes at the last state. The changes of that time arrive as one diff, or as a resync
// with a reason. A restarted daemon has another epoch, so if it has the tab, it sends the whole view again (epoch_changed).
//
// When the tab is closed, the loop ends without an error, after an Update that reports the closing. Otherwise the last value is an error:
// the error of ctx; an error that wraps ErrTabGone; an error after Client.Close; an error that a retry cannot fix, such as
// INVALID_ARGUMENT; or, after Patience, the last failure.
//
// A slow loop body gets fewer, larger diffs, and delays no other client. To resume after a crash, save State before the next Update.
func (t *Tab) Follow(ctx context.Context, o FollowOptions) iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		f := &follower{ctx: ctx, client: t.client, tab: t.id, options: o, yield: yield}
		if err := f.run(); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped reports that the caller left the loop.
var errStopped = errors.New("stopped")

// follower runs one loop of Follow.
type follower struct {
	ctx     context.Context
	client  *Client
	tab     string
	options FollowOptions
	yield   func(*Update, error) bool

	state *domtapv1.GetDomResponse
	// failures counts the consecutive failed streams. since is the time of the first of these failures.
	failures int
	since    time.Time
}

// run follows one stream after the other. It returns nil when the tab was closed.
func (f *follower) run() error {
	f.state = f.options.From
	for {
		began := time.Now()
		heard, err := f.watch()
		if err == nil || errors.Is(err, errStopped) {
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

// rest waits before the next attempt. The wait at most doubles each time and has jitter, so that the clients of a daemon do not all
// reconnect at the same time.
func (f *follower) rest(cause error) error {
	if f.failures == 0 {
		f.since = time.Now()
	}
	patience := f.options.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	if over := time.Since(f.since); over > patience {
		return fmt.Errorf("follow tab %s: gave up after %d attempts in %v: %w", f.tab, f.failures, over.Round(time.Second), cause)
	}
	most := min(longestWait, shortestWait<<min(f.failures, 10))
	wait := most/2 + rand.N(most/2)
	f.failures++
	if f.options.Lost != nil {
		f.options.Lost(cause, wait)
	}
	return retry.Pause(f.ctx, wait)
}

// watch reads one stream to its end. heard reports whether any message other than a tab status arrived: a crashed page sends its status to
// each new stream immediately, so a status does not prove that the page is alive.
func (f *follower) watch() (heard bool, err error) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	defer cancel(nil)
	silent := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer silent.Stop()
	stream, err := f.client.Dom.WatchDom(ctx, f.request())
	if err != nil {
		return false, err
	}
	for sequence := uint64(1); ; sequence++ {
		silent.Reset(maxSilence)
		message, err := stream.Recv()
		silent.Stop() // the time of the loop body does not count
		switch {
		case errors.Is(err, io.EOF):
			return heard, nil
		case errors.Is(context.Cause(ctx), errSilent):
			return heard, errSilent
		case err != nil:
			return heard, err
		case message.GetSequence() != sequence:
			return heard, mismatch("message %d arrived as number %d", message.GetSequence(), sequence)
		}
		state, err := Take(f.state, message)
		if err != nil {
			return heard, err
		}
		heard, f.state = heard || message.GetTabStatus() == nil, state
		f.state.TabId = f.tab
		if !f.yield(&Update{State: state, Message: message}, nil) {
			return heard, errStopped
		}
	}
}

// request returns the request that continues after the current state.
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

// Take returns the state after a message of a stream. It does not modify the old state, which is nil before the first message. Follow calls
// Take; programs that read WatchDom themselves must call it, too. The error wraps ErrMismatch.
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
		return nil, mismatch("the first message is not a snapshot")
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

// gone reports whether an error means that the tab, or the frame of the view, does not exist.
func gone(err error) bool {
	return status.Code(err) == codes.NotFound || Reason(err) == "TAB_CLOSED"
}

// passing reports whether a retry of a call that failed with err may succeed.
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
