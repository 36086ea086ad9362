// Package requests follows the requests of a page: whether its network is busy, and whether what an action set off is
// answered.
//
// The browser reports requests always; they are counted while somebody cares. Of a request that began before, there are
// only signs of life.
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

// Requests are the requests of one page.
type Requests struct {
	m *frames.Manager
	// overrides lists the commands for what is in force in the page only while its network domain is enabled.
	overrides func() []devtools.Step
	// renewing is held while a renderer is asked to forget its records of requests, and while somebody begins to count requests: events
	// that come while the renderer forgets are lost.
	renewing sync.Mutex
	// State, sheets and records are guarded by the monitor.
	State   State
	sheets  Sheets
	records records
}

// New makes the requests of a page. Overrides lists the commands for what is in force in the page only while its network domain is
// enabled; renderers of a page with any keep their records of requests.
func New(m *frames.Manager, overrides func() []devtools.Step) *Requests {
	return &Requests{m: m, overrides: overrides, records: records{}}
}

// Watch says whether the page reports when its network becomes busy or idle.
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

// Attend says that actions follow, or that they are over; see driver.Input.
func (r *Requests) Attend(_ context.Context, on bool) {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	r.m.Lock()
	defer r.m.Unlock()
	r.State.Act(on)
}

// Forget forgets all requests: some events were missed, or nobody needs them.
func (r *Requests) Forget() {
	r.change(func(s *State) bool { return s.Drop(func(Request) bool { return true }) })
}

// Detached forgets the requests of a session that is over.
func (r *Requests) Detached(session target.SessionID) {
	r.m.Lock()
	delete(r.records, session)
	r.m.Unlock()
	r.change(func(s *State) bool { return s.Drop(func(one Request) bool { return one.Session == session }) })
}

// Committed forgets the requests of the documents that a frame showed before; with the main frame, those of all other
// documents.
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

// change changes what is counted and, when that is news, reports it.
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

// FailedSheets returns the URLs of the style sheets of a document that could not be loaded; see Sheets.Failed.
func (r *Requests) FailedSheets(document string) (urls []string, version int) {
	r.m.Lock()
	defer r.m.Unlock()
	return r.sheets.Failed(cdp.LoaderID(document))
}

// Missed takes in that events of the network were left out.
func (r *Requests) Missed() {
	r.m.Lock()
	r.sheets.Forget()
	r.m.Unlock()
	r.Forget()
}

// Reported takes in an event of the network. It runs on the page's loop.
func (r *Requests) Reported(session devtools.Session, e console.Request) {
	r.count(session.ID, e)
	if e.Begun {
		r.renewIfDue(session)
	}
}

// count takes in an event of the network for those who count requests.
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
	case e.Ended || !e.Begun && lasts(kind): // only the answer may say that it lasts
		r.change(func(s *State) bool { return s.End(id) })
	case !lasts(kind):
		one := Request{Session: session, Frame: cdp.FrameID(e.Frame), Document: cdp.LoaderID(e.Document), Matters: e.Begun && matters(kind)}
		if !e.Begun {
			one.Answered = time.Now()
		}
		r.change(func(s *State) bool { return s.Begin(id, one) })
	}
}

// ReportUnanswered reports the requests that matter and began while somebody acted, as work that a person would notice: as
// long as there are some, and once when there are none any more.
func (r *Requests) ReportUnanswered() {
	r.m.Lock()
	notices := r.State.Unanswered()
	r.m.Unlock()
	if notices != nil {
		r.m.Emit(driver.Noticed{Document: "requests", Notices: notices})
	}
}

// Limit is until when a wait for requests lasts that begins now.
func Limit() time.Time { return time.Now().Add(answerLimit) }

// Awaited reports whether AwaitAnswers would wait now.
func (r *Requests) Awaited(until time.Time) bool {
	r.m.Lock()
	defer r.m.Unlock()
	return r.left(until) > 0
}

// left is how long to wait for requests until a time. The caller holds the lock.
func (r *Requests) left(until time.Time) time.Duration {
	now := time.Now()
	return min(r.State.Left(now), until.Sub(now))
}

// AwaitAnswers waits until no request is under way that began while somebody acted, at most until a time. It reports
// whether there was one.
func (r *Requests) AwaitAnswers(ctx context.Context, until time.Time) (waited bool, err error) {
	err = r.m.AwaitTimed(ctx, func() time.Duration {
		left := r.left(until)
		waited = waited || left > 0
		return left
	})
	return waited, err
}
