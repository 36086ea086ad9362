package sideeffects

import (
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// maxReported limits how many immediately answered dialogs are reported within reportWindow.
	maxReported  = 32
	reportWindow = time.Second
)

// Dialogs tracks the dialogs of a tab. The zero value has none.
type Dialogs struct {
	open *driver.Dialog
	// opened counts all dialogs, and halts the dialogs that stop the page.
	opened, halts int
	// offset is the ID of the last dialog of the earlier pages. The dialog IDs of this page continue from there.
	offset uint64
	// last is the ID of the last opened dialog, and closed the ID of the last closed one.
	last, closed uint64
	// reported counts the immediately answered dialogs since the time in since.
	reported int
	since    time.Time
}

// Report describes what to publish about a change.
type Report struct {
	// Event reports whether there is an event. Dialog is its dialog, or nil if the dialog closed.
	Event  bool
	Dialog *driver.Dialog
	// Text, if not empty, is for the result of the running action.
	Text string
}

// Opened records a dialog that the page has opened.
func (s *Dialogs) Opened(d driver.Dialog, now time.Time) Report {
	d.Message, d.Default = truncate.Runes(d.Message, text.Long), truncate.Runes(d.Default, text.Long)
	d.ID += s.offset
	s.last = max(s.last, d.ID)
	s.opened++
	if d.Answer == driver.Unanswered {
		s.halts++
		s.open = &d
		return Report{Event: true, Dialog: &d}
	}
	if now.Sub(s.since) > reportWindow {
		s.since, s.reported = now, 0
	}
	if s.reported++; s.reported > maxReported {
		return Report{}
	}
	return Report{Event: true, Dialog: &d, Text: fmt.Sprintf("%s %q was %s", d.Type, truncate.Runes(d.Message, text.Short), d.Answer)}
}

// Closed records a dialog that has closed.
func (s *Dialogs) Closed(d driver.Dialog) Report {
	s.closed = max(s.closed, d.ID+s.offset)
	return s.Close()
}

// Close records that no dialog is open any more.
func (s *Dialogs) Close() Report {
	if s.open == nil {
		return Report{}
	}
	s.open = nil
	return Report{Event: true}
}

// Lose records that the page is gone with its dialogs, which remain unanswered.
func (s *Dialogs) Lose() Report {
	s.closed = s.last
	return s.Close()
}

// Attach starts over with another page, and returns the ID from which its dialogs continue.
func (s *Dialogs) Attach() (offset uint64) {
	s.offset = s.last
	return s.offset
}

// Open returns the open dialog, or nil. It must not be modified.
func (s *Dialogs) Open() *driver.Dialog { return s.open }

// LastClosed returns the ID of the last closed dialog.
func (s *Dialogs) LastClosed() uint64 { return s.closed }

// Counts returns how many dialogs were opened, and how many of them stopped the page.
func (s *Dialogs) Counts() (opened, halts int) { return s.opened, s.halts }

// Err returns the error for calls that need the page while a dialog blocks it, or nil if no dialog is open.
func (s *Dialogs) Err(tab string) error {
	d := s.open
	if d == nil {
		return nil
	}
	what := "accept or dismiss it first, with AnswerDialog (domtap dialog accept | dismiss)"
	if d.Type == "beforeunload" {
		what = "it asks whether to leave the page; accept it to leave or dismiss it to stay, with AnswerDialog (domtap dialog accept | dismiss)"
	}
	return &apierr.Error{
		Kind:    apierr.DialogOpen,
		Message: fmt.Sprintf("tab %s waits behind a dialog (%s %q): %s", tab, d.Type, d.Message, what),
		Detail:  map[string]string{"type": d.Type, "message": d.Message},
	}
}

// UnloadErr returns the error for a navigation that a beforeunload dialog of the old page blocks, and nil otherwise.
func (s *Dialogs) UnloadErr(tab string) error {
	if s.open != nil && s.open.Type == "beforeunload" {
		return s.Err(tab)
	}
	return nil
}
