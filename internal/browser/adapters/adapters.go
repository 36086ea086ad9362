// Package adapters implements the interfaces of actor/driver that combine several parts of a page. For example, an action brings the page to
// the front, uses the clipboard, and has settled when the documents, navigations and requests have settled.
//
// An adapter holds no state, except that Freezer records whether the page is frozen. Methods may be called from any goroutine except the
// page's loop, because the barrier waits for the loop. The caller sets all fields.
package adapters

import (
	"cmp"
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/activity"
	"github.com/domtap/domtap/internal/browser/capture"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/input"
	"github.com/domtap/domtap/internal/browser/navigation"
	"github.com/domtap/domtap/internal/browser/requests"
)

// Observer implements driver.Observer.
type Observer struct {
	*documents.Reader
	Requests *requests.Requests
	// OnLoop makes the page's loop call Reader.Prepare.
	OnLoop func()
}

// Prepare implements driver.Observer.
func (o Observer) Prepare() { o.OnLoop() }

// Subscribe implements driver.Observer.
func (o Observer) Subscribe(ctx context.Context, s driver.Subscription) error {
	o.Reader.Subscribe(ctx, s)
	o.Requests.Watch(s.Network)
	return nil
}

// Session holds what a page needs of its session around an action or a script.
type Session struct {
	// Acts waits until the page may act. done ends the action.
	Acts func(ctx context.Context) (done func(), err error)
	// Clipboard is the session's clipboard.
	Clipboard *clipboard.Session
	// BringToFront brings the page to the front of its window.
	BringToFront func(ctx context.Context)
}

// Query implements driver.Query.
type Query struct {
	*documents.Query
	Scripts *documents.Scripts
	Capture *capture.Capture
	Session Session
}

// Evaluate implements driver.Query.
func (q Query) Evaluate(ctx context.Context, s driver.Script) (out driver.Evaluated, err error) {
	if err = q.Capture.Unmasked("scripts could reveal masked content: read the page, or use a session without --mask"); err != nil {
		return out, err
	}
	q.Session.BringToFront(ctx) // scripts may wait for frames
	done, err := q.Session.Acts(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	return q.Scripts.Evaluate(ctx, s)
}

// Tools implements driver.Tools.
type Tools struct {
	driver.Tools
	Capture  *capture.Capture
	Activity *activity.Activity
	Session  Session
}

// CallTool implements driver.Tools.
func (t Tools) CallTool(ctx context.Context, c driver.ToolCall) (driver.ToolClaim, error) {
	if err := t.Capture.Unmasked("a tool of the page could return it: act on the elements of the page, or use a session without --mask"); err != nil {
		return driver.ToolClaim{}, err
	}
	t.Session.BringToFront(ctx) // tools may wait for frames
	done, err := t.Session.Acts(ctx)
	if err != nil {
		return driver.ToolClaim{}, err
	}
	defer done()
	t.Activity.Begin(false)
	return t.Tools.CallTool(ctx, c)
}

// Bodies implements driver.Bodies.
type Bodies struct {
	Requests *requests.Requests
	Capture  *capture.Capture
}

// Body implements driver.Bodies.
func (b Bodies) Body(ctx context.Context, request string) ([]byte, error) {
	if err := b.Capture.Unmasked("response bodies could reveal it: leave out bodies, or use a session without --mask"); err != nil {
		return nil, err
	}
	return b.Requests.Body(ctx, request)
}

// Input implements driver.Input.
type Input struct {
	Input     *input.Input
	Documents *documents.Query
	Navigator *navigation.Navigator
	Requests  *requests.Requests
	Activity  *activity.Activity
	Session   Session
	// Barrier returns when the page's loop has handled everything that the browser has sent so far.
	Barrier func(ctx context.Context) error
}

// Do implements driver.Input. It uses the browser's own input (trusted events), never a script.
func (i Input) Do(ctx context.Context, a driver.Action) (driver.DoResult, error) {
	i.Session.BringToFront(ctx)
	done, err := i.Session.Acts(ctx)
	if err != nil {
		return driver.DoResult{}, err
	}
	defer done()
	i.Activity.Begin(isGuarded(a))
	use := input.UsesClipboard(a, i.Input.Mac())
	if use == (input.ClipboardUse{}) {
		return i.Input.Do(ctx, a)
	}
	var result driver.DoResult
	note, err := i.Session.Clipboard.Do(ctx, use.Copies, use.Pastes, func() (err error) {
		result, err = i.Input.Do(ctx, a)
		return err
	})
	if err == nil && note != "" {
		result.Detail = cmp.Or(result.Detail, "ok") + ", " + note
	}
	return result, err
}

// isGuarded reports whether the observer follows the effects of an action, from the first event that the element receives.
func isGuarded(a driver.Action) bool {
	switch a.Kind {
	case driver.Click, driver.Check, driver.Uncheck, driver.Type, driver.Fill, driver.Press, driver.Select:
		return a.Ref != dom.NoRef
	}
	return false
}

// ReleaseButton implements driver.Input.
func (i Input) ReleaseButton(ctx context.Context) { i.Input.ReleaseButton(ctx) }

// SetActing implements driver.Input.
func (i Input) SetActing(ctx context.Context, on bool) { i.Requests.SetActing(ctx, on) }

// Reveal implements driver.Input.
func (i Input) Reveal(ctx context.Context, e driver.Element) error {
	return i.Documents.Reveal(ctx, e)
}

// Settle implements driver.Input. If the documents know that the effects of the action have settled, and the page has started nothing that
// they cannot see, the page has settled. Otherwise Settle waits for navigations and requests in progress, or, if there are none, for frames
// without changes.
func (i Input) Settle(ctx context.Context, frame dom.FrameID, limit time.Duration, timers bool) error {
	until := requests.Limit()
	followed := i.Activity.End()
	asked := i.Input.TakeSettledCall()
	defer asked.Forget()
	for again := false; ; again, asked = true, (frames.SentCommand{}) {
		rests := false
		if followed {
			var err error
			if rests, err = i.Documents.Settled(ctx, frame, again, asked); err != nil {
				return err
			}
			if err := i.Barrier(ctx); err != nil {
				return err
			}
			rests = rests && !i.Activity.Any()
		}
		if known := rests || followed && i.isBusy(until); !known {
			if err := i.Documents.Settle(ctx, frame, limit, timers); err != nil {
				return err
			}
		}
		i.Activity.Renew()
		waited, err := i.awaitIdle(ctx, until)
		if err != nil {
			return err
		}
		if !waited {
			i.Requests.ReportUnanswered()
			return nil
		}
		// The page is about to show the responses.
	}
}

// isBusy reports whether navigations or requests are awaited. Then it is useless to wait for frames first.
func (i Input) isBusy(until time.Time) bool {
	return time.Now().Before(until) && (i.Navigator.Going() || i.Requests.Awaited(until))
}

// awaitIdle waits until the navigations, windows and requests that the action started are complete, and reports whether there were any.
// It gives up at the deadline and reports none, because a page may change its URL endlessly.
func (i Input) awaitIdle(ctx context.Context, deadline time.Time) (waited bool, err error) {
	if err := i.Barrier(ctx); err != nil {
		return false, err
	}
	went := i.Navigator.Going()
	if err := i.Navigator.AwaitArrival(ctx); err != nil {
		return false, err
	}
	if err := i.Barrier(ctx); err != nil {
		return false, err
	}
	waited, err = i.Requests.AwaitAnswers(ctx, deadline)
	return waited || went && time.Now().Before(deadline), err
}

// AwaitWindows implements driver.Input.
func (i Input) AwaitWindows(ctx context.Context) error {
	// The renderer announces its windows before it responds.
	if err := i.Documents.Ping(ctx); err != nil {
		return err
	}
	if err := i.Barrier(ctx); err != nil {
		return err
	}
	return i.Navigator.AwaitWindows(ctx)
}
