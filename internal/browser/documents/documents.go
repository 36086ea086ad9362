// Package documents reads, searches and runs scripts in the documents of a page.
//
// Every document has an agent, which is the observer that domtap runs in it. Reader follows the documents: it reads what
// changed since the last patch, acknowledges patches, and says what documents are to report by themselves. Query asks for
// what is in no patch. Scripts runs scripts of the page's own world.
//
// The main document has the time that the caller has; frames in other processes have little more, and one that does not
// answer is left out until it does. A call starts over when the main document is replaced under it.
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
	// maxReads is how often a read starts over because the main document was replaced under it.
	maxReads = 8
	// replaceGrace is how long withAgents waits for the event that replaces a document whose context is gone.
	replaceGrace = 2 * time.Second
	// FrameGrace is how long a read waits for another frame once the main frame, and the frame before it, have answered;
	// framesLimit bounds that for all frames together.
	FrameGrace  = time.Second
	framesLimit = 5 * time.Second
	// latePing is how often a frame that does not answer is asked whether it does.
	latePing = 10 * time.Second
)

// documents are the documents of one page.
type documents struct {
	m *frames.Manager
	// script is the source of the observer.
	script string
}

// withAgents lets f use the agents of the page's documents, once those are there, and again when the main document was
// replaced under it.
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
		if err := d.awaitOthers(ctx, before); err != nil {
			return err
		}
	}
	return &apierr.Error{Kind: apierr.Aborted, Message: "the page navigates again and again; wait until it rests, then read again", Err: err}
}

// awaitOthers waits until the agents are others than before: a call was refused because the context of one of them is
// gone. The event that says so is on its way. On a busy machine, the refusal may be some time ahead of the event, because
// the renderer of the new document answers before the renderer reports its contexts.
func (d *documents) awaitOthers(ctx context.Context, before []frames.Readable) error {
	if err := d.m.Barrier(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, replaceGrace)
	defer cancel()
	err := d.m.Await(bounded, func() bool { return !slices.Equal(before, d.m.Tree.Readable()) })
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil // another document than the agents' own was meant
	}
	return err
}

// isUnobserved reports whether an error says that the observer of a document never ran: ending the script of a page that
// is left may end the first script of the document that follows, which is ours.
func isUnobserved(err error) bool {
	return strings.Contains(err.Error(), observer.Entry+" is not defined")
}

// observeAgain runs the observer in the documents that have none.
func (d *documents) observeAgain(ctx context.Context) {
	for _, o := range d.m.Readable() {
		if err := o.Agent.Call(ctx, "about", nil, nil); err == nil || !isUnobserved(err) {
			continue
		}
		silent := true
		_, err := cdp.Call(ctx, o.Agent.Session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: observer.Again + d.script, UniqueContextID: o.Agent.Unique, Silent: &silent})
		d.m.Logger.Warn("a document had no observer: it was given one", "error", err)
	}
}

// awaitAnswer lets reads pass a frame by until it answers again.
func (d *documents) awaitAnswer(a *frames.Agent) {
	d.m.Lock()
	defer d.m.Unlock()
	if a.Reading.Late {
		return
	}
	a.Reading.Late = true
	d.m.Tasks.Go(func() {
		// No answer comes when the document goes away; the command is sent again then, and refused.
		for answered := false; !answered && d.m.Life.Err() == nil; {
			ctx, cancel := context.WithTimeout(d.m.Life, latePing)
			err := a.Call(ctx, "about", nil, nil)
			answered = err == nil || ctx.Err() == nil
			cancel()
		}
		d.m.Change(func(*frames.Tree) { a.Reading.Late = false })
	})
}

// bounded is a context for a question to a frame: FrameGrace in frames of other processes, and the caller's time in those
// of the page's own.
func (d *documents) bounded(ctx context.Context, a *frames.Agent, limit time.Duration) (context.Context, context.CancelFunc) {
	if d.m.IsMain(a.Session) {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}
