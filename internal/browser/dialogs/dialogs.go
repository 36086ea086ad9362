// Package dialogs handles the JavaScript dialogs of a page: alert, confirm, prompt and beforeunload.
//
// The browser reports the dialogs of all frames, in any process, on the page's main session, and shows one at a time. Dialogs immediately
// answers the dialogs that its policy covers. Others stay open until AnswerDialog.
package dialogs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Dialogs manages the dialogs of one page.
type Dialogs struct {
	m *frames.Manager
	// State is guarded by the monitor.
	State State
	// answering holds a token while a dialog is being answered.
	answering chan struct{}
}

// New returns the Dialogs of a page.
func New(m *frames.Manager) *Dialogs { return &Dialogs{m: m, answering: make(chan struct{}, 1)} }

// Opening handles a new dialog. It runs on the page's loop.
func (d *Dialogs) Opening(e cdppage.EventJavascriptDialogOpening) {
	d.m.Lock()
	opened := d.State.Opened(e.Type.String(), e.Message, e.DefaultPrompt, time.Now())
	answer := d.answer(opened.Answer != driver.Unanswered)
	d.m.Notify()
	d.m.Unlock()
	answer()
	d.m.Emit(driver.DialogOpened{Dialog: opened})
}

// Closing handles a closed dialog. If the dialog prevents a page from being left, Closing calls kept with the lock held. It runs on the
// page's loop.
func (d *Dialogs) Closing(e cdppage.EventJavascriptDialogClosed, kept func()) {
	d.m.Lock()
	closed, stays := d.State.Closed(e.Result, time.Now())
	if stays {
		kept()
	}
	d.m.Notify()
	d.m.Unlock()
	d.m.Emit(driver.DialogClosed{Dialog: closed})
}

// answer returns a function that answers the open dialog. The caller holds the lock, and must release it before it calls the returned
// function.
func (d *Dialogs) answer(due bool) func() {
	if !due {
		return func() {}
	}
	open, prompt := d.State.Open()
	params := cdppage.HandleJavaScriptDialogParams{Accept: open.Answer == driver.Accepted, PromptText: prompt}
	return func() { d.m.Main.Post(d.m.Life, cdppage.CommandHandleJavaScriptDialog, params) }
}

// SetDialogPolicy sets the immediate answer to dialogs, including the open one; see driver.Dialogs.
func (d *Dialogs) SetDialogPolicy(policy driver.DialogPolicy) {
	d.change(func(s *State) { s.SetPolicy(policy) })
}

// Leave dismisses the dialogs of a page that is being left, which would otherwise block it, until stay is called or another document is
// committed.
func (d *Dialogs) Leave() (stay func()) {
	d.change(func(s *State) { s.SetLeaving(true) })
	return func() { d.change(func(s *State) { s.SetLeaving(false) }) }
}

// change changes the state, and answers the open dialog if the new state has an answer for it.
func (d *Dialogs) change(change func(*State)) {
	d.m.Lock()
	change(&d.State)
	answer := d.answer(d.State.Reconsider())
	d.m.Unlock()
	answer()
}

// AnswerDialog answers the open dialog; see driver.Dialogs. Answers are sent one at a time, because the protocol does not identify the
// dialog that an answer is for.
func (d *Dialogs) AnswerDialog(ctx context.Context, a driver.DialogAnswer) (driver.Dialog, error) {
	select {
	case d.answering <- struct{}{}:
		defer func() { <-d.answering }()
	case <-ctx.Done():
		return driver.Dialog{}, context.Cause(ctx)
	case <-d.m.Life.Done():
		return driver.Dialog{}, d.m.Gone()
	}
	open, text := d.Open()
	switch {
	case open.ID == 0:
		return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "no dialog is open: continue without an answer")
	case a.ID != 0 && a.ID != open.ID:
		return driver.Dialog{}, apierr.Errorf(apierr.NoDialog,
			"dialog %d is no longer open, but dialog %d is (%s %q): read it, then answer it", a.ID, open.ID, open.Type, open.Message)
	}
	if a.Text != nil {
		text = *a.Text
	}
	_, err := cdp.Call(ctx, d.m.Main, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: a.Accept, PromptText: text})
	if _, ok := errors.AsType[*cdproto.Error](err); ok && d.m.Life.Err() == nil {
		_ = d.m.Barrier(ctx) // after the barrier, the dialog's outcome is known
		return driver.Dialog{}, &apierr.Error{Kind: apierr.NoDialog, Message: fmt.Sprintf("the dialog %q closed before the answer: continue without one", open.Message), Err: err}
	}
	if err == nil {
		err = d.m.Barrier(ctx)
	}
	if err != nil {
		return driver.Dialog{}, d.m.Failed(err)
	}
	d.m.Lock()
	defer d.m.Unlock()
	return d.State.Reached(open, a.Accept), nil
}

// Open returns the open dialog with its full default text, or the zero value.
func (d *Dialogs) Open() (open driver.Dialog, prompt string) {
	d.m.Lock()
	defer d.m.Unlock()
	return d.State.Open()
}

// Count returns how many dialogs the page has opened.
func (d *Dialogs) Count() uint64 {
	d.m.Lock()
	defer d.m.Unlock()
	return d.State.Count()
}
