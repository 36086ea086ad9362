package devtools

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/chromedp/cdproto"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webmcp"
)

// Guard decides whether the sessions of a page may act on it. It checks right before each acting command is written to the browser. A
// command that was held back is checked again before it is written. Thus the decision can become outdated only between the check and the
// write. The zero value allows everything.
type Guard struct{ check atomic.Pointer[func() error] }

// Set replaces the check. The check must not block and must not write. If it returns an error, the command is not sent, and the call
// returns that error.
func (g *Guard) Set(check func() error) { g.check.Store(&check) }

// Acting is implemented by the parameters of scripts. Acts reports whether the script acts on the page.
type Acting interface{ Acts() bool }

// of returns the check for a command, or nil if it needs none.
func (g *Guard) of(method string, params any) func() error {
	if g == nil {
		return nil
	}
	check := g.check.Load()
	if check == nil || !acts(method, params) {
		return nil
	}
	return *check
}

// acts reports whether a command acts on a page as its user could.
func acts(method string, params any) bool {
	if p, ok := params.(Acting); ok {
		return p.Acts()
	}
	switch method {
	case cdpdom.CommandSetFileInputFiles, page.CommandNavigate, page.CommandReload, page.CommandNavigateToHistoryEntry, page.CommandHandleJavaScriptDialog,
		webmcp.CommandInvokeTool:
		return true
	}
	return strings.HasPrefix(method, "Input.")
}

// guarded is a transport that checks right before it writes. It passes the error of a rejected message to refuse.
type guarded interface {
	writeIf(msg *cdproto.Message, allowed func() error, refuse func(error)) error
}

// writeIf writes a command if allowed returns nil right before the write.
func (c *Conn) writeIf(ctx context.Context, msg *cdproto.Message, allowed func() error) error {
	refuse := func(err error) { c.answer(msg.ID, reply{err: err}) }
	if g, ok := c.browser.(guarded); ok {
		return g.writeIf(msg, allowed, refuse)
	}
	if err := allowed(); err != nil {
		refuse(err)
		return nil
	}
	return c.browser.Write(ctx, msg)
}
