package actor

import (
	"time"

	"github.com/domtap/domtap/actor/driver"
)

// TabEventKind is what happened to a tab.
type TabEventKind uint8

// The kinds of tab events.
const (
	// TabOpened: the tab is there.
	TabOpened TabEventKind = iota
	// TabClosed: the tab is gone.
	TabClosed
	// TabNavigated: the main frame shows another document, or its URL changed within one (Same).
	TabNavigated
	// TabCrashed: the renderer is gone; see Reason.
	TabCrashed
	// TabDialog: a dialog opened, or closed when Dialog is nil.
	TabDialog
	// TabDownloaded: a download changed its state; see Download.
	TabDownloaded
	// TabRestoring: the tab lost its page and is being brought back; see Reason. It ends with TabRestored, with another
	// TabCrashed that says why not, or with TabClosed.
	TabRestoring
	// TabRestored: the tab is back, in another epoch.
	TabRestored
)

// TabEvent is something that happened to a tab.
type TabEvent struct {
	Kind TabEventKind
	// Info is the tab right after the event.
	Info Info
	// At is when the event was published.
	At       time.Time
	Same     bool
	Reason   string
	Dialog   *driver.Dialog
	Download driver.Download
}
