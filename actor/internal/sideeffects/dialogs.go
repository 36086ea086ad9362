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
	// maxReported is how many dialogs that were answered at once are reported within reportWindow.
	maxReported  = 32
	reportWindow = time.Second
)

// Dialogs are the dialogs of a tab. The zero value has none.
type Dialogs struct {
	open *driver.Dialog
	// opened counts all, halts those that stop the page.
	opened, halts int
	// offset is the id of the last dialog of the pages before: those of this page count on from there.
	offset uint64
	// last is the last dialog that was opened, closed the last one that is closed.
	last, closed uint64
	// reported counts those that were answered at once, since the time that is kept.
	reported int
	since    time.Time
}

// Report says what there is to tell of a change.
type Report struct {
	// Event says that there is an event, whose dialog is Dialog: nil for one that closed.
	Event  bool
	Dialog *driver.Dialog
	// Note, when it is not empty, is for the result of the action under way.
	Note string
}

// Opened takes a dialog that the page has opened.
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
	return Report{Event: true, Dialog: &d, Note: fmt.Sprintf("%s %q was %s", d.Type, truncate.Runes(d.Message, text.Short), d.Answer)}
}

// Closed takes a dialog that is gone.
func (s *Dialogs) Closed(d driver.Dialog) Report {
	s.closed = max(s.closed, d.ID+s.offset)
	return s.Close()
}

// Close says that no dialog is open any more.
func (s *Dialogs) Close() Report {
	if s.open == nil {
		return Report{}
	}
	s.open = nil
	return Report{Event: true}
}

// Lose says that the page is gone, and its dialogs with it: nobody answers them.
func (s *Dialogs) Lose() Report {
	s.closed = s.last
	return s.Close()
}

// Attach begins with another page, and returns the id that its dialogs count on from.
func (s *Dialogs) Attach() (offset uint64) {
	s.offset = s.last
	return s.offset
}

// Open is the dialog that is open, or nil. It is not to be written to.
func (s *Dialogs) Open() *driver.Dialog { return s.open }

// LastClosed is the id of the last dialog that is gone.
func (s *Dialogs) LastClosed() uint64 { return s.closed }

// Counts returns how many dialogs were opened, and how many of them stopped the page.
func (s *Dialogs) Counts() (opened, halts int) { return s.opened, s.halts }

// Err is the error of a call that needs a page which waits behind a dialog; nil when none is open.
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

// UnloadErr is the error of a navigation that the old page holds up by asking whether to leave it; nil otherwise.
func (s *Dialogs) UnloadErr(tab string) error {
	if s.open != nil && s.open.Type == "beforeunload" {
		return s.Err(tab)
	}
	return nil
}
