package actor

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// absent implements driver.Page for a tab that has no page yet. It implements only the methods that are called at any time. The tab refuses
// all other calls while it has no page.
type absent struct {
	driver.Page
	log pagelog.Log
}

func (*absent) ID() string                          { return "" }
func (*absent) Events() <-chan driver.Event         { return nil }
func (a *absent) Log() *pagelog.Log                 { return &a.log }
func (*absent) SetDialogPolicy(driver.DialogPolicy) {}
func (*absent) Guard(func() error)                  {}
func (*absent) TakenOver() bool                     { return false }
func (*absent) Acknowledge(driver.Ack)              {}
func (*absent) Close(context.Context) error         { return nil }
func (*absent) AnswerDialog(context.Context, driver.DialogAnswer) (driver.Dialog, error) {
	return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "no dialog is open: continue without an answer")
}
