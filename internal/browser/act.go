package browser

import (
	"cmp"
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/activity"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/input"
	"github.com/domtap/domtap/internal/browser/navigation"
	"github.com/domtap/domtap/internal/browser/requests"
)

// This file is what several parts of a page do together.

// observerFacet implements driver.Observer.
type observerFacet struct {
	*documents.Reader
	requests *requests.Requests
	// prepare lets the page's loop call Reader.Prepare.
	prepare func()
}

// Prepare implements driver.Observer.
func (o observerFacet) Prepare() { o.prepare() }

// Subscribe implements driver.Observer.
func (o observerFacet) Subscribe(ctx context.Context, s driver.Subscription) error {
	o.Reader.Subscribe(ctx, s)
	o.requests.Watch(s.Network)
	return nil
}

// queryFacet implements driver.Query.
type queryFacet struct {
	*documents.Query
	scripts      *documents.Scripts
	capture      *capture.Capture
	context      *Context
	bringToFront func(ctx context.Context)
}

// Evaluate implements driver.Query.
func (q queryFacet) Evaluate(ctx context.Context, s driver.Script) (out driver.Evaluated, err error) {
	if err = q.capture.Unmasked("scripts would tell what is masked: read the page, or use a session without --mask"); err != nil {
		return out, err
	}
	q.bringToFront(ctx) // scripts may wait for frames
	done, err := q.context.acts(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	return q.scripts.Evaluate(ctx, s)
}

// bodies implements driver.Bodies.
type bodies struct {
	requests *requests.Requests
	capture  *capture.Capture
}

// Body implements driver.Bodies.
func (b bodies) Body(ctx context.Context, request string) ([]byte, error) {
	if err := b.capture.Unmasked("what servers answer would tell that: leave out bodies, or use a session without --mask"); err != nil {
		return nil, err
	}
	return b.requests.Body(ctx, request)
}

// inputFacet implements driver.Input.
type inputFacet struct {
	input        *input.Input
	documents    *documents.Query
	navigator    *navigation.Navigator
	requests     *requests.Requests
	activity     *activity.Activity
	context      *Context
	bringToFront func(ctx context.Context)
	barrier      func(ctx context.Context) error
}

// Do implements driver.Input. Input is the browser's own (trusted events), never a script's.
func (i inputFacet) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	i.bringToFront(ctx)
	done, err := i.context.acts(ctx)
	if err != nil {
		return driver.DoResult{}, err
	}
	defer done()
	i.activity.Begin(isGuarded(a))
	use := input.UsesClipboard(a, i.input.Mac())
	if use == (input.ClipboardUse{}) {
		return i.input.Do(ctx, a)
	}
	var result driver.DoResult
	note, err := i.context.clipboard.Do(ctx, use.Copies, use.Pastes, func() (err error) {
		result, err = i.input.Do(ctx, a)
		return err
	})
	if err == nil && note != "" {
		result.Note = cmp.Or(result.Note, "ok") + ", " + note
	}
	return result, err
}

// isGuarded reports whether the observer follows what an action sets off, from the first event that the element receives.
func isGuarded(a driver.Action) bool {
	switch a.Kind {
	case driver.Click, driver.Check, driver.Uncheck, driver.Type, driver.Fill, driver.Press, driver.Select:
		return a.Ref != dom.NoRef
	}
	return false
}

// Attend implements driver.Input.
func (i inputFacet) Attend(ctx context.Context, on bool) { i.requests.Attend(ctx, on) }

// Reveal implements driver.Input.
func (i inputFacet) Reveal(ctx context.Context, e driver.Element) error {
	return i.documents.Reveal(ctx, e)
}

// Settle implements driver.Input. When the documents know that what the action set off is over, and the page has begun nothing
// that they do not see, the page is at rest. Otherwise Settle waits for what is under way, and else for quiet frames.
func (i inputFacet) Settle(ctx context.Context, frame dom.FrameID, limit time.Duration, timers bool) error {
	until := requests.Limit()
	followed := i.activity.End()
	asked := i.input.TakeRest()
	defer asked.Forget()
	for again := false; ; again, asked = true, (frames.Asked{}) {
		rests := false
		if followed {
			var err error
			if rests, err = i.documents.Rests(ctx, frame, again, asked); err != nil {
				return err
			}
			if err := i.barrier(ctx); err != nil {
				return err
			}
			rests = rests && !i.activity.Any()
		}
		if known := rests || followed && i.isUnderWay(until); !known {
			if err := i.documents.Settle(ctx, frame, limit, timers); err != nil {
				return err
			}
		}
		i.activity.Renew()
		waited, err := i.awaitUnderWay(ctx, until)
		if err != nil {
			return err
		}
		if !waited {
			i.requests.ReportUnanswered()
			return nil
		}
		// What was answered is about to be shown.
	}
}

// isUnderWay reports whether a navigation or requests are waited for, so that there is no use in waiting for frames before.
func (i inputFacet) isUnderWay(until time.Time) bool {
	return time.Now().Before(until) && (i.navigator.Going() || i.requests.Awaited(until))
}

// awaitUnderWay waits until no navigation, window or request is under way that the action set off, and reports whether
// any was. After until it reports none, since a page may change its URL without an end.
func (i inputFacet) awaitUnderWay(ctx context.Context, until time.Time) (waited bool, err error) {
	if err := i.barrier(ctx); err != nil {
		return false, err
	}
	went := i.navigator.Going()
	if err := i.navigator.AwaitArrival(ctx); err != nil {
		return false, err
	}
	if err := i.barrier(ctx); err != nil {
		return false, err
	}
	waited, err = i.requests.AwaitAnswers(ctx, until)
	return waited || went && time.Now().Before(until), err
}

// AwaitWindows implements driver.Input.
func (i inputFacet) AwaitWindows(ctx context.Context) error {
	// The renderer tells of its windows before it answers.
	if err := i.documents.Ping(ctx); err != nil {
		return err
	}
	if err := i.barrier(ctx); err != nil {
		return err
	}
	return i.navigator.AwaitWindows(ctx)
}
