package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

// readNow performs a ReadStep.
func (t *run) readNow(ctx context.Context, r *ReadStep) (Result, error) {
	reading, err := t.x.Read(ctx, r.Options)
	if fatal(ctx, err) {
		return Result{}, err
	}
	var text string
	if err == nil {
		text, err = r.Format(reading)
	}
	return Result{Done: err == nil, Err: err, Summary: "read: " + word(driver.DoResult{}, err), Text: text, Ref: dom.NoRef}, nil
}

// shootNow performs a ScreenshotStep.
func (t *run) shootNow(ctx context.Context, s *ScreenshotStep) (Result, error) {
	var reading actor.Reading
	var err error
	if s.Draw != nil {
		reading, err = t.x.Read(ctx, s.Options)
	}
	var image []byte
	if err == nil {
		image, err = t.x.Screenshot(ctx, s.Shot)
	}
	if fatal(ctx, err) {
		return Result{}, err
	}
	if err == nil && s.Draw != nil {
		image, err = s.Draw(reading, image)
	}
	return Result{Done: err == nil, Err: err, Summary: "screenshot: " + word(driver.DoResult{}, err), Image: image, Ref: dom.NoRef}, nil
}

// backNow goes back in the history.
func (t *run) backNow(ctx context.Context) (Result, error) {
	start := t.x.State()
	err := t.live.Suspend(func() error {
		_, err := t.x.Step(ctx, -1, actor.WaitLoad)
		return err
	})
	if fatal(ctx, err) {
		return Result{}, err
	}
	r := Result{Done: err == nil, Err: err, Summary: "back: " + word(driver.DoResult{}, err), Ref: dom.NoRef}
	if err != nil || t.x.State().Dialog != nil {
		return r, nil
	}
	_, err = t.x.Read(ctx, actor.ReadOptions{})
	r.Summary += t.destination(start)
	if !fatal(ctx, err) {
		err = nil
	}
	return r, err
}

// answerDialog answers the open dialog and waits until the page has settled.
func (t *run) answerDialog(ctx context.Context, a driver.DialogAnswer) (Result, error) {
	start := t.x.State()
	dialog, err := t.x.AnswerDialog(ctx, a)
	if fatal(ctx, err) {
		return Result{}, err
	}
	r := Result{Done: err == nil, Err: err, Summary: dialogVerb(a) + " dialog: " + word(driver.DoResult{}, err), Ref: dom.NoRef}
	if err != nil {
		return r, nil
	}
	r.Dialog = &dialog
	r.Summary = fmt.Sprintf("%s %s %q: ok", dialogVerb(a), dialog.Type, truncate.Runes(dialog.Message, text.Long))
	err = t.settle(ctx, start, "")
	r.Summary += settleNote(ctx, err)
	if refused := t.refused(start); refused != nil {
		r.Err = refused
		return r, err
	}
	r.Destination = t.destination(start)
	r.Summary += r.Destination
	return r, err
}

// dialogVerb returns the verb for an answer to a dialog.
func dialogVerb(a driver.DialogAnswer) string {
	if a.Accept {
		return "accept"
	}
	return "dismiss"
}

// errorScreenshot captures the page after an action failed. It returns nil if that fails.
func (t *run) errorScreenshot(ctx context.Context) []byte {
	image, err := t.x.Screenshot(ctx, driver.ScreenshotOptions{Format: "png"})
	if err != nil {
		t.x.Debug("no picture of a failure", err)
		return nil
	}
	return image
}

// popupLimit limits how long an action waits for the documents of the windows that it opened.
const popupLimit = 3 * time.Second

// performWithSideEffects is performOne, and adds to the summary what the page did by itself.
func (t *run) performWithSideEffects(ctx context.Context, s Step) (Result, error) {
	t.x.SideEffects().ResetSummary()
	start := t.x.State()
	r, err := t.performOne(ctx, s)
	t.x.SideEffects().SettleTabs(ctx)
	if err == nil {
		err = t.x.SideEffects().AwaitTabs(ctx, start.Tabs, popupLimit)
	}
	r.Summary += t.x.SideEffects().TakeSummary()
	return r, err
}
