package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor"
)

// dialogs is what a page knows of its dialogs; the page's mu guards it. The browser tells of those of all frames, in
// whatever process, on the main session, and shows one at a time.
type dialogs struct {
	policy actor.DialogPolicy
	// count is how many were opened, open the one that is open now, and prompt its whole default text.
	count  uint64
	open   *actor.Dialog
	prompt string
	// ended holds the last ones that are closed, oldest first.
	ended []actor.Dialog
	// leaving says that the page is being left: what it still opens is dismissed.
	leaving bool
	// unloads counts the beforeunload dialogs, stays those that kept the page.
	unloads, stays int
	// row counts those that were answered at once, with hardly a pause in between, the last one at the time that is kept.
	row  int
	last time.Time
}

// A page that opens more than maxRow dialogs in a row, without a pause of rowPause, gets no more answers at once: it would
// do nothing else for ever, and no call would end.
const (
	maxRow   = 200
	rowPause = time.Second
)

// maxEnded is how many closed dialogs are remembered, to know which one an answer reached.
const maxEnded = 8

// maxPrompt bounds a prompt's default text, in bytes.
const maxPrompt = 400_000

// due is the answer that a dialog of a type gets at once, if any.
func (d *dialogs) due(kind string) actor.Answer {
	unload := kind == string(cdppage.DialogTypeBeforeunload)
	switch {
	case d.leaving && !unload: // whoever leaves gets away, sooner or later
		return actor.Dismissed
	case d.row >= maxRow:
		return actor.Unanswered
	case d.policy == actor.AcceptDialogs:
		return actor.Accepted
	case d.policy == actor.DismissDialogs:
		return actor.Dismissed
	}
	return actor.Unanswered
}

func (p *Page) dialogOpening(e cdppage.EventJavascriptDialogOpening) {
	p.mu.Lock()
	p.asked.count++
	d := &actor.Dialog{ID: p.asked.count, Type: e.Type.String(), Message: bound(e.Message), Default: bound(e.DefaultPrompt)}
	if time.Since(p.asked.last) > rowPause {
		p.asked.row = 0
	}
	p.asked.row++
	if d.Type == string(cdppage.DialogTypeBeforeunload) {
		p.asked.unloads++
	}
	d.Answer = p.asked.due(d.Type)
	p.asked.open, p.asked.prompt = d, e.DefaultPrompt[:min(len(e.DefaultPrompt), maxPrompt)]
	p.touch()
	answer, told := p.answerNow(), *d
	p.mu.Unlock()
	answer()
	p.emit(actor.DialogOpened{Dialog: told})
}

// answerNow is what answers the open dialog as its Answer says, to be called without mu, which is held.
func (p *Page) answerNow() func() {
	d := p.asked.open
	if d == nil || d.Answer == actor.Unanswered {
		return func() {}
	}
	params := cdppage.HandleJavaScriptDialogParams{Accept: d.Answer == actor.Accepted, PromptText: p.asked.prompt}
	return func() { p.main.Post(p.ctx, cdppage.CommandHandleJavaScriptDialog, params) }
}

func (p *Page) dialogClosed(e cdppage.EventJavascriptDialogClosed) {
	p.mu.Lock()
	d := p.asked.open
	if d == nil { // it was open before the page was listened to
		d = new(actor.Dialog)
	}
	if d.Answer = actor.Dismissed; e.Result {
		d.Answer = actor.Accepted
	}
	if d.Answer == actor.Dismissed && d.Type == string(cdppage.DialogTypeBeforeunload) {
		p.asked.stays++
		p.navigating = false
	}
	if p.asked.ended = append(p.asked.ended, *d); len(p.asked.ended) > maxEnded {
		p.asked.ended = p.asked.ended[1:]
	}
	p.asked.open, p.asked.last = nil, time.Now()
	p.touch()
	p.mu.Unlock()
	p.emit(actor.DialogClosed{Dialog: *d})
}

// SetDialogPolicy implements actor.Asker.
func (p *Page) SetDialogPolicy(policy actor.DialogPolicy) {
	p.mu.Lock()
	p.asked.policy = policy
	answer := p.settleOpen()
	p.mu.Unlock()
	answer()
}

// settleOpen answers the dialog that is open already as dialogs now are; mu is held.
func (p *Page) settleOpen() func() {
	if d := p.asked.open; d != nil && d.Answer == actor.Unanswered {
		late := *d // the one that was told of is not written to
		late.Answer = p.asked.due(d.Type)
		p.asked.open = &late
		return p.answerNow()
	}
	return func() {}
}

// leave dismisses the dialogs of a page that is being left, which otherwise stays for them, until another document
// is there. A beforeunload dialog is not the page's to decide. It returns what ends that.
func (p *Page) leave() (stay func()) {
	set := func(leaving bool) {
		p.mu.Lock()
		p.asked.leaving = leaving
		answer := p.settleOpen()
		p.mu.Unlock()
		answer()
	}
	set(true)
	return func() { set(false) }
}

// AnswerDialog implements actor.Asker. One answer is under way at a time, because the protocol does not say which
// dialog one is for.
func (p *Page) AnswerDialog(ctx context.Context, a actor.DialogAnswer) (actor.Dialog, error) {
	select {
	case p.answers <- struct{}{}:
		defer func() { <-p.answers }()
	case <-ctx.Done():
		return actor.Dialog{}, context.Cause(ctx)
	case <-p.ctx.Done():
		return actor.Dialog{}, p.gone()
	}
	open, text := p.openDialog()
	switch {
	case open.ID == 0:
		return actor.Dialog{}, actor.Errorf(actor.NoDialog, "no dialog is open: go on")
	case a.ID != 0 && a.ID != open.ID:
		return actor.Dialog{}, actor.Errorf(actor.NoDialog,
			"dialog %d is not open any more; %d is (%s %q): read it, then answer that", a.ID, open.ID, open.Type, open.Message)
	}
	if a.Text != nil {
		text = *a.Text
	}
	_, err := cdp.Call(ctx, p.main, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: a.Accept, PromptText: text})
	var cerr *cdproto.Error
	if errors.As(err, &cerr) && p.ctx.Err() == nil {
		_ = p.barrier(ctx) // what became of it is known then
		return actor.Dialog{}, &actor.Error{Kind: actor.NoDialog, Message: fmt.Sprintf("the dialog %q closed by itself: go on", open.Message), Err: err}
	}
	if err == nil {
		err = p.barrier(ctx)
	}
	if err != nil {
		return actor.Dialog{}, p.failed(err)
	}
	return p.reached(open, a.Accept), nil
}

// openDialog is the dialog that is open, with its whole default text; the zero value when there is none.
func (p *Page) openDialog() (d actor.Dialog, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked.open != nil {
		d = *p.asked.open
	}
	return d, p.asked.prompt
}

// reached is the dialog that an answer reached: the browser says that it is closed right before it says that it was
// answered. Only when it closed by itself and another came at the same moment, that is not the one that was open.
func (p *Page) reached(open actor.Dialog, accept bool) actor.Dialog {
	want := actor.Dismissed
	if accept {
		want = actor.Accepted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found := open
	for _, d := range p.asked.ended {
		if d.ID >= open.ID && d.Answer == want {
			found = d
			break
		}
	}
	found.Answer = want
	return found
}

// bound cuts a dialog's text to 1,000 characters.
func bound(s string) string {
	n := 0
	for i := range s {
		if n++; n > 1000 {
			return s[:i]
		}
	}
	return s
}
