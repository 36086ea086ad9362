// Package requests tracks the requests of a page: whether its network is busy, and whether the requests that an action started are
// answered.
//
// The browser always reports requests, but they are counted only while needed. For a request that started before that, only later events
// are known.
package requests

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/console"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Requests tracks the requests of one page.
type Requests struct {
	m *frames.Manager
	// overrides returns the commands for the page's overrides that work only while its network domain is enabled.
	overrides func() []devtools.Step
	// renewing prevents counting from starting or ending while a renderer clears its records, because events are lost during that time.
	renewing sync.Mutex
	// The monitor guards State, sheets and records.
	State   State
	sheets  Sheets
	records records
}

// New returns the Requests of a page. overrides returns the commands for the page's overrides that work only while its network domain is
// enabled. While a page has such overrides, its renderers keep their records.
func New(m *frames.Manager, overrides func() []devtools.Step) *Requests {
	return &Requests{m: m, overrides: overrides, records: records{}}
}

// Watch sets whether the page reports when its network becomes busy or idle.
func (r *Requests) Watch(on bool) {
	if r.watch(on) {
		r.Forget()
	}
}

func (r *Requests) watch(on bool) (over bool) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.m.Lock()
	defer r.m.Unlock()
	return r.State.Watch(on)
}

// SetActing starts or ends a series of actions; see driver.Input.
func (r *Requests) SetActing(_ context.Context, on bool) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.m.Lock()
	defer r.m.Unlock()
	r.State.SetActing(on)
}

// Forget forgets all requests, because events were missed or the count is no longer needed.
func (r *Requests) Forget() {
	r.change(func(s *State) bool { return s.Drop(func(Request) bool { return true }) })
}

// Detached forgets the requests of a session that has ended.
func (r *Requests) Detached(session target.SessionID) {
	r.m.Lock()
	delete(r.records, session)
	r.m.Unlock()
	r.change(func(s *State) bool { return s.Drop(func(one Request) bool { return one.Session == session }) })
}

// Committed forgets the requests of a frame's previous documents. For the main frame, it forgets the requests of all other documents.
func (r *Requests) Committed(frame cdp.FrameID, document cdp.LoaderID) {
	r.m.Lock()
	idle, main := !r.State.Busy(), r.m.Tree.IsMain(frame)
	if main {
		delete(r.records, r.m.Main.ID)
	}
	r.sheets.Keep(document, frame, main)
	r.m.Unlock()
	if idle {
		return
	}
	r.change(func(s *State) bool {
		return s.Drop(func(one Request) bool { return one.Document != document && (main || one.Frame == frame) })
	})
}

// change changes the state and reports whether the network is busy if that has changed.
func (r *Requests) change(change func(*State) bool) {
	r.m.Lock()
	news := change(&r.State)
	if r.State.acting {
		r.m.Notify()
	}
	busy := r.State.Busy()
	r.m.Unlock()
	if news {
		r.m.Emit(driver.Traffic{Busy: busy})
	}
}

// FailedSheets returns the URLs of a document's style sheets that failed to load; see Sheets.Failed.
func (r *Requests) FailedSheets(document string) (urls []string, version int) {
	r.m.Lock()
	defer r.m.Unlock()
	return r.sheets.Failed(cdp.LoaderID(document))
}

// RecordDropped records that network events were dropped.
func (r *Requests) RecordDropped() {
	r.m.Lock()
	r.sheets.Forget()
	r.m.Unlock()
	r.Forget()
}

// Reported handles a network event. It runs on the page's loop.
func (r *Requests) Reported(session devtools.Session, e console.Request) {
	r.count(session.ID, e)
	if e.Begun {
		r.renewIfDue(session)
	}
}

// count updates the state for a network event.
func (r *Requests) count(session target.SessionID, e console.Request) {
	id := network.RequestID(e.ID)
	r.m.Lock()
	counted := r.State.Counted()
	switch {
	case e.Sheet != "":
		r.sheets.Begin(id, cdp.FrameID(e.Frame), cdp.LoaderID(e.Document), e.Sheet)
	case e.Ended:
		r.sheets.End(id, e.Failed)
	case e.Failed:
		r.sheets.Refuse(id)
	}
	r.m.Unlock()
	switch kind := network.ResourceType(e.Type); {
	case !counted || id == "":
	case e.OfWorker():
		r.change(func(s *State) bool { s.BeginWorker(time.Now()); return false })
	case e.Ended || !e.Begun && isLongLived(kind): // only the response may reveal that the request lasts
		r.change(func(s *State) bool { return s.End(id) })
	case !isLongLived(kind):
		one := Request{Session: session, Frame: cdp.FrameID(e.Frame), Document: cdp.LoaderID(e.Document), AffectsPage: e.Begun && mayChangePage(kind)}
		if !e.Begun {
			one.Answered = time.Now()
		}
		r.change(func(s *State) bool { return s.Begin(id, one) })
	}
}

// ReportUnanswered reports unanswered requests that matter and started during an action, as activity that a person would notice. It reports
// while there are any, and once more when there are none left.
func (r *Requests) ReportUnanswered() {
	r.m.Lock()
	notices := r.State.Unanswered()
	r.m.Unlock()
	if notices != nil {
		r.m.Emit(driver.NoticesReported{Document: "requests", Notices: notices})
	}
}

// Limit returns the deadline for a wait for requests that starts now.
func Limit() time.Time { return time.Now().Add(answerLimit) }

// Awaited reports whether AwaitAnswers would wait now.
func (r *Requests) Awaited(until time.Time) bool {
	r.m.Lock()
	defer r.m.Unlock()
	return r.left(until) > 0
}

// left returns how long to wait for requests, at most until the given time. The caller holds the lock.
func (r *Requests) left(until time.Time) time.Duration {
	now := time.Now()
	return min(r.State.Remaining(now), until.Sub(now))
}

// AwaitAnswers waits until all requests that started during an action are complete, at most until the given time. It reports whether there
// were any.
func (r *Requests) AwaitAnswers(ctx context.Context, until time.Time) (waited bool, err error) {
	err = r.m.AwaitTimed(ctx, func() time.Duration {
		left := r.left(until)
		waited = waited || left > 0
		return left
	})
	return waited, err
}
