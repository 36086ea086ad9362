package browser

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// A page that was open before we took it over belongs to the user of the browser, and so do the pages that it opens. We never close them.
// At the end we hand them back: we undo what we changed and detach. The browser itself undoes all emulation of a session that is detached.

const (
	// awakeLimit limits how long a page may take to answer when it is taken over. A page that the browser has discarded never answers.
	awakeLimit = 3 * time.Second
	// handBackLimit limits how long a page may take to be handed back. A page that hangs is detached from as it is.
	handBackLimit = 2 * time.Second
)

// OtherPages implements driver.Browser. Pages that the browser loads in advance and the browser's own pages are not listed.
func (b *Browser) OtherPages(ctx context.Context) ([]driver.OtherPage, error) {
	if b.process.Owned() {
		return nil, apierr.Errorf(apierr.Invalid, "the daemon has started its browser itself, so there are no other tabs: run domtap stop, and then domtap attach")
	}
	contexts, err := cdp.Call(ctx, b.root, target.GetBrowserContexts, cdp.Empty{})
	if err != nil {
		return nil, b.failed("listing the profiles of the browser", err)
	}
	all, err := cdp.Call(ctx, b.root, target.GetTargets, target.GetTargetsParams{Filter: target.Filter{{Type: "page"}}})
	if err != nil {
		return nil, b.failed("listing the tabs of the browser", err)
	}
	var others []driver.OtherPage
	for _, info := range all.TargetInfos {
		standard := contexts.DefaultBrowserContextID
		if standard != "" && info.BrowserContextID != standard || slices.Contains(contexts.BrowserContextIDs, info.BrowserContextID) {
			continue
		}
		if info.Type == "page" && info.Subtype == "" && isWeb(info.URL) && b.page(info.TargetID) == nil {
			others = append(others, driver.OtherPage{ID: string(info.TargetID), URL: info.URL, Title: info.Title})
		}
	}
	return others, nil
}

// isWeb reports whether a URL is not that of one of the browser's own pages, its extensions or its developer tools.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && slices.Contains([]string{"http", "https", "file", "data", "about", "blob"}, u.Scheme)
}

// takeOver makes a page of the browser's user one of ours, in the default session.
func (b *Browser) takeOver(ctx context.Context, c *Context, o driver.PageOptions) (*Page, error) {
	others, err := b.OtherPages(ctx)
	if err != nil {
		return nil, err
	}
	if c != b.base {
		return nil, apierr.Errorf(apierr.Invalid, "the tabs of the browser belong to the session %s: omit the session", driver.DefaultSession)
	}
	if !slices.ContainsFunc(others, func(p driver.OtherPage) bool { return p.ID == o.TakeOver }) {
		return nil, apierr.Unknown("page", "the browser has no other tab %q: list its tabs again", o.TakeOver)
	}
	id := target.ID(o.TakeOver)
	// The browser answers at once, even for a page that hangs. If nobody waited, the page would stay attached.
	attached, err := b.root.Attach(context.WithoutCancel(ctx), id)
	if err != nil {
		return nil, b.failed("attaching to the tab", err)
	}
	tree, err := b.documentsOf(ctx, attached)
	if err != nil {
		b.detach(attached.ID)
		return nil, err
	}
	p, err := b.add(ctx, newPageConfig{context: c, id: id, session: attached.ID, takenOver: true, documents: tree})
	if errors.Is(err, errAlreadyPage) { // another call was faster, and add has not used the session
		b.detach(attached.ID)
		return nil, apierr.Unknown("page", "the tab %q has just been taken over by another call: list the tabs", o.TakeOver)
	}
	return p, err
}

// documentsOf returns the documents of a page that was just attached to. It fails if the page does not answer.
func (b *Browser) documentsOf(ctx context.Context, s devtools.Session) (*cdppage.FrameTree, error) {
	ctx, cancel := context.WithTimeout(ctx, awakeLimit)
	defer cancel()
	answer, err := cdp.Call(ctx, s, cdppage.GetFrameTree, cdp.Empty{})
	switch {
	case ctx.Err() != nil:
		return nil, apierr.Errorf(apierr.Unresponsive, "the tab does not answer: the browser may have put it to sleep to save memory; click on it in the browser, and try again")
	case err != nil:
		return nil, b.failed("reading the documents of the tab", err)
	case answer.FrameTree == nil || answer.FrameTree.Frame == nil:
		return nil, apierr.Errorf(apierr.Unresponsive, "the tab shows no document: reload it in the browser, and try again")
	}
	return answer.FrameTree, nil
}

// detach ends a session of ours without waiting.
func (b *Browser) detach(session target.SessionID) {
	b.root.Post(context.WithoutCancel(b.ctx), target.CommandDetachFromTarget, target.DetachFromTargetParams{SessionID: session})
}

// arrived reports the documents that a page showed when it was taken over, parents first, as if they had just been committed.
func (p *Page) arrived(tree *cdppage.FrameTree) {
	for rest := []*cdppage.FrameTree{tree}; len(rest) > 0; rest = rest[1:] {
		p.committed(p.main, rest[0].Frame)
		rest = append(rest, rest[0].ChildFrames...)
	}
}

// handBack undoes what a client did to a page that was taken over, as far as the browser does not undo it when we detach: held buttons, a
// frozen page, and the observation of its documents.
func (p *Page) handBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, handBackLimit)
	defer cancel()
	p.ReleaseButton(ctx)
	if err := p.Subscribe(ctx, driver.Subscription{}); err != nil {
		p.logger.Debug("a tab that was taken over is still observed", "error", err)
	}
	if p.Frozen() {
		if err := p.SetFrozen(ctx, false); err != nil {
			p.logger.Warn("a tab that was taken over stays frozen", "error", err)
		}
	}
}

// TakenOver implements driver.Page.
func (p *Page) TakenOver() bool { return p.takenOver }
