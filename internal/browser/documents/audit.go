package documents

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

// auditScript finds accessibility barriers in the document that it runs in. It runs next to the observer, which provides refs and closed
// shadow trees. It is separate, so that pages parse it only when it is needed.
//
//go:embed audit.js
var auditScript string

// maxAudit limits the response of one document, in bytes.
const maxAudit = 4 << 20

// Barriers audits the documents one after another; see driver.Query.
func (q *Query) Barriers(ctx context.Context) (found []driver.Audited, missing int, err error) {
	err = q.withAgents(ctx, func() error {
		found, missing = nil, 0
		list := q.m.Readable()
		q.Probe(ctx, list) // Probe finds closed shadow trees and click listeners
		for _, o := range list {
			main := o.ID == cdp.FrameID(q.m.ID)
			data, err := q.auditOf(ctx, o, main)
			if err != nil && (main || ctx.Err() != nil) {
				return err
			}
			if err != nil {
				missing++
				continue
			}
			found = append(found, driver.Audited{Frame: q.m.Tree.Key(o.ID), Data: data})
		}
		return nil
	})
	return found, missing, err
}

// auditOf audits one document.
func (q *Query) auditOf(ctx context.Context, o frames.Readable, main bool) ([]byte, error) {
	if q.m.IsLate(o.Agent) {
		return nil, fmt.Errorf("the frame does not answer")
	}
	ctx, cancel := q.bounded(ctx, o.Agent, framesLimit)
	defer cancel()
	yes := true
	// The reference to the observer turns a missing observer into an error that withAgents recognizes.
	got, err := cdp.Call(ctx, o.Agent.Session, runtime.Evaluate, runtime.EvaluateParams{UniqueContextID: o.Agent.Unique, ReturnByValue: &yes, Silent: &yes,
		Expression: fmt.Sprintf("%s(%s, %t)", strings.TrimSpace(auditScript), observer.Entry, main)})
	if err != nil {
		return nil, err
	}
	if x := got.ExceptionDetails; x != nil {
		text := x.Text
		if x.Exception != nil {
			text += " " + x.Exception.Description
		}
		return nil, fmt.Errorf("the audit failed: %s", text)
	}
	var answer string
	if err := json.Unmarshal(got.Result.Value, &answer); err != nil || len(answer) > maxAudit {
		return nil, fmt.Errorf("the audit answered %d bytes: %w", len(answer), err)
	}
	return []byte(answer), nil
}
