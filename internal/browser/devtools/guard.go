package devtools

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/chromedp/cdproto"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
)

// Guard says whether the sessions of a page may act on it. It is asked right before each command that acts is written to the browser, and
// again for what was held back until then: the time between the answer and the write is all in which the answer may become wrong.
// The zero value allows everything.
type Guard struct{ check atomic.Pointer[func() error] }

// Set has a function asked from now on, which must not wait and must not write. A command that it has an error for is not sent, and the
// error is that of the call.
func (g *Guard) Set(check func() error) { g.check.Store(&check) }

// Acting is implemented by the parameters of scripts, which know whether they act on the page.
type Acting interface{ Acts() bool }

// of returns what is to be asked before a command; nil: nothing.
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

// acts reports whether a command does to a page what its user could do.
func acts(method string, params any) bool {
	if p, ok := params.(Acting); ok {
		return p.Acts()
	}
	switch method {
	case cdpdom.CommandSetFileInputFiles, page.CommandNavigate, page.CommandReload, page.CommandNavigateToHistoryEntry, page.CommandHandleJavaScriptDialog:
		return true
	}
	return strings.HasPrefix(method, "Input.")
}

// guarded is a transport that asks right before it writes. What it refuses is answered with the error.
type guarded interface {
	writeIf(msg *cdproto.Message, allowed func() error, refuse func(error)) error
}

// writeIf writes a command if that is allowed by then.
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
