package actor

import (
	"context"
	"log/slog"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
)

// Owner provides a tab with services of its owner, the pool of tabs. Its methods are called from many goroutines.
type Owner interface {
	// Report receives an event of the tab. It must not block.
	Report(e TabEvent)
	// SettlePopups returns when each popup that the browser has reported so far has become a tab or was refused.
	SettlePopups(ctx context.Context)
	// Tab returns another tab.
	Tab(id string) (*Tab, error)
	// Reopen opens a page once the session's browser runs again, however long that takes.
	Reopen(ctx context.Context, o driver.PageOptions) (driver.Page, error)
}

// Options configures a tab. ID and Session are required; all other fields may be zero.
type Options struct {
	ID, Session string
	// Opener is the ID of the tab whose page opened this one, if any.
	Opener string
	// URL is the URL that the page already shows.
	URL string
	// Viewport is the viewport that the page was opened with.
	Viewport dom.Box
	// Restore restores the tab when it loses its page.
	Restore bool
	// Mailbox limits how many calls may wait for the tab. The default is 64.
	Mailbox int
	// LogCount and LogBytes limit the log of earlier revisions: the number of revisions, and the approximate size of their changes in
	// bytes. The defaults are 1024 and 4 MiB.
	LogCount, LogBytes int
	// NavigationTimeout bounds navigations whose context has no deadline. The default is 30 seconds.
	NavigationTimeout time.Duration
	// ReadAhead examines a page as soon as a call has loaded it, before the first read.
	ReadAhead bool
	// AllowURL returns an error for URLs that the tab may not open. If nil, all URLs are allowed.
	AllowURL func(url string) error
	// Logger receives log messages. If nil, nothing is logged.
	Logger *slog.Logger
	// Meter, Tracer and RestoreStore observe the tab. Each may be nil.
	Meter        Meter
	Tracer       Tracer
	RestoreStore RestoreStore
	// KeepAll passes the Records of all tabs to the RestoreStore, including tabs that are not restored.
	KeepAll bool
	// MayAct is called when a call that changes the page or navigates starts its turn, and right before each command that acts on the page.
	// If it returns an error, the call fails with that error and does not touch the page any more. It must not block. If nil, everything is
	// allowed.
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
	if o.RestoreStore == nil {
		o.RestoreStore = noStore{}
	}
	return o
}

// noStore is a RestoreStore that stores nothing.
type noStore struct{}

func (noStore) Keep(restore.Record) {}
func (noStore) Forget(string)       {}

func orDefault[T int | time.Duration](v, standard T) T {
	if v <= 0 {
		return standard
	}
	return v
}

// Meter counts what tabs do. Its methods are called from many goroutines and must not block.
type Meter interface {
	// Published reports that a tab has published a revision.
	Published()
	// Busy reports how long a tab's goroutine took for one event or one call, including the time waiting for its page.
	Busy(d time.Duration)
	// Refused reports that something was omitted because of a limit. The number of different limits is small.
	Refused(limit string)
	// PageAgent reports how long the page's main thread took to find and write changes, as measured by the page.
	PageAgent(d time.Duration)
}

// RestoreStore stores the tabs that are to be restored after the process has ended unexpectedly. Its methods are called from many
// goroutines and must not block.
type RestoreStore interface {
	// Keep stores the Record of a tab and replaces an earlier one.
	Keep(k restore.Record)
	// Forget deletes the Record of a tab, if there is one.
	Forget(id string)
}
