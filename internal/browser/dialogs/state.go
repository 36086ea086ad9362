package dialogs

import (
	"time"

	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/truncate"
)

// State tracks the dialogs of a page. It is a plain value guarded by the page's monitor.
type State struct {
	policy driver.DialogPolicy
	// count is how many dialogs were opened. open is the open dialog, and prompt its full default text.
	count  uint64
	open   *driver.Dialog
	prompt string
	// ended holds the last closed dialogs, oldest first.
	ended []driver.Dialog
	// leaving is set while the page is being left. Its dialogs are then dismissed.
	leaving bool
	// unloads counts the beforeunload dialogs. stays counts those that kept the page.
	unloads, stays int
	// row counts dialogs that followed each other almost without a pause. last is when the last one closed.
	row  int
	last time.Time
}

// A page that opens more than maxRow dialogs in a row, without a pause of rowPause, gets no more immediate answers. Otherwise it could open
// dialogs forever, and no call would end.
const (
	maxRow   = 200
	rowPause = time.Second
)

const (
	// maxEnded limits the remembered closed dialogs, which serve to determine which dialog an answer reached.
	maxEnded = 8
	// maxPrompt limits a prompt's default text, in bytes.
	maxPrompt = 400_000
	// maxText limits the texts of a dialog, in characters.
	maxText = 1000
)

func head(text string) string {
	text, _ = truncate.Head(text, maxText)
	return text
}

const beforeUnload = string(cdppage.DialogTypeBeforeunload)

// Opened records a dialog and returns it with its immediate answer.
func (s *State) Opened(kind, message, prompt string, now time.Time) driver.Dialog {
	s.count++
	if now.Sub(s.last) > rowPause {
		s.row = 0
	}
	s.row++
	if kind == beforeUnload {
		s.unloads++
	}
	s.open = &driver.Dialog{ID: s.count, Type: kind, Message: head(message), Default: head(prompt), Answer: s.answerTo(kind)}
	s.prompt = prompt[:min(len(prompt), maxPrompt)]
	return *s.open
}

// answerTo returns the immediate answer to a dialog of a type, if any.
func (s *State) answerTo(kind string) driver.Answer {
	switch {
	case s.leaving && kind != beforeUnload: // leaving must succeed eventually
		return driver.Dismissed
	case s.row >= maxRow:
		return driver.Unanswered
	case s.policy == driver.AcceptDialogs:
		return driver.Accepted
	case s.policy == driver.DismissDialogs:
		return driver.Dismissed
	}
	return driver.Unanswered
}

// Closed records that the open dialog was closed. stays reports whether this prevents the page from being left.
func (s *State) Closed(accepted bool, now time.Time) (d driver.Dialog, stays bool) {
	if s.open != nil { // nil if the dialog opened before we listened to the page
		d = *s.open
	}
	if d.Answer = driver.Dismissed; accepted {
		d.Answer = driver.Accepted
	}
	if stays = d.Answer == driver.Dismissed && d.Type == beforeUnload; stays {
		s.stays++
	}
	if s.ended = append(s.ended, d); len(s.ended) > maxEnded {
		s.ended = s.ended[1:]
	}
	s.open, s.last = nil, now
	return d, stays
}

// Lost records that the renderer is gone, and the open dialog with it.
func (s *State) Lost() { s.open = nil }

// SetPolicy sets the immediate answer to dialogs.
func (s *State) SetPolicy(policy driver.DialogPolicy) { s.policy = policy }

// SetLeaving records whether the page is being left. Beforeunload dialogs still follow the policy.
func (s *State) SetLeaving(leaving bool) { s.leaving = leaving }

// Reconsider sets the open dialog's answer from the current state, and reports whether there is an answer to send.
func (s *State) Reconsider() bool {
	if s.open == nil || s.open.Answer != driver.Unanswered {
		return false
	}
	s.open.Answer = s.answerTo(s.open.Type)
	return s.open.Answer != driver.Unanswered
}

// Open returns the open dialog with its full default text, or the zero value.
func (s *State) Open() (d driver.Dialog, prompt string) {
	if s.open != nil {
		d = *s.open
	}
	return d, s.prompt
}

// Count returns how many dialogs the page has opened.
func (s *State) Count() uint64 { return s.count }

// Unloads returns how many beforeunload dialogs the page has opened.
func (s *State) Unloads() int { return s.unloads }

// Stays returns how many beforeunload dialogs kept the page.
func (s *State) Stays() int { return s.stays }

// Reached returns the dialog that an answer reached. open is the dialog that was open when the answer was sent. The browser reports that a
// dialog is closed right before it confirms the answer. The answer reached a later dialog only if the open dialog closed by itself and
// another opened at that moment.
func (s *State) Reached(open driver.Dialog, accept bool) driver.Dialog {
	want := driver.Dismissed
	if accept {
		want = driver.Accepted
	}
	found := open
	for _, d := range s.ended {
		if d.ID >= open.ID && d.Answer == want {
			found = d
			break
		}
	}
	found.Answer = want
	return found
}
