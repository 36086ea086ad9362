package dialogs

import (
	"time"

	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/truncate"
)

// State is what a page knows of its dialogs. It is a plain value; the page's monitor guards it.
type State struct {
	policy driver.DialogPolicy
	// count is how many dialogs were opened, open the one that is open now, and prompt its whole default text.
	count  uint64
	open   *driver.Dialog
	prompt string
	// ended holds the last dialogs that are closed, oldest first.
	ended []driver.Dialog
	// leaving says that the page is being left: what it still opens is dismissed.
	leaving bool
	// unloads counts the beforeunload dialogs, stays those that kept the page.
	unloads, stays int
	// row counts the dialogs that followed each other with hardly a pause in between, the last one at the time that is kept.
	row  int
	last time.Time
}

// A page that opens more than maxRow dialogs in a row, without a pause of rowPause, gets no more answers at once: it would
// do nothing else for ever, and no call would end.
const (
	maxRow   = 200
	rowPause = time.Second
)

const (
	// maxEnded is how many closed dialogs are remembered, to know which one an answer reached.
	maxEnded = 8
	// maxPrompt bounds a prompt's default text, in bytes.
	maxPrompt = 400_000
	// maxText bounds the texts of a dialog, in characters.
	maxText = 1000
)

func head(text string) string {
	text, _ = truncate.Head(text, maxText)
	return text
}

const beforeUnload = string(cdppage.DialogTypeBeforeunload)

// Opened notes a dialog, with the answer that it gets at once.
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

// answerTo is the answer that a dialog of a type gets at once, if any.
func (s *State) answerTo(kind string) driver.Answer {
	switch {
	case s.leaving && kind != beforeUnload: // whoever leaves gets away, sooner or later
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

// Closed notes that the open dialog was closed; stays reports whether that keeps a page that was to be left.
func (s *State) Closed(accepted bool, now time.Time) (d driver.Dialog, stays bool) {
	if s.open != nil { // else it was open before the page was listened to
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

// Lost notes that the renderer is gone, and with it the open dialog.
func (s *State) Lost() { s.open = nil }

// SetPolicy sets the answer that dialogs get at once.
func (s *State) SetPolicy(policy driver.DialogPolicy) { s.policy = policy }

// SetLeaving says whether the page is being left. A beforeunload dialog is not the page's to decide.
func (s *State) SetLeaving(leaving bool) { s.leaving = leaving }

// Reconsider gives the open dialog the answer that it would get at once by now, and reports whether there is one to send.
func (s *State) Reconsider() bool {
	if s.open == nil || s.open.Answer != driver.Unanswered {
		return false
	}
	s.open.Answer = s.answerTo(s.open.Type)
	return s.open.Answer != driver.Unanswered
}

// Open is the dialog that is open, with its whole default text; the zero value when there is none.
func (s *State) Open() (d driver.Dialog, prompt string) {
	if s.open != nil {
		d = *s.open
	}
	return d, s.prompt
}

// Count is how many dialogs the page has opened so far.
func (s *State) Count() uint64 { return s.count }

// Unloads is how many beforeunload dialogs the page has opened, and Stays how many of them kept the page.
func (s *State) Unloads() int { return s.unloads }

// Stays is how many beforeunload dialogs kept the page.
func (s *State) Stays() int { return s.stays }

// Reached is the dialog that an answer reached, which was sent while open was: the browser reports that a dialog is closed
// right before it reports that the dialog was answered. Only when the open dialog closed by itself and another came at the
// same moment did the answer reach that one.
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
