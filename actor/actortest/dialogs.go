package actortest

import (
	"context"
	"slices"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// dialogs implements driver.Dialogs.
type dialogs struct {
	*Page
	dialog *driver.Dialog
	answer chan struct{}
	policy driver.DialogPolicy
	opened uint64

	answers []Answer
}

// Answer is the answer to a dialog.
type Answer struct {
	Accept bool
	Text   string
}

// OpenDialog opens a dialog. Calls that need the main thread wait until it is answered.
func (p *dialogs) OpenDialog(d driver.Dialog) { p.locked(func() { p.openDialog(d) }) }

func (p *dialogs) openDialog(d driver.Dialog) {
	p.opened++
	d.ID = p.opened
	p.dialog, p.answer = &d, make(chan struct{})
	switch p.policy {
	case driver.AcceptDialogs:
		d.Answer = driver.Accepted
	case driver.DismissDialogs:
		d.Answer = driver.Dismissed
	}
	p.emit(driver.DialogOpened{Dialog: d})
	p.settleDialog()
}

// settleDialog answers the open dialog according to the policy.
func (p *dialogs) settleDialog() {
	if p.dialog == nil || p.policy == driver.ReportDialogs {
		return
	}
	accept := p.policy == driver.AcceptDialogs
	p.answers = append(p.answers, Answer{Accept: accept, Text: p.dialog.Default})
	p.closeDialog(accept)
}

func (p *dialogs) closeDialog(accept bool) {
	if p.dialog == nil {
		return
	}
	d := *p.dialog
	if d.Answer = driver.Dismissed; accept {
		d.Answer = driver.Accepted
	}
	close(p.answer)
	p.dialog, p.answer = nil, nil
	p.emit(driver.DialogClosed{Dialog: d})
}

// CloseDialog closes the open dialog without an answer.
func (p *dialogs) CloseDialog() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeDialog(false)
	p.flush()
}

// Answers returns the answers to dialogs so far.
func (p *dialogs) Answers() []Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.answers)
}

// AnswerDialog answers the open dialog.
func (p *dialogs) AnswerDialog(ctx context.Context, a driver.DialogAnswer) (driver.Dialog, error) {
	p.count("AnswerDialog")
	if err := ctx.Err(); err != nil {
		return driver.Dialog{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialog == nil || a.ID != 0 && a.ID != p.dialog.ID {
		return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "no such dialog is open")
	}
	d, text := *p.dialog, p.dialog.Default
	if a.Text != nil {
		text = *a.Text
	}
	if d.Answer = driver.Dismissed; a.Accept {
		d.Answer = driver.Accepted
	}
	p.answers = append(p.answers, Answer{Accept: a.Accept, Text: text})
	p.closeDialog(a.Accept)
	p.flush()
	return d, nil
}

// SetDialogPolicy sets how dialogs are answered.
func (p *dialogs) SetDialogPolicy(policy driver.DialogPolicy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy = policy
	p.settleDialog()
}
