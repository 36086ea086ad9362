package tabpool

import (
	"log/slog"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// Config configures a pool. The zero value is usable.
type Config struct {
	// MaxTabs limits how many tabs may be open, including popups. The default is 100.
	MaxTabs int
	// Mailbox limits how many calls may wait for one tab. The default is 64.
	Mailbox int
	// LogCount and LogBytes limit each tab's log of earlier revisions: the number of revisions, and the approximate size of their changes
	// in bytes. The defaults are 1024 and 4 MiB. A small page keeps less: 96 KiB, or twice the size of its elements.
	LogCount, LogBytes int
	// Logger receives log messages. If nil, nothing is logged.
	Logger *slog.Logger
	// AllowURL returns an error for URLs that tabs may not open, which should be an *Error of kind Refused. If nil, all URLs are allowed.
	// It is called concurrently.
	AllowURL func(url string) error
	// NavigationTimeout bounds navigations whose context has no deadline. The default is 30 seconds.
	NavigationTimeout time.Duration
	// ReadAhead examines pages as soon as a call has loaded them, so that their first read is fast.
	ReadAhead bool
	// Dialogs is the dialog policy of the default session, until SetDialogPolicy changes it.
	Dialogs driver.DialogPolicy
	// Meter counts what the tabs do. If nil, nothing is measured.
	Meter actor.Meter
	// Tracer traces the turns of tabs. If nil, nothing is traced.
	Tracer actor.Tracer
	// RestoreStore stores the tabs to restore for the next process. If nil, none are stored.
	RestoreStore actor.RestoreStore
	// KeepAll passes all tabs to the RestoreStore, including those that are not to be restored.
	KeepAll bool
	// MayAct is called when a call is about to act on a tab of a session, and right before each command that acts on its page. If it
	// returns an error, the call fails with that error and does not touch the page any more. It must not block. If nil, everything is
	// allowed.
	MayAct func(session string) error
	// Opaque reports whether the tabs of a session get IDs that cannot be guessed and do not reveal the number of tabs. If nil, no session
	// does.
	Opaque func(session string) bool
	// Quota returns the client that the tabs of a session belong to, and how many tabs that client may have, so that there is room for
	// others. If Quota is nil or the client is empty, only MaxTabs applies.
	Quota func(session string) (client string, tabs int)
	// Elsewhere returns how many tabs a client has outside this pool. They also count against its Quota. It must not block. If nil, there
	// are none.
	Elsewhere func(client string) int
}

func (c Config) withDefaults() Config {
	if c.MaxTabs <= 0 {
		c.MaxTabs = 100
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.AllowURL == nil {
		c.AllowURL = func(string) error { return nil }
	}
	if c.Opaque == nil {
		c.Opaque = func(string) bool { return false }
	}
	if c.Quota == nil {
		c.Quota = func(string) (string, int) { return "", 0 }
	}
	if c.Elsewhere == nil {
		c.Elsewhere = func(string) int { return 0 }
	}
	return c
}

// options adds the options that all tabs of the pool share.
func (c *Config) options(o actor.Options) actor.Options {
	o.Mailbox, o.LogCount, o.LogBytes = c.Mailbox, c.LogCount, c.LogBytes
	o.NavigationTimeout, o.AllowURL, o.ReadAhead = c.NavigationTimeout, c.AllowURL, c.ReadAhead
	o.Logger, o.Meter, o.Tracer, o.RestoreStore, o.KeepAll = c.Logger, c.Meter, c.Tracer, c.RestoreStore, c.KeepAll
	if session := o.Session; c.MayAct != nil {
		o.MayAct = func() error { return c.MayAct(session) }
	}
	return o
}
