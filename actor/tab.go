package actor

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/batch"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/actor/internal/sideeffects"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// Tab is one page of the browser. Its methods are safe for concurrent use. What it does happens in its loop.
type Tab struct {
	// id, session and opener are those of the tab for all its life, and viewport is what it was opened with.
	id, session, opener string
	viewport            dom.Box
	policy              policy
	limits              revisions.Limits
	log                 *slog.Logger
	owner               Owner
	keeper              Keeper
	keepAll             bool
	meter               Meter
	tracer              Tracer

	// ctx ends with the tab; its cause says why.
	ctx context.Context
	end context.CancelCauseFunc
	// done is closed when the tab has ended; err says why, by then.
	done chan struct{}
	err  error
	// shown is closed as soon as reading the tab makes sense: see show.
	shown chan struct{}

	// attached is the page that the tab has now. The loop alone writes it.
	attached atomic.Pointer[attachment]
	head     atomic.Pointer[Head]
	lastRead atomic.Pointer[lastRead]
	mailbox  chan command
	watches  *observation.Set
	// reads and beginnings are the calls that reads, and watches that begin, share.
	reads      batch.Calls[ReadOptions, Reading]
	beginnings batch.Calls[*observation.Watch, struct{}]
	answered   sideeffects.Answered
	// popups delivers the ids of tabs that this one's page opened, and popupBudget counts the windows.
	popups      chan string
	popupBudget sideeffects.PopupBudget
	// restorable says that the tab is restored when its page is lost; publishRequested lets the loop publish.
	restorable       atomic.Bool
	publishRequested chan struct{}
	// freeze says that the owner wants the page to be frozen.
	freeze atomic.Bool
	// leaving counts the calls that wait to navigate the tab elsewhere.
	leaving atomic.Int32
	// dialogPolicy is a driver.DialogPolicy.
	dialogPolicy atomic.Uint32
	// past has what a recorded tab was; nil: the tab is a live one.
	past Past
	// recovery belongs to the loop, but for what its methods allow to others.
	recovery restore.State

	// children are the goroutines that the loop waits for in the end.
	children sync.WaitGroup
}

// attachment is a page of a tab. A tab has one for as long as it lives, unless it is restored.
type attachment struct {
	page driver.Page
	// dialogOffset is the id of the last dialog of the pages before: those of this page count on from there.
	dialogOffset uint64
}

// policy says what the tab may do, how long navigations may take, and whether the page is examined then.
type policy struct {
	allow             func(url string) error
	mayAct            func() error
	navigationTimeout time.Duration
	readAhead         bool
}

// acts fails when the tab may not act on its page.
func (p policy) acts() error {
	if p.mayAct == nil {
		return nil
	}
	return p.mayAct()
}

// guard has a page ask before it is acted on.
func (p policy) guard(page driver.Page) {
	if p.mayAct != nil {
		page.Guard(p.mayAct)
	}
}

// newTab makes a tab whose refs begin with next; its goroutine is loop.run.
func newTab(ctx context.Context, page driver.Page, o Options, next dom.Ref, owner Owner) *Control {
	t := &Tab{
		id: o.ID, session: o.Session, opener: o.Opener, viewport: o.Viewport,
		owner: owner, keeper: o.Keeper, keepAll: o.KeepAll, meter: o.Meter, tracer: o.Tracer, log: o.Logger.With("tab", o.ID),
		policy:  policy{allow: o.AllowURL, mayAct: o.MayAct, navigationTimeout: o.NavigationTimeout, readAhead: o.ReadAhead},
		limits:  revisions.Limits{Count: o.LogCount, Bytes: o.LogBytes},
		mailbox: make(chan command, o.Mailbox), popups: make(chan string, sideeffects.MaxTabs),
		shown: make(chan struct{}), publishRequested: make(chan struct{}, 1), done: make(chan struct{}),
		watches: observation.NewSet(),
	}
	t.policy.guard(page)
	t.attached.Store(&attachment{page: page})
	t.restorable.Store(o.Restore)
	t.ctx, t.end = context.WithCancelCause(ctx)
	epoch := unguessable()
	info := Info{
		ID: o.ID, Session: o.Session, Opener: o.Opener, URL: o.URL, Restore: o.Restore,
		Status: StatusReady, Revision: 1, Epoch: epoch,
	}
	s := &dom.Snapshot{Epoch: epoch, Revision: 1, Document: 1, URL: o.URL, ObservedAt: time.Now()}
	t.head.Store(&Head{Snapshot: s, Info: info, next: make(chan struct{}), refs: next})
	return &Control{tab: t, loop: newLoop(t, page, o.URL, epoch, next)}
}

// unguessable makes twelve letters and digits that tell nothing, of 60 random bits.
func unguessable() string { return strings.ToLower(rand.Text()[:12]) }

// Session is the name of the session that the tab lives in.
func (t *Tab) Session() string { return t.session }

// ID is the tab's name, which is never used again.
func (t *Tab) ID() string { return t.id }

// Info returns what is known about the tab. It never blocks.
func (t *Tab) Info() Info { return t.head.Load().Info }

// Head returns the newest state that was published. It never blocks, and asks the page nothing.
func (t *Tab) Head() *Head { return t.head.Load() }

// History returns the last 10 pages of the tab, oldest first: one entry for each change of the main
// document's URL. It never blocks.
func (t *Tab) History() []HistoryEntry { return slices.Clone(t.head.Load().Snapshot.History) }

// Log is what the tab's pages said and asked for. Reading it never waits for the page.
func (t *Tab) Log() *pagelog.Log { return t.page().Log() }

// Done is closed when the tab has ended.
func (t *Tab) Done() <-chan struct{} { return t.done }

// Err is nil until Done is closed. Then it says why the tab has ended: nil when it was closed on
// request or by its own page, an *apierr.Error of kind Lost when the browser or the pool went away.
func (t *Tab) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// Restore reports whether the tab is brought back when its page is lost.
func (t *Tab) Restore() bool { return t.restorable.Load() }

// SetRestore says whether the tab is brought back when its page is lost. It does not wait for the page; one that is away
// comes back all the same. The Info is the tab with that.
func (t *Tab) SetRestore(on bool) Info {
	t.restorable.Store(on)
	t.requestPublish()
	info := t.Info()
	info.Restore = on
	return info
}

// requestPublish lets the loop publish.
func (t *Tab) requestPublish() {
	select {
	case t.publishRequested <- struct{}{}:
	default: // somebody else's is on its way, and brings this one along
	}
}

// page is the page that the tab has now.
func (t *Tab) page() driver.Page { return t.attached.Load().page }

// show lets those go on who wait for the tab to have something to read. It is called by the owner before the loop runs, or by the loop.
func (t *Tab) show() {
	select {
	case <-t.shown:
	default:
		close(t.shown)
	}
}

// ended is the error of a call on a tab that has ended, or ends.
func (t *Tab) ended() error {
	cause := context.Cause(t.ctx)
	if e, ok := errors.AsType[*apierr.Error](cause); ok {
		return &apierr.Error{Kind: e.Kind, Message: e.Message, Detail: e.Detail}
	}
	return &apierr.Error{Kind: apierr.Closed, Message: "tab " + t.id + " is closed: open another"}
}

// checkGeneration refuses a call whose tab has lost its page since the call was made.
func (t *Tab) checkGeneration(generation uint64) error {
	if t.recovery.Current(generation) {
		return nil
	}
	return Info{ID: t.id, Status: StatusRestoring}.Unavailable("try")
}
