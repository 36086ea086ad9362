package actor

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// life is one page of a tab. A tab has one for as long as it lives, unless it is brought back: see comeback.
type life struct {
	page driver.Page
	// asked is the id of the last dialog of the pages before: this one's count on from there.
	asked uint64
}

// page is the page that the tab has now.
func (t *Tab) page() driver.Page { return t.life.Load().page }

// absent stands for the page of a tab that has none yet. It has those methods that are called at any time; the tab
// refuses all others while it is away.
type absent struct {
	driver.Page
	log pagelog.Log
}

func (*absent) ID() string                          { return "" }
func (*absent) Events() <-chan driver.Event         { return nil }
func (a *absent) Log() *pagelog.Log                 { return &a.log }
func (*absent) SetDialogPolicy(driver.DialogPolicy) {}
func (*absent) Acknowledge(driver.Ack)              {}
func (*absent) Close(context.Context) error         { return nil }
func (*absent) AnswerDialog(context.Context, driver.DialogAnswer) (driver.Dialog, error) {
	return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "no dialog is open")
}
