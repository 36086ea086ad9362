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

// Tab is a page of the browser. Its methods are safe for concurrent use. Its loop does the work.
type Tab struct {
	// id, session and opener never change. viewport is the viewport that the tab was opened with.
	id, session, opener string
	viewport            dom.Box
	policy              policy
	limits              revisions.Limits
	log                 *slog.Logger
	owner               Owner
	restoreStore        RestoreStore
	keepAll             bool
	meter               Meter
	tracer              Tracer

	// ctx ends with the tab. Its cause is the reason.
	ctx context.Context
	end context.CancelCauseFunc
	// done is closed when the tab has ended. err is the reason and may be read after that.
	done chan struct{}
	err  error
	// shown is closed as soon as the tab is readable; see show.
	shown chan struct{}

	// attached is the tab's current page. Only the loop writes it.
	attached atomic.Pointer[attachment]
	head     atomic.Pointer[Head]
	lastRead atomic.Pointer[lastRead]
	mailbox  chan command
	watches  *observation.Set
	// reads and beginnings are the calls that share turns: reads and starting watches.
	reads      batch.Calls[ReadOptions, Reading]
	beginnings batch.Calls[*observation.Watch, struct{}]
	answered   sideeffects.Answered
	// popups delivers the IDs of tabs that this tab's page opened. popupBudget counts the windows.
	popups      chan string
	popupBudget sideeffects.PopupBudget
	// restorable reports whether the tab is restored when it loses its page. publishRequested triggers the loop to publish.
	restorable       atomic.Bool
	publishRequested chan struct{}
	// freeze reports whether the owner wants the page to be frozen.
	freeze atomic.Bool
	// leaving counts the calls that wait to navigate the tab elsewhere.
	leaving atomic.Int32
	// dialogPolicy is a driver.DialogPolicy.
	dialogPolicy atomic.Uint32
	// past provides the states of a recorded tab. It is nil for a live tab.
	past RecordedStates
	// recovery belongs to the loop, except for methods that are safe for concurrent use.
	recovery restore.State

	// children are the goroutines that the loop waits for before it ends.
	children sync.WaitGroup
}

// attachment is a page of a tab. A tab keeps its page for life, unless it is restored.
type attachment struct {
	page driver.Page
	// dialogOffset is the ID of the last dialog of the earlier pages. The dialog IDs of this page continue from there.
	dialogOffset uint64
}

// policy holds what the tab may do, the timeout of navigations, and whether pages are examined after loading.
type policy struct {
	allow             func(url string) error
	mayAct            func() error
	navigationTimeout time.Duration
	readAhead         bool
}

// acts returns an error if the tab may not act on its page.
func (p policy) acts() error {
	if p.mayAct == nil {
		return nil
	}
	return p.mayAct()
}

// guard makes a page call mayAct before each command that acts on it.
func (p policy) guard(page driver.Page) {
	if p.mayAct != nil {
		page.Guard(p.mayAct)
	}
}

// newTab creates a tab whose refs start at next. Its goroutine is loop.run.
func newTab(ctx context.Context, page driver.Page, o Options, next dom.Ref, owner Owner) *Control {
	t := &Tab{
		id: o.ID, session: o.Session, opener: o.Opener, viewport: o.Viewport,
		owner: owner, restoreStore: o.RestoreStore, keepAll: o.KeepAll, meter: o.Meter, tracer: o.Tracer, log: o.Logger.With("tab", o.ID),
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
	epoch := randomSuffix()
	info := Info{
		ID: o.ID, Session: o.Session, Opener: o.Opener, URL: o.URL, Restore: o.Restore,
		Status: StatusReady, Revision: 1, Epoch: epoch, TakenOver: page.TakenOver(),
	}
	s := &dom.Snapshot{Epoch: epoch, Revision: 1, Document: 1, URL: o.URL, ObservedAt: time.Now()}
	t.head.Store(&Head{Snapshot: s, Info: info, next: make(chan struct{}), refs: next})
	return &Control{tab: t, loop: newLoop(t, page, o.URL, epoch, next)}
}

// randomSuffix returns twelve random letters and digits with 60 bits of entropy.
func randomSuffix() string { return strings.ToLower(rand.Text()[:12]) }

// Session returns the name of the tab's session.
func (t *Tab) Session() string { return t.session }

// ID returns the tab's ID, which is never reused.
func (t *Tab) ID() string { return t.id }

// Info returns the tab's Info. It never blocks.
func (t *Tab) Info() Info { return t.head.Load().Info }

// Head returns the newest published state. It never blocks and does not query the page.
func (t *Tab) Head() *Head { return t.head.Load() }

// History returns the last 10 pages of the tab, oldest first, with one entry for each change of the main document's URL. It never blocks.
func (t *Tab) History() []HistoryEntry { return slices.Clone(t.head.Load().Snapshot.History) }

// Log returns the console messages and requests of the tab's page. Reading it never waits for the page.
func (t *Tab) Log() *pagelog.Log { return t.page().Log() }

// Done returns a channel that is closed when the tab has ended.
func (t *Tab) Done() <-chan struct{} { return t.done }

// Err returns nil until Done is closed. After that it returns the reason why the tab has ended: nil if the tab was closed on request or by
// its own page, or an *apierr.Error of kind Lost if the browser or the pool ended.
func (t *Tab) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// Restore reports whether the tab is restored when it loses its page.
func (t *Tab) Restore() bool { return t.restorable.Load() }

// SetRestore sets whether the tab is restored when it loses its page. It does not wait for the page. A restore in progress continues in any
// case. The returned Info includes the new setting.
func (t *Tab) SetRestore(on bool) Info {
	t.restorable.Store(on)
	t.requestPublish()
	info := t.Info()
	info.Restore = on
	return info
}

// requestPublish triggers the loop to publish.
func (t *Tab) requestPublish() {
	select {
	case t.publishRequested <- struct{}{}:
	default: // a pending request covers this one too
	}
}

// page returns the tab's current page.
func (t *Tab) page() driver.Page { return t.attached.Load().page }

// show wakes callers that wait for the tab to become readable. It is called by the owner before the loop runs, or by the loop.
func (t *Tab) show() {
	select {
	case <-t.shown:
	default:
		close(t.shown)
	}
}

// ended returns the error for calls on a tab that has ended or is ending.
func (t *Tab) ended() error {
	cause := context.Cause(t.ctx)
	if e, ok := errors.AsType[*apierr.Error](cause); ok {
		return &apierr.Error{Kind: e.Kind, Message: e.Message, Detail: e.Detail}
	}
	return &apierr.Error{Kind: apierr.Closed, Message: "tab " + t.id + " is closed: open another tab"}
}

// checkGeneration returns an error if the tab has lost its page since the call was made.
func (t *Tab) checkGeneration(generation uint64) error {
	if t.recovery.Current(generation) {
		return nil
	}
	return Info{ID: t.id, Status: StatusRestoring}.Unavailable("try")
}
