package documents

import (
	"context"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// maxExtracts limits how many documents of a page are read, and maxExtracted the size of all results in bytes.
const (
	maxExtracts  = 200
	maxExtracted = 32 << 20
)

// Extract applies a plan to a document and to the frames in it, in document order; see driver.Query.
func (q *Query) Extract(ctx context.Context, e driver.Extraction) (out []driver.Extract, err error) {
	err = q.withAgents(ctx, func() (err error) {
		out, err = q.extractAll(ctx, e)
		return err
	})
	return out, err
}

// extractAll reads one document after another. It skips frames that fail or do not respond in time, except the first document.
func (q *Query) extractAll(ctx context.Context, e driver.Extraction) ([]driver.Extract, error) {
	var out []driver.Extract
	size := 0
	asked := map[dom.FrameID]bool{}
	for next := []dom.FrameID{e.Root.Frame}; len(next) > 0 && len(asked) < maxExtracts; {
		id := next[0]
		next = next[1:]
		if asked[id] {
			continue
		}
		asked[id] = true
		plan := extractPlan{Plan: e.Plan, root: -1}
		if e.Root.Ref != dom.NoRef && len(asked) == 1 {
			plan.root = int64(e.Root.Ref)
		}
		data, frames, err := q.extractOne(ctx, id, plan, e.Root.Document)
		if err != nil {
			if len(asked) == 1 || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		if size += len(data); size > maxExtracted {
			break
		}
		out = append(out, driver.Extract{Frame: id, Data: data})
		next = append(frames, next...)
	}
	return out, nil
}

// extractPlan is the argument of the command "extract": a plan with the ref of the root element, or -1.
type extractPlan struct {
	Plan []byte
	root int64
}

// MarshalJSON adds the root to the plan, which is an object.
func (p extractPlan) MarshalJSON() ([]byte, error) {
	if len(p.Plan) < 2 || p.Plan[0] != '{' {
		return nil, fmt.Errorf("the plan %.20q is not an object", p.Plan)
	}
	return append(fmt.Appendf(nil, `{"root":%d,`, p.root), p.Plan[1:]...), nil
}

// extractOne extracts from one document and returns the result and the frames in the document. If the plan has a root, the frame must still
// show the given document.
func (q *Query) extractOne(ctx context.Context, id dom.FrameID, plan extractPlan, document string) (jsonv2.Value, []dom.FrameID, error) {
	a := q.m.AgentOf(id)
	if a == nil || q.m.IsLate(a) || plan.root >= 0 && document != "" && a.Document != document {
		return nil, nil, staleRoot(plan.root)
	}
	ctx, cancel := q.bounded(ctx, a, framesLimit)
	defer cancel()
	var reply devtools.Evaluation
	if err := a.Session.Call(ctx, runtime.CommandCallFunctionOn, a.Params("extract", plan), &reply); err != nil {
		return nil, nil, err
	}
	if err := reply.Decode(nil); err != nil {
		return nil, nil, err
	}
	var status struct {
		Stale  bool     `json:"stale"`
		Frames []string `json:"frames"`
	}
	if err := json.Unmarshal(reply.Result.Value, &status); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", devtools.ErrScript, err)
	}
	if status.Stale {
		return nil, nil, staleRoot(plan.root)
	}
	frames := make([]dom.FrameID, 0, len(status.Frames))
	for _, f := range status.Frames[:min(len(status.Frames), maxExtracts)] {
		if f != "" { // the empty name denotes the main frame
			frames = append(frames, dom.FrameID(f))
		}
	}
	return reply.Result.Value, frames, nil
}

func staleRoot(ref int64) error {
	if ref < 0 {
		return apierr.Errorf(apierr.Aborted, "the page is navigating: wait until it settles, then extract again")
	}
	return stale(dom.Ref(ref))
}
