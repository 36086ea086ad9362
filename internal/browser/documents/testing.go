package documents

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Audit describes a frame's document with a new model. It returns one line per element: its ref and its fields in the order of dom.Field,
// separated by tabs. Tests compare it with the model that Read follows.
func Audit(ctx context.Context, m *frames.Manager, frame dom.FrameID) (string, error) {
	a, err := m.Agent(ctx, frame)
	if err != nil {
		return "", err
	}
	var text string
	if err := a.Call(ctx, "freshWalk", nil, &text); err != nil {
		return "", m.Failed(err)
	}
	return text, nil
}

// Nodes returns the backend node IDs of the elements in a frame's stored DOM, in order. Tests use them to query the browser.
func Nodes(ctx context.Context, m *frames.Manager, frame dom.FrameID) ([]cdp.BackendNodeID, error) {
	a, err := m.Agent(ctx, frame)
	if err != nil {
		return nil, err
	}
	list, err := a.Handle(ctx, "nodes", nil, "")
	if err != nil {
		return nil, m.Failed(err)
	}
	own := true
	props, err := cdp.Call(ctx, a.Session, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list, OwnProperties: &own})
	if err != nil {
		return nil, m.Failed(err)
	}
	var ids []cdp.BackendNodeID
	for _, prop := range props.Result {
		if prop.Value == nil || prop.Value.Subtype != runtime.RemoteObjectSubtypeNode {
			continue
		}
		node, err := cdp.Call(ctx, a.Session, cdpdom.DescribeNode, cdpdom.DescribeNodeParams{ObjectID: prop.Value.ObjectID})
		if err != nil {
			return nil, m.Failed(err)
		}
		ids = append(ids, node.Node.BackendNodeID)
	}
	return ids, nil
}
