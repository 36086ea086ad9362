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
	"github.com/domtap/domtap/internal/server/check"
	"github.com/domtap/domtap/internal/server/outcome"
	"github.com/domtap/domtap/internal/server/rpcstatus"
	"github.com/domtap/domtap/internal/server/views"
	"github.com/domtap/domtap/internal/truncate"
)

// Met is a wait whose condition holds.
type Met struct {
	// Answer has the changes as a structure.
	Answer *domtapv1.WaitForResponse
	// Head is the state in which the condition holds; From is the one that the changes start from, nil when there are none.
	Head *actor.Head
	From *dom.Snapshot
	// Change are the changes; nil when the answer says why there are none.
	Change *views.Change
	// Element is the one that made the condition hold; nil: none did.
	Element *dom.Element
}

// Wait returns when the condition of the request holds, or when the tab, the time or the caller ends.
func Wait(ctx context.Context, tab *actor.Tab, shared *views.Tab, r *domtapv1.WaitForRequest) (*Met, error) {
	var since *views.Point
	if r.SinceRevision != nil {
		since = &views.Point{Epoch: r.GetEpoch(), Revision: r.GetSinceRevision()}
	}
	if r.GetTimeout() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.GetTimeout().AsDuration())
		defer cancel()
	}
	w := &waiter{tab: tab, until: New(shared, r.GetUntil(), since, "until.element"), started: time.Now()}
	return w.run(ctx)
}

// waiter is one wait. Like a stream it is a cursor: it holds nothing but the head that it checked last.
type waiter struct {
	tab     *actor.Tab
	until   *Condition
	started time.Time
	// noticed is the number of the last notice before the wait.
	noticed uint64
	// held is the result of the last check.
	held Holding
}

// run checks every head until the condition holds, or the tab, the time or the caller ends.
func (w *waiter) run(ctx context.Context) (*Met, error) {
	w.noticed = w.tab.Head().Notices().Last()
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
			if w.held, err = w.until.Check(head); err != nil {
				return nil, err
			}
			if w.held.Met {
				met := w.until.Met(head, w.held)
				met.Answer.Elapsed = durationpb.New(time.Since(w.started))
				met.Answer.Outcome = outcome.Of(head.Notices().Since(w.noticed))
				return met, nil
			}
		}
		if err := w.pause(ctx, head); err != nil {
			return nil, err
		}
	}
}

// pause returns when there is something new to check.
func (w *waiter) pause(ctx context.Context, head *actor.Head) error {
	var again <-chan time.Time
	if w.held.Again > 0 {
		timer := time.NewTimer(w.held.Again)
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

// ended returns the error for waiting on a tab that has ended; nil while it has not.
func ended(tab *actor.Tab, head *actor.Head) error {
	switch head.Info.Status {
	case actor.StatusCrashed, actor.StatusRestoring:
		return head.Info.Unavailable("wait")
	case actor.StatusClosed:
		<-tab.Done() // follows at once on the head that says so
		if err := tab.Err(); err != nil {
			return err
		}
		return apierr.Errorf(apierr.Closed, "tab %s was closed before the condition held: open another tab", tab.ID())
	}
	return nil
}

// missed returns the error of a wait whose time is over, which says what is missing and what is there instead.
func (w *waiter) missed(head *actor.Head) error {
	url := head.Info.URL
	detail := map[string]string{"url": url, "missing": w.held.Missing}
	var b strings.Builder
	fmt.Fprintf(&b, "timed out after %s", time.Since(w.started).Round(time.Millisecond))
	switch {
	case head.Info.Dialog != nil:
		b.WriteString(": a dialog blocks the page: answer it, then wait again")
		detail["missing"] = "page"
	case head.Info.Status == actor.StatusUnresponsive || w.held.Missing == "":
		b.WriteString(": the page did not answer: navigate elsewhere, or wait longer")
		detail["missing"] = "page"
	default:
		fmt.Fprintf(&b, " waiting for %s", w.until.Describe(w.held.Missing))
		if nearest := w.until.Nearest(head); nearest != "" && (w.held.Missing == "element" || w.held.Missing == "text") {
			detail["nearest"] = nearest
			fmt.Fprintf(&b, "; nearest: %s", nearest)
		}
		fmt.Fprintf(&b, "; the page is %s: read it, and wait for something else or longer", shortURL(url))
	}
	return rpcstatus.New(codes.DeadlineExceeded, b.String(), rpcstatus.Info("WAIT_TIMEOUT", detail))
}

// stepTimeout is the timeout of a wait step that names none.
const stepTimeout = 10 * time.Second

// Step makes the wait of a turn from a valid step.
func Step(tab *actor.Tab, shared *views.Tab, step *domtapv1.WaitStep, field string) *turn.WaitStep {
	until, at := step.GetUntil(), field+".until.element"
	if until == nil {
		until, at = &domtapv1.WaitCondition{Element: check.TargetCondition(step.GetTarget(), step.GetGone())}, field+".target"
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
			w.held, err = w.until.Check(h)
			return w.held.Met, w.held.Again, err
		},
		Missed: w.missed,
	}
}

// maxShownURL is how much of a URL an error shows, in bytes.
const maxShownURL = 200

func shortURL(url string) string {
	if len(url) <= maxShownURL {
		return url
	}
	return truncate.Bytes(url, maxShownURL) + truncate.Ellipsis
}
