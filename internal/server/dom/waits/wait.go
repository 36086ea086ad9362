package waits

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/truncate"
)

// Met is the result of a wait whose condition holds.
type Met struct {
	// Answer is the response, with structured changes.
	Answer *domtapv1.WaitForResponse
	// Head is the state in which the condition holds. From is the state that the changes start from, or nil if there are none.
	Head *actor.Head
	From *dom.Snapshot
	// Change holds the changes. It is nil if the answer gives a reason why there are none.
	Change *tabview.Change
	// Element is the element that fulfilled the condition, or nil if there is none.
	Element *dom.Element
}

// Wait waits until the condition of the request holds. It returns an error if the tab, the timeout or the caller ends first.
func Wait(ctx context.Context, tab *actor.Tab, shared *tabview.Tab, r *domtapv1.WaitForRequest) (*Met, error) {
	var since *tabview.Point
	if r.SinceRevision != nil {
		since = &tabview.Point{Epoch: r.GetEpoch(), Revision: r.GetSinceRevision()}
	}
	if r.GetTimeout() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.GetTimeout().AsDuration())
		defer cancel()
	}
	w := &waiter{tab: tab, until: New(shared, r.GetUntil(), since, "until.element"), started: time.Now()}
	return w.run(ctx)
}

// waiter is one wait. Like a stream it is a cursor: it keeps only the last head that it checked.
type waiter struct {
	tab     *actor.Tab
	until   *Condition
	started time.Time
	// lastNotice is the number of the last notice before the wait.
	lastNotice uint64
	// status is the result of the last check.
	status Status
}

// run checks every head until the condition holds, or until the tab, the timeout or the caller ends.
func (w *waiter) run(ctx context.Context) (*Met, error) {
	w.lastNotice = w.tab.Head().Notices().Last()
	options := w.until.Watch()
	options.Notices = true
	following, err := w.tab.Follow(options)
	if err != nil {
		return nil, err
	}
	defer following.Release()
	for {
		head := w.tab.Head()
		if err := ended(w.tab, head); err != nil {
			return nil, err
		}
		if following.CaughtUp(head) || !w.until.NeedsPage() {
			if w.status, err = w.until.Check(head); err != nil {
				return nil, err
			}
			if w.status.Met {
				met := w.until.Met(head, w.status)
				met.Answer.Elapsed = durationpb.New(time.Since(w.started))
				met.Answer.Outcome = outcome.Of(head.Notices().Since(w.lastNotice))
				return met, nil
			}
		}
		if err := w.pause(ctx, head); err != nil {
			return nil, err
		}
	}
}

// pause waits until there is something new to check.
func (w *waiter) pause(ctx context.Context, head *actor.Head) error {
	var again <-chan time.Time
	if w.status.Again > 0 {
		timer := time.NewTimer(w.status.Again)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-head.Next():
	case <-again:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return w.missed(head)
		}
		return ctx.Err()
	}
	return nil
}

// ended returns an error if the tab has ended.
func ended(tab *actor.Tab, head *actor.Head) error {
	switch head.Info.Status {
	case actor.StatusCrashed, actor.StatusRestoring:
		return head.Info.Unavailable("wait")
	case actor.StatusClosed:
		<-tab.Done() // closes immediately after that head
		if err := tab.Err(); err != nil {
			return err
		}
		return apierr.Errorf(apierr.Closed, "tab %s was closed before the condition held: open another tab", tab.ID())
	}
	return nil
}

// missed returns the error of a wait that timed out. It describes the missing part and the current state.
func (w *waiter) missed(head *actor.Head) error {
	url := head.Info.URL
	detail := map[string]string{"url": url, "missing": w.status.Missing}
	var b strings.Builder
	fmt.Fprintf(&b, "timed out after %s", time.Since(w.started).Round(time.Millisecond))
	switch {
	case head.Info.Dialog != nil:
		b.WriteString(", because a dialog blocks the page: answer the dialog, then wait again")
		detail["missing"] = "page"
	case head.Info.Status == actor.StatusUnresponsive || w.status.Missing == "":
		b.WriteString(", because the page did not answer: navigate elsewhere, or wait longer")
		detail["missing"] = "page"
	default:
		fmt.Fprintf(&b, " waiting for %s", w.until.Describe(w.status.Missing))
		if nearest := w.until.Nearest(head); nearest != "" && (w.status.Missing == "element" || w.status.Missing == "text") {
			detail["nearest"] = nearest
			fmt.Fprintf(&b, "; nearest: %s", nearest)
		}
		fmt.Fprintf(&b, "; the page is %s: read the page, then wait longer or for another condition", shortURL(url))
	}
	return rpcstatus.New(codes.DeadlineExceeded, b.String(), rpcstatus.Info("WAIT_TIMEOUT", detail))
}

// stepTimeout is the default timeout of a wait step.
const stepTimeout = 10 * time.Second

// Step converts a valid step to the wait of a turn.
func Step(tab *actor.Tab, shared *tabview.Tab, step *domtapv1.WaitStep, field string) *turn.WaitStep {
	until, at := step.GetUntil(), field+".until.element"
	if until == nil {
		until, at = &domtapv1.WaitCondition{Element: TargetCondition(step.GetTarget(), step.GetGone())}, field+".target"
	}
	w := &waiter{tab: tab, until: New(shared, until, nil, at)}
	timeout := stepTimeout
	if step.GetTimeout() != nil {
		timeout = step.GetTimeout().AsDuration()
	}
	return &turn.WaitStep{
		Options: w.until.Watch(), Timeout: timeout, Summary: "wait",
		Met: func(h *actor.Head) (met bool, again time.Duration, err error) {
			if w.started.IsZero() {
				w.started = time.Now()
			}
			w.status, err = w.until.Check(h)
			return w.status.Met, w.status.Again, err
		},
		Missed: w.missed,
	}
}

// maxShownURL limits the part of a URL that an error shows, in bytes.
const maxShownURL = 200

func shortURL(url string) string {
	if len(url) <= maxShownURL {
		return url
	}
	return truncate.Bytes(url, maxShownURL) + truncate.Ellipsis
}
