package actor

import (
	"context"

	"github.com/domtap/domtap/logs"
)

// life is one page of a tab. A tab has one for as long as it lives, unless it is brought back: see comeback.
type life struct {
	page Page
	// asked is the id of the last dialog of the pages before: this one's count on from there.
	asked uint64
}

// page is the page that the tab has now.
func (t *Tab) page() Page { return t.life.Load().page }

// absent stands for the page of a tab that has none yet. It has those methods that are called at any time; the tab
// refuses all others while it is away.
type absent struct {
	Page
	log logs.Log
}

func (*absent) ID() string                   { return "" }
func (*absent) Events() <-chan Event         { return nil }
func (a *absent) Log() *logs.Log             { return &a.log }
func (*absent) SetDialogPolicy(DialogPolicy) {}
func (*absent) Acknowledge(Ack)              {}
func (*absent) Close(context.Context) error  { return nil }
func (*absent) AnswerDialog(context.Context, DialogAnswer) (Dialog, error) {
	return Dialog{}, Errorf(NoDialog, "no dialog is open")
}
