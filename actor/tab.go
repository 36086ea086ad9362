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
	"github.com/domtap/domtap/actor/internal/revisions"
	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

const (
	// closeBound is how long the browser may take to close a page.
	closeBound = 5 * time.Second
	// keptPages is how many pages the history holds.
	keptPages = 10
)

// errClosed is why a tab ends that was closed on request.
var errClosed = errors.New("the tab was closed")

// errIdle is why one ends that nobody used.
var errIdle = errors.New("it was idle")

// Tab is one page of the browser. Its methods are safe for concurrent use.
type Tab struct {
	id string
	// session is that of the tab, for all its life.
	session string
	life    atomic.Pointer[life]
	policy  policy
	limits  revisions.Limits
	log     *slog.Logger
	owner   owner
	keeper  Keeper
	meter   Meter
	tracer  Tracer

	// ctx ends with the tab; its cause says why.
	ctx     context.Context
	end     context.CancelCauseFunc
	mailbox chan command
	head    atomic.Pointer[Head]
	history atomic.Pointer[[]HistoryEntry]
	// done is closed when the tab has ended, stopped when its page is closed and its goroutines are gone.
	done    chan struct{}
	stopped chan struct{}
	err     error
	watches watches
	// reads and beginnings are the turns that reads, and watches that begin, share.
	reads      share[ReadOptions, Reading]
	beginnings share[*watch, struct{}]
	lastRead   atomic.Pointer[lastRead]
	gone       goneDialogs
	windows    windows
	// popups delivers the ids of tabs that this one's page opened.
	popups chan string
	// viewport is what the tab was opened with.
	viewport dom.Box
	// restore says that the tab is brought back when its page is lost; stirred, that it was changed.
	restore atomic.Bool
	stirred chan struct{}
	// leavers counts the calls that wait to navigate the tab elsewhere.
	leavers atomic.Int32
	// answers is the DialogPolicy.
	answers atomic.Uint32
	back    comeback
	// shown is closed as soon as reading the tab makes sense: see show.
	shown    chan struct{}
	children sync.WaitGroup

	state
}

// owner is what a tab needs of its pool. Its methods do not wait for tabs.
type owner interface {
	// tell takes an event of the tab.
	tell(TabEvent)
	// settlePopups returns when every popup that the browser has reported so far is a tab, or refused.
	settlePopups(ctx context.Context)
	// Tab finds another tab.
	Tab(id string) (*Tab, error)
	// reopen opens a page when the browser of its session runs again, however long that takes.
	reopen(ctx context.Context, o driver.PageOptions) (driver.Page, error)
}

// policy is what a tab is told by the pool's configuration.
type policy struct {
	allow             func(url string) error
	navigationTimeout time.Duration
}

// state is what only the tab's goroutine touches.
type state struct {
	events <-chan driver.Event
	// woke is when the goroutine began what it does; zero while nothing is measured.
	woke  time.Time
	model *model.Model
	// info is the next head's, but for the status.
	info     Info
	epoch    string
	document uint64
	// lastMark is the mark of the last read; see ReadRequest.
	lastMark uint64
	// tombstones tell what elements of earlier documents were.
	tombstones map[dom.Ref]tombstone
	// structural is the document that was asked for its structure, if any was.
	structural uint64
	outbox     []TabEvent

	// main is the main document; announced says that the browser has told its URL.
	main      string
	announced bool
	urlKnown  bool
	// address is the URL with the user and the password that it may have: the page is fetched by it again. visited is the URL of
	// the newest entry of the history, as it was.
	address, visited string
	// reached has a bit for every phase that the main document has reached, in any order.
	reached   uint8
	loading   bool
	loadError string
	// cause is what is known of that beyond the browser's own word, or nil.
	cause *apierr.Error
	// limited is the document that has more elements than its observers may keep.
	limited   uint64
	responded driver.Responded
	// recent holds the last main documents, to recognise one that was left again already.
	recent [16]string

	// left says that the browser has let go of the page.
	left         bool
	closed       bool
	crashed      bool
	unresponsive bool
	liveness     Liveness
	// turn is what has the tab, or nil.
	turn *Exclusive
	// These count what happened, for those who wait for it.
	commits, sames, crashes int
	newTabs                 []string
	asked
	notes
	// fetching is the download that was told of last.
	fetching string

	// hold keeps acknowledgements back for the next Read.
	hold bool
	// observed is what the page was last told; known is false after a failure.
	observed observation
	heeded   driver.ObserveOptions
	known    bool
	// caught is the newest Following that the head is up to date for.
	caught  uint64
	network Network
	// selected is what each document told of selectors; merged is made of it, and nil when that has changed.
	selected map[dom.FrameID]driver.Selected
	merged   *selections

	// place is how far the main document is scrolled, as far as is known; located delivers what it says, nil when it was
	// not asked.
	place   driver.ScrollPosition
	located chan locality
	// kept is what was kept last; revived is when the tab was taken over from another process, if it
	// was, and well goes off when that is long enough ago.
	kept    Kept
	revived time.Time
	well    *time.Timer

	// probed delivers what a running probe finds; nil when none runs.
	probed chan bool
	calm   context.CancelFunc
}

// newTab makes a tab; its goroutine is started by run.
func newTab(ctx context.Context, page driver.Page, info Info, cfg *Config, owner owner) *Tab {
	t := &Tab{
		id: info.ID, session: info.Session, owner: owner, keeper: cfg.Keeper, meter: cfg.Meter, tracer: cfg.Tracer, log: cfg.Logger.With("tab", info.ID),
		policy:  policy{allow: cfg.AllowURL, navigationTimeout: cfg.NavigationTimeout},
		limits:  revisions.Limits{Count: cfg.LogCount, Bytes: cfg.LogBytes},
		mailbox: make(chan command, cfg.Mailbox), popups: make(chan string, 16), shown: make(chan struct{}), stirred: make(chan struct{}, 1),
		done: make(chan struct{}), stopped: make(chan struct{}),
		watches: watches{held: map[*watch]struct{}{}, changed: make(chan struct{}, 1)},
	}
	t.life.Store(&life{page: page})
	t.restore.Store(info.Restore)
	t.ctx, t.end = context.WithCancelCause(ctx)
	t.state = state{events: page.Events(), model: model.New(), info: info, address: info.URL, epoch: unguessable(), document: 1, known: true,
		selected: map[dom.FrameID]driver.Selected{}}
	t.liveness.t = t
	t.info.Status, t.info.Revision, t.info.Epoch = StatusReady, 1, t.epoch
	s := &dom.Snapshot{Epoch: t.epoch, Revision: 1, Document: 1, URL: info.URL, ObservedAt: time.Now()}
	t.head.Store(&Head{Snapshot: s, Info: t.info, next: make(chan struct{})})
	t.history.Store(&[]HistoryEntry{})
	return t
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
func (t *Tab) History() []HistoryEntry { return slices.Clone(*t.history.Load()) }

// Done is closed when the tab has ended.
func (t *Tab) Done() <-chan struct{} { return t.done }

// Err is nil until Done is closed. Then it says why the tab has ended: nil when it was closed on
// request or by its own page, an *Error of kind Lost when the browser or the pool went away.
func (t *Tab) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// run is the tab's goroutine. Its owner closes stopped afterwards.
func (t *Tab) run() {
	for t.ctx.Err() == nil {
		t.step(t.ctx, nil, true)
		t.revive()
		t.publish()
		t.sleep()
	}
	t.finish()
	t.letGo()
	t.children.Wait()
	t.discardFetched()
}

// finish publishes the last head and wakes everybody who waits.
func (t *Tab) finish() {
	cause := context.Cause(t.ctx)
	if !errors.Is(cause, errClosed) {
		t.err = cause
	}
	if t.well != nil {
		t.well.Stop()
	}
	var e *apierr.Error
	if t.kept.ID != "" && (t.err == nil || errors.As(cause, &e) && e.Kind == apierr.Closed) {
		t.keeper.Forget(t.id) // it was closed on purpose
	}
	old := t.head.Load()
	t.closed = true
	t.info.Dialog = nil
	info := t.info
	info.Status = StatusClosed
	last := old.follow(old.Snapshot, info, old.refs, t.limits)
	close(last.next)
	t.head.Store(last)
	closed := TabEvent{Kind: TabClosed, Info: last.Info, At: time.Now()}
	if errors.Is(t.err, errIdle) {
		closed.Reason = "idle"
	}
	t.owner.tell(closed)
	close(t.done)
	close(old.next)
}

// letGo closes the page, unless it is gone, and reads its events to the end.
func (t *Tab) letGo() {
	if t.events == nil {
		return
	}
	if t.left {
		for range t.events {
		}
		return
	}
	if err := discard(t.ctx, t.page()); err != nil {
		t.log.Warn("the browser did not close the page in time", "err", err)
	}
}

// discard closes a page and reads its events until the browser has let go of it. The context's end
// does not matter.
func discard(ctx context.Context, page driver.Page) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = page.Close(ctx)
	}()
	for range page.Events() {
	}
	<-done
	return err
}

// ended is the error of a call on a tab that has ended, or ends.
func (t *Tab) ended() error {
	cause := context.Cause(t.ctx)
	var e *apierr.Error
	if errors.As(cause, &e) {
		return &apierr.Error{Kind: e.Kind, Message: e.Message, Detail: e.Detail}
	}
	return &apierr.Error{Kind: apierr.Closed, Message: "tab " + t.id + " is closed: open another"}
}

// status derives the tab's status.
func (t *Tab) status() Status {
	switch {
	case t.closed:
		return StatusClosed
	case t.back.away():
		return StatusRestoring
	case t.crashed:
		return StatusCrashed
	case t.unresponsive:
		return StatusUnresponsive
	case t.loading:
		return StatusLoading
	}
	return StatusReady
}

// Log is what the tab's pages said and asked for. Reading it never waits for the page.
func (t *Tab) Log() *pagelog.Log { return t.page().Log() }
