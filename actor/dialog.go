package actor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
)

// SetDialogPolicy says who answers the tab's dialogs from now on. A dialog that is open already is answered too,
// unless they are reported. It never blocks.
func (t *Tab) SetDialogPolicy(policy driver.DialogPolicy) {
	t.answers.Store(uint32(policy))
	t.page().SetDialogPolicy(policy)
}

// AnswerDialog answers the dialog that is open and returns it. It does not wait behind other calls, and works while
// the page hangs behind the dialog. When it returns, the dialog is gone from Info. It fails with an *Error of kind
// NoDialog when none is open any more, or not the one that is meant.
func (t *Tab) AnswerDialog(ctx context.Context, a driver.DialogAnswer) (driver.Dialog, error) {
	if t.ctx.Err() != nil {
		return driver.Dialog{}, t.ended()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	turn := t.back.turn.Load()
	if err := t.here(turn); err != nil {
		return driver.Dialog{}, err
	}
	now := t.life.Load()
	if a.ID != 0 {
		if a.ID <= now.asked {
			return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "dialog %d is gone with the page that opened it: read the tab again", a.ID)
		}
		a.ID -= now.asked
	}
	answered, err := now.page.AnswerDialog(inner, a)
	if err != nil {
		if gone := t.here(turn); gone != nil && ctx.Err() == nil {
			return driver.Dialog{}, gone
		}
		return driver.Dialog{}, t.explain(ctx, "answer dialog", err)
	}
	answered.ID += now.asked
	for {
		last, changed := t.gone.state()
		if last >= answered.ID {
			return answered, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return driver.Dialog{}, t.explain(ctx, "answer dialog", ctx.Err())
		case <-t.done:
			return answered, nil
		}
	}
}

// goneDialogs says which dialog was the last that is gone from the head.
type goneDialogs struct {
	mu      sync.Mutex
	last    uint64
	changed chan struct{}
}

// state returns the last dialog's id, and what is closed when there is another.
func (g *goneDialogs) state() (last uint64, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.last, g.changed
}

// reach notes the last one.
func (g *goneDialogs) reach(id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id <= g.last {
		return
	}
	g.last = id
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

const (
	// toldDialogs is how many dialogs that were answered at once are told of within toldWithin.
	toldDialogs = 32
	toldWithin  = time.Second
)

// asked counts the dialogs of a page, for those who wait for them.
type asked struct {
	// dialogs counts all, halts those that stop the page.
	dialogs, halts int
	// last is the last one that was opened, shut the last one that is closed.
	last, shut uint64
	// told counts those that were answered at once, since the time that is kept.
	told  int
	since time.Time
}

// asks takes over a dialog that the page has opened.
func (t *Tab) asks(d driver.Dialog) {
	d.Message, d.Default = text.Clip(d.Message, text.Long), text.Clip(d.Default, text.Long)
	d.ID += t.life.Load().asked
	t.last = max(t.last, d.ID)
	t.dialogs++
	t.liveness.expect() // who asks lives, also when the answer is that of a policy
	if d.Answer == driver.Unanswered {
		t.halts++
		t.dialog(&d)
		return
	}
	if now := time.Now(); now.Sub(t.since) > toldWithin {
		t.since, t.told = now, 0
	}
	if t.told++; t.told <= toldDialogs {
		t.outbox = append(t.outbox, TabEvent{Kind: TabDialog, Dialog: &d})
		t.note(fmt.Sprintf("%s %q was %s", d.Type, text.Clip(d.Message, text.Short), d.Answer))
	}
}

// dialog takes over the dialog that is open now, or nil.
func (t *Tab) dialog(d *driver.Dialog) {
	if d == nil && t.info.Dialog == nil {
		return
	}
	t.info.Dialog = d
	t.unresponsive = false
	t.liveness.expect()
	t.outbox = append(t.outbox, TabEvent{Kind: TabDialog, Dialog: d})
}

// blocked is the error of a call that needs a page which waits behind a dialog; nil when there is none.
func (t *Tab) blocked() error {
	d := t.info.Dialog
	if d == nil {
		return nil
	}
	what := "accept or dismiss it first, with AnswerDialog (domtap dialog accept | dismiss)"
	if d.Type == "beforeunload" {
		what = "it asks whether to leave the page; accept it to leave or dismiss it to stay, with AnswerDialog (domtap dialog accept | dismiss)"
	}
	return &apierr.Error{
		Kind:    apierr.DialogOpen,
		Message: fmt.Sprintf("tab %s waits behind a dialog (%s %q): %s", t.id, d.Type, d.Message, what),
		Detail:  map[string]string{"type": d.Type, "message": d.Message},
	}
}
