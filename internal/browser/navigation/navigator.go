// Package navigation moves a page between documents, even if the page tries to prevent it.
//
// Navigator dismisses the dialogs of a page that it leaves, ends its script if it does not respond, and ends its renderer as a last resort.
// State tracks the progress of a navigation. The page's events change it.
package navigation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/dialogs"
	"github.com/domtap/domtap/internal/browser/frames"
)

// Navigator moves one page between documents.
type Navigator struct {
	hangBreaker
	// verdict returns why the URL policy refuses a URL. If nil, there is no policy.
	verdict func(url string) *apierr.Error
	// rewritten is the newest document of the main frame whose request the browser held. Only the page's loop uses it.
	rewritten rewrite
	// bringToFront brings the page to the front of its window, because many pages render step by step in animation frames.
	bringToFront func(ctx context.Context)
}

// rewrite is the URL that a route redirects a document's request to. An empty URL means that the request is unchanged.
type rewrite struct{ document, url string }

// New returns the navigator of a page. verdict is nil if there is no URL policy.
func New(m *frames.Manager, d *dialogs.Dialogs, verdict func(url string) *apierr.Error, bringToFront func(ctx context.Context)) *Navigator {
	return &Navigator{hangBreaker: hangBreaker{m: m, dialogs: d}, verdict: verdict, bringToFront: bringToFront}
}

// patience is how long a page may take to respond before it is left.
const patience = time.Second

// depart runs a navigation away from a page that may try to prevent it. It dismisses the page's dialogs. If the page does not respond,
// before or during the navigation, it ends the page's script and finally its renderer. After the renderer was ended, the navigation starts
// again.
func (n *Navigator) depart(ctx context.Context, start func(ctx context.Context) (driver.Commit, error)) (c driver.Commit, err error) {
	defer n.dialogs.Leave()()
	if err := n.endHang(ctx); err != nil {
		return driver.Commit{}, err
	}
	n.bringToFront(ctx)
	for range 2 {
		n.receive(time.Time{})
		attempt, cancel := context.WithCancelCause(ctx)
		var guard sync.WaitGroup
		guard.Go(func() { n.guard(attempt, cancel) })
		c, err = start(attempt)
		cancel(nil)
		guard.Wait()
		if !errors.Is(context.Cause(attempt), errRendererEnded) {
			break
		}
	}
	return c, err
}

// Navigate loads a URL; see driver.Navigator.
func (n *Navigator) Navigate(ctx context.Context, url string) (driver.Commit, error) {
	return n.depart(ctx, func(ctx context.Context) (driver.Commit, error) { return n.navigateTo(ctx, url) })
}

func (n *Navigator) navigateTo(ctx context.Context, url string) (driver.Commit, error) {
	before := n.mark()
	res, err := cdp.Call(ctx, n.m.Main, cdppage.Navigate, cdppage.NavigateParams{URL: url})
	if err != nil {
		if _, ok := errors.AsType[*cdproto.Error](err); ok {
			return driver.Commit{}, &apierr.Error{Kind: apierr.Navigation, Message: fmt.Sprintf("the browser refused to load %s: check the URL", url), Err: err}
		}
		return driver.Commit{}, n.m.Failed(err)
	}
	switch {
	case res.IsDownload:
		return driver.Commit{}, n.downloaded(ctx, url, before)
	case res.ErrorText == aborted && n.stayed(ctx, before):
		return driver.Commit{}, errBeforeUnload
	case res.ErrorText != "":
		if why := n.awaitRefusal(ctx, string(res.LoaderID), res.ErrorText); why != nil {
			return driver.Commit{}, why
		}
		return driver.Commit{}, &apierr.Error{
			Kind:    apierr.Navigation,
			Message: fmt.Sprintf("%s could not be loaded (%s): check the address and that the server is running", url, res.ErrorText),
			Detail:  map[string]string{"url": url, "net_error": res.ErrorText},
		}
	case res.LoaderID == "":
		return driver.Commit{Document: n.mark().document, Same: true}, nil
	}
	n.receive(time.Now())
	return n.awaitCommit(ctx, before, arrival{document: string(res.LoaderID)})
}

// downloaded returns the error for a navigation that turned out to be a download.
func (n *Navigator) downloaded(ctx context.Context, url string, before mark) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d driver.Download
	err := n.m.Await(bounded, func() bool {
		d = n.State.newest
		return n.State.downloads != before.downloads
	})
	if err != nil { // the download is announced when it starts
		d = driver.Download{}
	}
	return &apierr.Error{
		Kind: apierr.IsDownload,
		Message: fmt.Sprintf("%.200s is a download (%s), not a page: the tab stays where it was; "+
			"ListDownloads and WatchTabs report its progress (domtap downloads), and ReadPage reads it (domtap read --download %s)", url, d.Filename, d.GUID),
		Detail: map[string]string{"guid": d.GUID, "filename": d.Filename},
	}
}

// aborted is the browser's error text for a navigation that was ended by something else, such as the page to be left.
const aborted = "net::ERR_ABORTED"

// errBeforeUnload reports that a beforeunload dialog kept the page.
var errBeforeUnload = apierr.Errorf(apierr.Navigation, "the page asked whether to leave it (beforeunload), and the answer was to stay, so "+
	"the tab did not navigate: accept dialogs to leave such pages, or close the tab")

// mark is a page's state before a navigation.
type mark struct {
	document                  string
	unloads, stays, downloads int
}

func (n *Navigator) mark() mark {
	n.m.Lock()
	defer n.m.Unlock()
	return mark{document: n.m.Tree.Main().Document, unloads: n.dialogs.State.Unloads(), stays: n.dialogs.State.Stays(), downloads: n.State.downloads}
}

// stayed reports whether a beforeunload dialog has kept the page since an earlier mark.
func (n *Navigator) stayed(ctx context.Context, earlier mark) bool {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if n.m.Barrier(bounded) != nil || n.mark().unloads == earlier.unloads {
		return false
	}
	return n.m.Await(bounded, func() bool { return n.dialogs.State.Stays() != earlier.stays }) == nil
}

// Step moves in the history; see driver.Navigator.
func (n *Navigator) Step(ctx context.Context, by int) (driver.Commit, error) {
	h, err := cdp.Call(ctx, n.m.Main, cdppage.GetNavigationHistory, cdp.Empty{})
	if err != nil {
		return driver.Commit{}, n.m.Failed(err)
	}
	at := int(h.CurrentIndex) + by
	if at < 0 || at >= len(h.Entries) || (at == 0 && h.Entries[0].URL == "about:blank") {
		return driver.Commit{}, apierr.Errorf(apierr.NoHistory, "the tab's history has no such entry: it has %d pages, and page %d is shown", len(h.Entries), h.CurrentIndex+1)
	}
	return n.depart(ctx, func(ctx context.Context) (driver.Commit, error) {
		before := n.mark()
		_, err := cdp.Call(ctx, n.m.Main, cdppage.NavigateToHistoryEntry, cdppage.NavigateToHistoryEntryParams{EntryID: h.Entries[at].ID})
		if err != nil {
			return driver.Commit{}, n.m.Failed(err)
		}
		return n.awaitCommit(ctx, before, arrival{url: h.Entries[at].URL})
	})
}

// Reload reloads the current document; see driver.Navigator.
func (n *Navigator) Reload(ctx context.Context) (driver.Commit, error) {
	return n.depart(ctx, func(ctx context.Context) (driver.Commit, error) {
		before := n.mark()
		if _, err := cdp.Call(ctx, n.m.Main, cdppage.Reload, cdppage.ReloadParams{}); err != nil {
			return driver.Commit{}, n.m.Failed(err)
		}
		return n.awaitCommit(ctx, before, arrival{})
	})
}

// arrival is the destination of a navigation, as far as it is known: a document that the browser is receiving, or the URL of a history
// entry, which may belong to the current document.
type arrival struct{ document, url string }

// awaitCommit waits until the main frame shows another document, shows the URL of target, or is known to stay. If a document is expected
// but another arrives first, because the page itself has navigated, awaitCommit returns that document once it has stayed for patience.
func (n *Navigator) awaitCommit(ctx context.Context, before mark, target arrival) (c driver.Commit, err error) {
	stays := false
	var other time.Time // when another document arrived
	err = n.m.AwaitTimed(ctx, func() time.Duration {
		f := n.m.Tree.Main()
		c = driver.Commit{Document: f.Document, Same: f.Document == before.document}
		stays = n.dialogs.State.Stays() != before.stays
		switch {
		case stays || (target.url != "" && f.URL == target.url):
			return 0
		case c.Same:
			return time.Hour // re-evaluated with every change
		case target.document == "" || target.document == f.Document:
			return 0
		case other.IsZero():
			other = time.Now()
		}
		return patience - time.Since(other)
	})
	if err == nil && stays && c.Same {
		return driver.Commit{}, errBeforeUnload
	}
	return c, err
}
