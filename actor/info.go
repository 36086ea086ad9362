package actor

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Status is the state of a tab.
type Status uint8

// The states of a tab.
const (
	// StatusLoading: a document is committed, but not loaded yet.
	StatusLoading Status = iota
	// StatusReady: the document is loaded.
	StatusReady
	// StatusCrashed: the renderer is gone; Navigate or Reload brings the tab back under a new epoch.
	StatusCrashed
	// StatusUnresponsive: the page did not answer in time and has shown no life since.
	StatusUnresponsive
	// StatusClosed: the tab has ended.
	StatusClosed
	// StatusRestoring: the page is lost, and is being brought back. See OpenOptions.Restore.
	StatusRestoring
)

// String returns "loading", "ready", "crashed", "unresponsive", "closed" or "restoring".
func (s Status) String() string {
	names := [...]string{"loading", "ready", "crashed", "unresponsive", "closed", "restoring"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Info is what is known about a tab without asking its page. It is an immutable value.
type Info struct {
	ID, Session, URL, Title string
	Status                  Status
	// Revision and Epoch are those of the head's snapshot.
	Revision uint64
	Epoch    string
	// Opener is the id of the tab whose page opened this one; empty when a client did.
	Opener string
	// HTTPStatus is that of the main document; 0 when it had none.
	HTTPStatus int
	// Dialog is the dialog that is open now, or nil. It is not to be written to.
	Dialog *driver.Dialog
	// Restore says that the tab is brought back when its page is lost.
	Restore bool
	// Frozen says that the page is frozen, because nobody uses the tab: it runs no timers until the next call.
	Frozen bool
	// Why says what keeps a tab that was to be brought back from being of use; empty otherwise.
	Why string
}

// HistoryEntry is a page that a tab showed.
type HistoryEntry = dom.Visit

// Wait says when a navigation counts as done. The zero value is WaitLoad.
type Wait uint8

// The points to wait for.
const (
	// WaitLoad waits for the load event.
	WaitLoad Wait = iota
	// WaitCommit waits for the new document, of which nothing may be parsed yet.
	WaitCommit
	// WaitDOMContentLoaded waits until the document is parsed.
	WaitDOMContentLoaded
	// WaitNetworkIdle waits until the network was quiet after the load event.
	WaitNetworkIdle
)

// phase is the phase that ends the wait.
func (w Wait) phase() driver.Phase {
	switch w {
	case WaitCommit:
		return driver.PhaseCommit
	case WaitDOMContentLoaded:
		return driver.PhaseDOMContentLoaded
	case WaitNetworkIdle:
		return driver.PhaseNetworkIdle
	}
	return driver.PhaseLoad
}

// Unavailable is the error of what needs the page of a tab that is crashed, or being restored; nil for any other. Again is what
// to do then, in a word such as "watch".
func (i Info) Unavailable(again string) error {
	switch i.Status {
	case StatusRestoring:
		return &apierr.Error{
			Kind: apierr.Restoring, Message: "tab " + i.ID + " lost its page and is being brought back at its URL: " + again + " again in a moment; " +
				"refs of the page before are gone, and so is what was typed",
			Detail: map[string]string{"tab_id": i.ID},
		}
	case StatusCrashed:
		if i.Why != "" {
			return apierr.Errorf(apierr.Lost, "tab %s stays crashed: %s", i.ID, i.Why)
		}
		return apierr.Errorf(apierr.Lost, "the renderer of tab %s crashed: Reload or Navigate, then %s again", i.ID, again)
	}
	return nil
}
