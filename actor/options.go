package actor

import (
	"context"
	"log/slog"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

// Owner is what a tab needs of who opened it, which is a pool of tabs. Its methods are called by many goroutines.
type Owner interface {
	// Report takes an event of the tab. It must not wait.
	Report(e TabEvent)
	// SettlePopups returns when each popup that the browser has reported so far is a tab, or refused.
	SettlePopups(ctx context.Context)
	// Tab finds another tab.
	Tab(id string) (*Tab, error)
	// Reopen opens a page when the browser of its session runs again, however long that takes.
	Reopen(ctx context.Context, o driver.PageOptions) (driver.Page, error)
}

// Options says what tab to make, and how it works. ID and Session are required; zero is usable for the others.
type Options struct {
	ID, Session string
	// Opener is the id of the tab whose page opened this one, if one did.
	Opener string
	// URL is what the page shows already.
	URL string
	// Viewport is what the page was opened with.
	Viewport dom.Box
	// Restore brings the tab back when its page is lost.
	Restore bool
	// Mailbox is how many calls may wait for the tab; 0: 64.
	Mailbox int
	// LogCount and LogBytes bound what is kept of earlier revisions: how many revisions, and about how
	// many bytes of changes; 0: 1024 and 4 MiB.
	LogCount, LogBytes int
	// NavigationTimeout bounds navigations whose context has no deadline; 0: 30 s.
	NavigationTimeout time.Duration
	// ReadAhead has a page examined as soon as a call has loaded it, and before anybody reads it.
	ReadAhead bool
	// AllowURL says whether the tab may go to a URL; nil allows every URL.
	AllowURL func(url string) error
	// Logger takes what goes into no result; nil: nothing is logged.
	Logger *slog.Logger
	// Meter, Tracer and Keeper take what the tab does; nil: nobody does.
	Meter  Meter
	Tracer Tracer
	Keeper Keeper
	// KeepAll gives the Keeper the Records of tabs that are not restored, too.
	KeepAll bool
	// MayAct is asked when the turn of a call begins that changes the page, or leads it elsewhere, and right before each command that
	// acts on the page: with an error, the call fails with it, and the page is not touched from then on. It must not wait. Nil allows
	// everything.
	MayAct func() error
}

func (o Options) withDefaults() Options {
	o.Mailbox = orDefault(o.Mailbox, 64)
	o.LogCount = orDefault(o.LogCount, 1024)
	o.LogBytes = orDefault(o.LogBytes, 4<<20)
	o.NavigationTimeout = orDefault(o.NavigationTimeout, 30*time.Second)
	if o.AllowURL == nil {
		o.AllowURL = func(string) error { return nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Keeper == nil {
		o.Keeper = noKeeper{}
	}
	return o
}

// noKeeper keeps nothing.
type noKeeper struct{}

func (noKeeper) Keep(restore.Record) {}
func (noKeeper) Forget(string)       {}

func orDefault[T int | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// Meter takes what tabs do, to be counted. Its methods are called from many goroutines and must not wait.
type Meter interface {
	// Published says that a tab has published a revision.
	Published()
	// Busy says how long a tab's goroutine took for one event or one call, waiting for its page included.
	Busy(d time.Duration)
	// Refused says that something was left out because of a limit. There are few limits.
	Refused(limit string)
	// PageAgent says how long the page's main thread was taken to find and write changes, as the page says.
	PageAgent(d time.Duration)
}

// Keeper keeps the tabs that are to be brought back when the process ends without a word. Its methods are called by
// many goroutines and must not wait.
type Keeper interface {
	// Keep stores the Record of a tab, in place of an earlier one.
	Keep(k restore.Record)
	// Forget drops the Record of a tab, if there is one.
	Forget(id string)
}
