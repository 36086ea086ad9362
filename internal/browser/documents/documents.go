// Package documents reads, searches and runs scripts in the documents of a page.
//
// Every document has an agent: the observer script that domtap runs in it (package observer). Three types share the
// agents. Reader follows the documents: it reads what changed since the last patch, acknowledges patches, and sets what
// documents report by themselves. Query requests data that patches do not contain: elements by selector, markup, extractions, scroll
// positions. Scripts runs scripts in the page's own world.
//
// A call restarts if the main document is replaced during it. A frame in another process does not block a call: the main document may use
// the caller's time, and other frames have FrameGrace. A frame that does not respond is skipped until it does. Callers must pass a context
// with a deadline. The monitor of frames.Manager guards all state of an agent (frames.Agent.Reading).
package documents

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/frames"
	"github.com/domtap/domtap/internal/browser/observer"
)

const (
	// maxReads limits how often a call restarts because the main document was replaced.
	maxReads = 8
	// replaceGrace bounds the wait for the event that replaces a document whose context is gone.
	replaceGrace = 2 * time.Second
	// FrameGrace is how long a read waits for another frame after the main frame, and the frame before it, have responded. framesLimit
	// bounds the wait for all frames together.
	FrameGrace  = time.Second
	framesLimit = 5 * time.Second
	// latePingTimeout is the timeout of each ping to a frame that does not respond.
	latePingTimeout = 10 * time.Second
)

// documents gives access to the documents of one page.
type documents struct {
	m *frames.Manager
	// script is the source of the observer.
	script string
}

// withAgents calls f when all documents have their agents. It calls f again if the main document was replaced during f.
func (d *documents) withAgents(ctx context.Context, f func() error) (err error) {
	for range maxReads {
		if _, err = d.m.Agent(ctx, ""); err != nil {
			return err
		}
		if err = d.m.Await(ctx, func() bool { return !d.m.Tree.Arriving() }); err != nil {
			return err
		}
		before := d.m.Readable()
		if err = f(); err == nil {
			return nil
		}
		if isUnobserved(err) {
			d.observeAgain(ctx)
			continue
		}
		if !frames.IsGoneContext(err) {
			return d.m.Failed(err)
		}
		if err := d.awaitChange(ctx, before); err != nil {
			return err
		}
	}
	return &apierr.Error{Kind: apierr.Aborted, Message: "the page keeps navigating: wait until it settles, then read it again", Err: err}
}

// awaitChange waits until the agents are not the old ones. It is called after a call failed because an agent's context is gone; the event
// that replaces the agent follows. On a busy machine, the event may be late, because the renderer of the new document responds to calls
// before it reports its contexts.
func (d *documents) awaitChange(ctx context.Context, old []frames.Readable) error {
	if err := d.m.Barrier(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, replaceGrace)
	defer cancel()
	err := d.m.Await(bounded, func() bool { return !slices.Equal(old, d.m.Tree.Readable()) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil // the context of another document is gone, and the agents are unchanged
	}
	return err
}

// isUnobserved reports whether an error means that the observer script of a document never ran. Terminating the script
// of a page while it navigates may also terminate the first script of the next document, which is the observer.
func isUnobserved(err error) bool {
	return strings.Contains(err.Error(), observer.Entry+" is not defined")
}

// observeAgain runs the observer script in the documents in which it never ran.
func (d *documents) observeAgain(ctx context.Context) {
	for _, o := range d.m.Readable() {
		if err := o.Agent.Call(ctx, "about", nil, nil); err == nil || !isUnobserved(err) {
			continue
		}
		silent := true
		_, err := cdp.Call(ctx, o.Agent.Session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: observer.Again + d.script, UniqueContextID: o.Agent.Unique, Silent: &silent})
		d.m.Logger.Warn("a document had no observer and received one", "error", err)
	}
}

// awaitAnswer marks an agent as late, so that reads skip its frame, until it responds to a ping.
func (d *documents) awaitAnswer(a *frames.Agent) {
	d.m.Lock()
	defer d.m.Unlock()
	if a.Reading.Late {
		return
	}
	a.Reading.Late = true
	d.m.Tasks.Go(func() {
		// A ping to a document that is being replaced gets no response. The next ping fails immediately.
		for answered := false; !answered && d.m.Life.Err() == nil; {
			ctx, cancel := context.WithTimeout(d.m.Life, latePingTimeout)
			err := a.Call(ctx, "about", nil, nil)
			answered = err == nil || ctx.Err() == nil
			cancel()
		}
		d.m.Change(func(*frames.Tree) { a.Reading.Late = false })
	})
}

// bounded returns the context for a call to a frame: ctx for a frame in the main process, and one with the given limit for a frame in
// another process.
func (d *documents) bounded(ctx context.Context, a *frames.Agent, limit time.Duration) (context.Context, context.CancelFunc) {
	if d.m.IsMain(a.Session) {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}
