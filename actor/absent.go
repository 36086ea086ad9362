package actor

import (
	"context"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

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
func (*absent) Guard(func() error)                  {}
func (*absent) Acknowledge(driver.Ack)              {}
func (*absent) Close(context.Context) error         { return nil }
func (*absent) AnswerDialog(context.Context, driver.DialogAnswer) (driver.Dialog, error) {
	return driver.Dialog{}, apierr.Errorf(apierr.NoDialog, "no dialog is open")
}
