package turn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// ToolStep calls a tool that the page offers.
type ToolStep struct {
	driver.ToolCall
	// Form reports that the tool is a form that waits for its submission.
	Form bool
	// Timeout limits how long the tool may take. A tool that takes longer is canceled.
	Timeout time.Duration
}

// summary names the step.
func (s *ToolStep) summary() string { return "tool " + strconv.Quote(s.Name) }

// callTool performs a ToolStep and waits until the page has settled. A tool that opens a dialog, or that is a form which waits for its
// submission, is called but has not answered. What the tool claims is no proof that it did anything.
func (t *run) callTool(ctx context.Context, s *ToolStep) (Result, error) {
	start := t.x.State()
	t.live.Begin()
	claim, err := t.invoke(ctx, s, start)
	if fatal(ctx, err) {
		t.done.breakOff(s.summary(), err)
		return Result{}, err
	}
	r := s.result(claim, err)
	settleErr := t.settle(ctx, start, s.Frame)
	if r.Claim != nil && t.x.State().Commits != start.Commits && claim.Output == replacedOutput {
		r.Claim.Output = ""
	}
	if err == nil { // otherwise the summary says why the tool has not answered
		r.Summary += settleNote(ctx, settleErr)
	}
	if apierr.Is(settleErr, apierr.Unresponsive) {
		settleErr = nil // the turn ends with an answer that includes the tab's status
	}
	if refused := t.refused(start); refused != nil {
		r.Done, r.Err = false, refused
		return r, settleErr
	}
	r.Destination = t.destination(start)
	r.Summary += r.Destination
	return r, settleErr
}

// replacedOutput is what the browser returns for a tool if the document was replaced before the tool answered.
const replacedOutput = "[]"

// result returns the result of a call, before the page has settled.
func (s *ToolStep) result(claim driver.ToolClaim, err error) Result {
	r := Result{Err: err, Ref: dom.NoRef, Summary: s.summary() + ": "}
	if err != nil {
		r.Summary += word(driver.DoResult{}, err)
		return r
	}
	r.Claim, r.Err = &claim, failure(claim)
	switch r.Done = r.Err == nil; {
	case claim.Status == driver.ToolPending && s.Form:
		r.Summary += "called; its form waits to be submitted"
	case claim.Status == driver.ToolPending:
		r.Summary += "called; it has not answered"
	case r.Done:
		r.Summary += "the page says that it completed"
	case claim.Status == driver.ToolCanceled:
		r.Summary += "the page canceled the call"
	default:
		r.Summary += "the page says that it failed"
	}
	return r
}

// invoke calls the tool. The claim is pending if a dialog opened before the tool answered.
func (t *run) invoke(ctx context.Context, s *ToolStep, start actor.State) (claim driver.ToolClaim, err error) {
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	err = t.x.Call(bounded, t.untilHalted(start), func(ctx context.Context, page driver.Page) (err error) {
		claim, err = page.CallTool(ctx, s.ToolCall)
		return err
	})
	switch {
	case errors.Is(err, errStopped):
		return driver.ToolClaim{}, nil
	case err != nil && ctx.Err() == nil && bounded.Err() != nil:
		return claim, fmt.Errorf("tool %q did not answer within %v and was canceled: look at the page before you call it again: %w", s.Name, s.Timeout, context.DeadlineExceeded)
	case err != nil:
		return claim, t.live.During(err, "during the call of the tool", ", so it may be done only in part")
	}
	return claim, nil
}

// failure returns the error for a call that the page says has failed.
func failure(claim driver.ToolClaim) error {
	switch claim.Status {
	case driver.ToolFailed:
		return apierr.Errorf(apierr.NotDelivered, "the page says that the tool failed: look at the page before you call it again")
	case driver.ToolCanceled:
		return apierr.Errorf(apierr.NotDelivered, "the page canceled the call of the tool: look at the page before you call it again")
	}
	return nil
}
