package actor

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// SetDialogPolicy sets how the tab's dialogs are answered. A dialog that is already open is answered too, unless the policy is to report
// dialogs. It never blocks.
func (t *Tab) SetDialogPolicy(policy driver.DialogPolicy) {
	t.dialogPolicy.Store(uint32(policy))
	t.page().SetDialogPolicy(policy)
}

// AnswerDialog answers the open dialog and returns it. It does not wait for other calls, and works while the dialog blocks the page. When
// it returns, Info no longer contains the dialog. It fails with an *Error of kind NoDialog when no dialog is open or the open dialog has
// another ID.
func (t *Tab) AnswerDialog(ctx context.Context, a driver.DialogAnswer) (driver.Dialog, error) {
	if t.ctx.Err() != nil {
		return driver.Dialog{}, t.ended()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	generation := t.recovery.Generation()
	if err := t.checkGeneration(generation); err != nil {
		return driver.Dialog{}, err
	}
	now := t.attached.Load()
	if a.ID != 0 {
		if a.ID <= now.dialogOffset {
			return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "dialog %d closed with the page that opened it: read the tab again", a.ID)
		}
		a.ID -= now.dialogOffset
	}
	answered, err := now.page.AnswerDialog(inner, a)
	if err != nil {
		if gone := t.checkGeneration(generation); gone != nil && ctx.Err() == nil {
			return driver.Dialog{}, gone
		}
		return driver.Dialog{}, t.explain(ctx, "answer dialog", err)
	}
	answered.ID += now.dialogOffset
	for {
		last, changed := t.answered.Last()
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
