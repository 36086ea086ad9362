package browser

import (
	"context"

	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/documents"
	"github.com/domtap/domtap/internal/browser/frames"
)

// rawPage has methods for tests and benchmarks that driver.Page lacks.
type rawPage struct{ frames *frames.Manager }

// Audit calls documents.Audit.
func (r rawPage) Audit(ctx context.Context, frame dom.FrameID) (string, error) {
	return documents.Audit(ctx, r.frames, frame)
}

// Nodes calls documents.Nodes.
func (r rawPage) Nodes(ctx context.Context, frame dom.FrameID) ([]cdp.BackendNodeID, error) {
	return documents.Nodes(ctx, r.frames, frame)
}

// Call sends a raw command to the page's main session and decodes the response into result. It measures minimum latencies and sends
// commands that have no method of their own.
func (r rawPage) Call(ctx context.Context, method string, params, result any) error {
	if err := r.frames.Main.Call(ctx, method, params, result); err != nil {
		return r.frames.Failed(err)
	}
	return nil
}

// Post sends a raw command to the page's main session without waiting for the response.
func (r rawPage) Post(method string, params any) { r.frames.Main.Post(r.frames.Life, method, params) }
