// Package webmcp tracks the tools that the documents of a page offer to agents, and calls them (WebMCP, a draft of the W3C community group
// for web machine learning).
//
// The browser reports the tools of each frame on the frame's session, and does not report that they end with their document. All that a
// page says of its tools is bounded here.
package webmcp

import (
	"context"
	"errors"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/webmcp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Enable returns the step that makes a session report its tools. Browsers without WebMCP refuse it.
func Enable() devtools.Step { return devtools.Step{Method: webmcp.CommandEnable, Optional: true} }

// Tools tracks and calls the tools of one page.
type Tools struct {
	m *frames.Manager
	// dialog reports whether a dialog is open.
	dialog func() bool
	// state is guarded by the monitor.
	state state
}

// New returns the Tools of a page.
func New(m *frames.Manager, dialog func() bool) *Tools { return &Tools{m: m, dialog: dialog} }

// Handle handles an event of the browser. It runs on the page's loop.
func (t *Tools) Handle(s devtools.Session, msg *cdproto.Message) error {
	switch string(msg.Method) {
	case webmcp.ToolsAdded.Method:
		return devtools.On(msg, webmcp.ToolsAdded, func(e webmcp.EventToolsAdded) { t.change(func(st *state) { st.add(s, e.Tools) }) })
	case webmcp.ToolsRemoved.Method:
		return devtools.On(msg, webmcp.ToolsRemoved, func(e webmcp.EventToolsRemoved) { t.change(func(st *state) { st.remove(e.Tools) }) })
	case webmcp.ToolResponded.Method:
		return devtools.On(msg, webmcp.ToolResponded, t.responded)
	}
	return nil
}

// Committed forgets the tools of a frame, whose document was replaced or is gone. It runs on the page's loop.
func (t *Tools) Committed(frame cdp.FrameID) {
	t.change(func(st *state) { st.drop(func(o *offer) bool { return o.frame == frame }) })
}

// Detached forgets the tools of a session that has ended. It runs on the page's loop.
func (t *Tools) Detached(session target.SessionID) {
	t.change(func(st *state) { st.drop(func(o *offer) bool { return o.session.ID == session }) })
}

// Crashed forgets all tools. It runs on the page's loop.
func (t *Tools) Crashed() {
	t.change(func(st *state) { st.drop(func(*offer) bool { return true }) })
}

// change changes the state, and reports the tools if they differ then.
func (t *Tools) change(change func(*state)) {
	t.m.Lock()
	before := t.state.version
	change(&t.state)
	changed := t.state.version != before
	var now driver.ToolsChanged
	if changed {
		now = t.state.list(t.m.Tree.Key)
	}
	t.m.Unlock()
	if changed {
		t.m.Emit(now)
	}
}

// responded records the answer of a tool, which CallTool waits for.
func (t *Tools) responded(e webmcp.EventToolResponded) {
	t.m.Lock()
	defer t.m.Unlock()
	t.state.answer(e.InvocationID, claimOf(e))
	t.m.Notify()
}

// CallTool implements driver.Tools.
func (t *Tools) CallTool(ctx context.Context, c driver.ToolCall) (driver.ToolClaim, error) {
	t.m.Lock()
	o := t.state.find(c.Name, func(f cdp.FrameID) bool { return t.m.Tree.Key(f) == c.Frame })
	t.m.Unlock()
	if o == nil {
		return driver.ToolClaim{}, unknown(c.Name)
	}
	called, err := cdp.Call(ctx, o.session, webmcp.InvokeTool, webmcp.InvokeToolParams{FrameID: o.frame, ToolName: c.Name, Input: jsonv2.Value(c.Input)})
	if _, refused := errors.AsType[*cdproto.Error](err); refused && !frames.IsGoneContext(err) && !devtools.IsTargetCrashed(err) {
		gone := unknown(c.Name)
		gone.Err = err
		return driver.ToolClaim{}, gone
	}
	if err != nil {
		return driver.ToolClaim{}, t.m.Failed(err)
	}
	return t.await(ctx, o, called.InvocationID)
}

// unknown returns the error for a tool that the page does not offer.
func unknown(name string) *apierr.Error {
	return apierr.Unknown("tool", "the page offers no tool %q: list its tools again", name)
}

// await waits for the answer of a call. It does not wait for the submission of a form.
func (t *Tools) await(ctx context.Context, o *offer, id string) (claim driver.ToolClaim, err error) {
	defer func() {
		t.m.Lock()
		t.state.forget(id)
		t.m.Unlock()
	}()
	if o.tool.Form && !o.tool.AutoSubmit {
		if err := t.m.Barrier(ctx); err != nil { // after the barrier, a rejected input is known
			return claim, t.m.Failed(err)
		}
		t.m.Lock()
		defer t.m.Unlock()
		claim, _ = t.state.answered(id)
		return claim, nil
	}
	err = t.m.Await(ctx, func() bool {
		var known bool
		claim, known = t.state.answered(id)
		return known
	})
	if err != nil && ctx.Err() != nil && !t.dialog() {
		o.session.Post(t.m.Life, webmcp.CommandCancelInvocation, webmcp.CancelInvocationParams{InvocationID: id})
	}
	return claim, err
}
