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
	// StatusLoading means that a document is committed but not loaded yet.
	StatusLoading Status = iota
	// StatusReady means that the document is loaded.
	StatusReady
	// StatusCrashed means that the renderer crashed. Navigate or Reload restarts the tab in a new epoch.
	StatusCrashed
	// StatusUnresponsive means that the page did not answer in time and has not answered since.
	StatusUnresponsive
	// StatusClosed means that the tab has ended.
	StatusClosed
	// StatusRestoring means that the tab lost its page and is being restored. See OpenOptions.Restore.
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

// Info describes a tab without querying its page. It is an immutable value.
type Info struct {
	ID, Session, URL, Title string
	Status                  Status
	// Revision and Epoch belong to the head's snapshot.
	Revision uint64
	Epoch    string
	// Opener is the ID of the tab whose page opened this one. It is empty if a client opened the tab.
	Opener string
	// HTTPStatus is the HTTP status of the main document, or 0 if there is none.
	HTTPStatus int
	// Dialog is the open dialog, or nil. It must not be modified.
	Dialog *driver.Dialog
	// Tools are the tools that the page offers, or nil. They must not be modified.
	Tools *driver.ToolsChanged
	// Restore reports whether the tab is restored when it loses its page.
	Restore bool
	// Frozen reports whether the page is frozen because the tab is idle. A frozen page runs no timers until the next call.
	Frozen bool
	// TakenOver reports whether the page belongs to the user of the browser. The tab's end does not close it.
	TakenOver bool
	// Why is the reason why restoring the tab failed. It is empty otherwise.
	Why string
}

// HistoryEntry is a page in the tab's history.
type HistoryEntry = dom.Visit

// Wait selects when a navigation counts as done. The zero value is WaitLoad.
type Wait uint8

// The points to wait for.
const (
	// WaitLoad waits for the load event.
	WaitLoad Wait = iota
	// WaitCommit waits until the new document is committed. None of it may be parsed yet.
	WaitCommit
	// WaitDOMContentLoaded waits until the document is parsed.
	WaitDOMContentLoaded
	// WaitNetworkIdle waits until the network is idle after the load event.
	WaitNetworkIdle
)

// phase returns the phase that ends the wait.
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

// Unavailable returns the error for calls that need the page of a tab that has crashed or is being restored, and nil in any other status.
// Again is the verb for the hint to retry, such as "watch".
func (i Info) Unavailable(again string) error {
	switch i.Status {
	case StatusRestoring:
		return &apierr.Error{
			Kind: apierr.Restoring, Message: "tab " + i.ID + " lost its page and is being restored at its URL: " + again + " again in a moment; " +
				"earlier refs and typed text are lost",
			Detail: map[string]string{"tab_id": i.ID},
		}
	case StatusCrashed:
		if i.Why != "" {
			return apierr.Errorf(apierr.Lost, "tab %s crashed and was not restored: %s", i.ID, i.Why)
		}
		return apierr.Errorf(apierr.Lost, "the renderer of tab %s crashed: Reload or Navigate, then %s again", i.ID, again)
	}
	return nil
}
