package tabpool

import (
	"log/slog"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// Config tunes a pool. The zero value is usable.
type Config struct {
	// MaxTabs is how many tabs may be open at once, popups included; 0: 100.
	MaxTabs int
	// Mailbox is how many calls may wait for one tab; 0: 64.
	Mailbox int
	// LogCount and LogBytes bound what each tab keeps of earlier revisions: how many revisions, and
	// about how many bytes of changes; 0: 1024 and 4 MiB. A small page keeps less: 96 KiB, or what
	// twice its elements take.
	LogCount, LogBytes int
	// Logger takes what goes into no result; nil: nothing is logged.
	Logger *slog.Logger
	// AllowURL says whether tabs may go to a URL; its error should be an *Error of kind Refused. Nil
	// allows every URL. Many goroutines call it at once.
	AllowURL func(url string) error
	// NavigationTimeout bounds navigations whose context has no deadline; 0: 30 s.
	NavigationTimeout time.Duration
	// ReadAhead has pages that a call loaded examined right away, so that their first read finds them ready.
	ReadAhead bool
	// Dialogs says who answers the dialogs of the default session, until SetDialogPolicy says otherwise.
	Dialogs driver.DialogPolicy
	// Meter counts what the tabs do; nil: nothing is measured.
	Meter actor.Meter
	// Tracer traces the turns of tabs; nil: nothing is traced.
	Tracer actor.Tracer
	// Keeper keeps the tabs to restore for the next process; nil: none are kept.
	Keeper actor.Keeper
	// KeepAll gives the Keeper all tabs, also those that are not to be restored.
	KeepAll bool
	// MayAct is asked when a call is about to act on a tab of a session, and right before each command that acts on its page: with an
	// error, the call fails with it, and the page is not touched from then on. It must not wait. Nil allows everything.
	MayAct func(session string) error
	// Opaque reports whether the tabs of a session have ids that cannot be guessed and do not reveal
	// how many tabs there are; nil: none have.
	Opaque func(session string) bool
	// Quota says which client the tabs of a session belong to, and how many tabs that client may have,
	// so that it leaves room for others. An empty client, or nil: as many as MaxTabs allows.
	Quota func(session string) (client string, tabs int)
	// Elsewhere is how many tabs a client has beyond this pool, which count against its Quota, too. It must not wait. Nil: none.
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

// options fills in what all tabs of the pool have in common.
func (c *Config) options(o actor.Options) actor.Options {
	o.Mailbox, o.LogCount, o.LogBytes = c.Mailbox, c.LogCount, c.LogBytes
	o.NavigationTimeout, o.AllowURL, o.ReadAhead = c.NavigationTimeout, c.AllowURL, c.ReadAhead
	o.Logger, o.Meter, o.Tracer, o.Keeper, o.KeepAll = c.Logger, c.Meter, c.Tracer, c.Keeper, c.KeepAll
	if session := o.Session; c.MayAct != nil {
		o.MayAct = func() error { return c.MayAct(session) }
	}
	return o
}
