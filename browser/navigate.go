package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor"
)

// patience is how long a page that is to be left may take to show life.
const patience = time.Second

// unstick ends the script of a page that is to be left but does not answer. Within a site the new
// document waits for the old one's main thread (limits.md, section 7), and once the browser has begun
// to navigate, the old document can no longer be reached: so this comes first.
func (p *Page) unstick(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if p.Ping(bounded) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.logger.Warn("the page does not answer: its script is ended before it is left")
	again, stop := context.WithTimeout(ctx, patience)
	defer stop()
	_ = p.Interrupt(again) // a page that cannot be interrupted may still be left, to another site
	return ctx.Err()
}

// Navigate implements actor.Navigator.
func (p *Page) Navigate(ctx context.Context, url string) (actor.Commit, error) {
	if err := p.unstick(ctx); err != nil {
		return actor.Commit{}, err
	}
	before := p.document()
	res, err := cdp.Call(ctx, p.main, cdppage.Navigate, cdppage.NavigateParams{URL: url})
	if err != nil {
		var cerr *cdproto.Error
		if errors.As(err, &cerr) {
			return actor.Commit{}, &actor.Error{Kind: actor.Navigation, Message: fmt.Sprintf("the browser refused to load %s: check the URL", url), Err: err}
		}
		return actor.Commit{}, p.failed(err)
	}
	switch {
	case res.IsDownload:
		return actor.Commit{}, actor.Errorf(actor.Navigation, "%s is a download, not a page: the tab stays where it was", url)
	case res.ErrorText != "":
		return actor.Commit{}, &actor.Error{
			Kind:    actor.Navigation,
			Message: fmt.Sprintf("%s could not be loaded (%s): check the address and that the server is running", url, res.ErrorText),
			Detail:  map[string]string{"url": url, "net_error": res.ErrorText},
		}
	case res.LoaderID == "":
		return actor.Commit{Document: p.document(), Same: true}, nil
	}
	return p.awaitCommit(ctx, before, "")
}

// document is the main frame's current document.
func (p *Page) document() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames[cdp.FrameID(p.id)].document
}

// Step implements actor.Navigator. It does not wait for the commit: the events say when it is there.
func (p *Page) Step(ctx context.Context, by int) (actor.Commit, error) {
	h, err := cdp.Call(ctx, p.main, cdppage.GetNavigationHistory, cdp.Empty{})
	if err != nil {
		return actor.Commit{}, p.failed(err)
	}
	at := int(h.CurrentIndex) + by
	if at < 0 || at >= len(h.Entries) || (at == 0 && h.Entries[0].URL == "about:blank") {
		return actor.Commit{}, actor.Errorf(actor.NoHistory, "the tab's history has no entry there: it holds %d pages and shows number %d", len(h.Entries), h.CurrentIndex+1)
	}
	if err := p.unstick(ctx); err != nil {
		return actor.Commit{}, err
	}
	before := p.document()
	_, err = cdp.Call(ctx, p.main, cdppage.NavigateToHistoryEntry, cdppage.NavigateToHistoryEntryParams{EntryID: h.Entries[at].ID})
	if err != nil {
		return actor.Commit{}, p.failed(err)
	}
	return p.awaitCommit(ctx, before, h.Entries[at].URL)
}

// Reload implements actor.Navigator.
func (p *Page) Reload(ctx context.Context) (actor.Commit, error) {
	if err := p.unstick(ctx); err != nil {
		return actor.Commit{}, err
	}
	before := p.document()
	if _, err := cdp.Call(ctx, p.main, cdppage.Reload, cdppage.ReloadParams{}); err != nil {
		return actor.Commit{}, p.failed(err)
	}
	return p.awaitCommit(ctx, before, "")
}

// awaitCommit waits until the main frame shows another document than before, or the same one at url.
func (p *Page) awaitCommit(ctx context.Context, before, url string) (c actor.Commit, err error) {
	err = p.await(ctx, func() bool {
		f := p.frames[cdp.FrameID(p.id)]
		c = actor.Commit{Document: f.document, Same: f.document == before}
		return !c.Same || (url != "" && f.url == url)
	})
	return c, err
}

// Interrupt implements actor.Navigator.
func (p *Page) Interrupt(ctx context.Context) error {
	_, err := cdp.Call(ctx, p.main, runtime.TerminateExecution, cdp.Empty{})
	return err
}

// Ping implements actor.Navigator.
func (p *Page) Ping(ctx context.Context) error {
	_, err := cdp.Call(ctx, p.main, runtime.Evaluate, runtime.EvaluateParams{Expression: "1"})
	if err != nil {
		return p.failed(err)
	}
	return nil
}
