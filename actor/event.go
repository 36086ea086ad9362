package actor

import (
	"time"

	"github.com/domtap/domtap/actor/driver"
)

// TabEventKind identifies the kind of a TabEvent.
type TabEventKind uint8

// The kinds of tab events.
const (
	// TabOpened reports that the tab exists.
	TabOpened TabEventKind = iota
	// TabClosed reports that the tab has ended.
	TabClosed
	// TabNavigated reports that the main frame shows another document, or that its URL changed within the document (Same).
	TabNavigated
	// TabCrashed reports that the renderer crashed; see Reason.
	TabCrashed
	// TabDialog reports that a dialog opened, or closed if Dialog is nil.
	TabDialog
	// TabDownloaded reports that a download changed its state; see Download.
	TabDownloaded
	// TabRestoring reports that the tab lost its page and is being restored; see Reason. A TabRestored event follows, or a TabCrashed event
	// with the reason why restoring failed, or a TabClosed event.
	TabRestoring
	// TabRestored reports that the tab was restored, in another epoch.
	TabRestored
)

// TabEvent is something that happened to a tab.
type TabEvent struct {
	Kind TabEventKind
	// Info is the state of the tab right after the event.
	Info Info
	// At is the time at which the event was published.
	At       time.Time
	Same     bool
	Reason   string
	Dialog   *driver.Dialog
	Download driver.Download
}
