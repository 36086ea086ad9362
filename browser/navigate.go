package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
// to navigate, the old document can no longer be reached, not even to end its renderer: so this comes first. Where one
// script ends the next may hang, as in a page that opens one frame after the other.
func (p *Page) unstick(ctx context.Context) error {
	p.mu.Lock()
	down := p.down
	p.mu.Unlock()
	if down {
		return nil // nobody is there who could keep us
	}
	before := p.asking()
	if within(ctx, patience, p.Ping) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.asking()-before < storm {
		p.logger.Warn("the page does not answer: its script is ended before it is left")
		if within(ctx, patience, p.Interrupt) && p.recovers(ctx) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	_ = p.sacrifice(ctx) // if that does not help, the navigation tells
	return ctx.Err()
}

// relapse is how long a page whose script was ended is watched for the next one that hangs.
const relapse = 100 * time.Millisecond

// recovers reports whether a page whose script was ended answers, and goes on answering.
func (p *Page) recovers(ctx context.Context) bool {
	if !within(ctx, patience, p.Ping) {
		return false
	}
	timer := time.NewTimer(relapse)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return within(ctx, patience, p.Ping)
}

// within reports whether a call is answered in time.
func within(ctx context.Context, limit time.Duration, call func(context.Context) error) bool {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return call(bounded) == nil
}

// storm is how many dialogs within patience say that a page does nothing but open them. The browser can then neither
// end its script nor leave it: it waits for the page each time.
const storm = 10

// asking is how many dialogs the page has opened so far.
func (p *Page) asking() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked.count
}

// sacrifice ends the renderer of a page that is to be left and can be left in no other way.
func (p *Page) sacrifice(ctx context.Context) error {
	p.logger.Warn("the page cannot be left otherwise: its renderer is ended")
	p.mu.Lock()
	p.sacrificed = true
	p.mu.Unlock()
	p.main.Post(ctx, cdppage.CommandCrash, nil)
	bounded, cancel := context.WithTimeout(ctx, departure)
	defer cancel()
	return p.await(bounded, func() bool { return p.down })
}

// depart runs a navigation away from a page that may do what it likes against it: it dismisses its dialogs, ends its
// script when it does not answer, before or while it is left, and at last its renderer; then the navigation is begun anew.
func (p *Page) depart(ctx context.Context, start func(ctx context.Context) (actor.Commit, error)) (c actor.Commit, err error) {
	defer p.leave()()
	if err := p.unstick(ctx); err != nil {
		return actor.Commit{}, err
	}
	p.comeForward(ctx) // many pages show themselves frame by frame
	for range 2 {
		p.receive(time.Time{})
		attempt, cancel := context.WithCancelCause(ctx)
		var guard sync.WaitGroup
		guard.Go(func() { p.guard(attempt, cancel) })
		c, err = start(attempt)
		cancel(nil)
		guard.Wait()
		if !errors.Is(context.Cause(attempt), errSacrificed) {
			break
		}
	}
	return c, err
}

// arrivalPatience is how long a page may take to give way to a document that the browser has received already.
const arrivalPatience = 5 * time.Second

// overdue reports whether the page has not given way for so long.
func (p *Page) overdue() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.received.IsZero() && time.Since(p.received) > arrivalPatience
}

// receive notes that the browser has received the document that is to come, or with the zero time that it has not.
func (p *Page) receive(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = at
}

// errSacrificed ends an attempt to leave a page whose renderer had to be ended for it.
var errSacrificed = errors.New("the renderer was ended")

// departure is how long a page may take to be left before it is asked whether it lives.
const departure = 2 * time.Second

// maxEndings is how often the script of a page is ended while it is left, before its renderer is.
const maxEndings = 3

// guard watches over a page that is being left, until ctx ends.
func (p *Page) guard(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(departure)
	defer tick.Stop()
	for ended := 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if d, _ := p.openDialog(); d.ID != 0 && d.Answer == actor.Unanswered {
			continue // somebody is asked
		}
		alive := within(ctx, departure, p.Ping)
		if alive && ended == 0 && !p.overdue() {
			continue // a server takes its time
		}
		// Where one script ends another may begin, again and again.
		if ended++; ended < maxEndings {
			_ = alive || within(ctx, patience, p.Interrupt)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if p.sacrifice(ctx) == nil {
			cancel(errSacrificed)
			return
		}
		// A busy machine takes longer than that to tell: ask again.
	}
}

// Navigate implements actor.Navigator.
func (p *Page) Navigate(ctx context.Context, url string) (actor.Commit, error) {
	return p.depart(ctx, func(ctx context.Context) (actor.Commit, error) { return p.navigateTo(ctx, url) })
}

func (p *Page) navigateTo(ctx context.Context, url string) (actor.Commit, error) {
	before := p.place()
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
		return actor.Commit{}, p.downloaded(ctx, url, before)
	case res.ErrorText == aborted && p.stayed(ctx, before):
		return actor.Commit{}, errStays
	case res.ErrorText != "":
		if why := p.awaitDenied(ctx, string(res.LoaderID)); why != nil {
			return actor.Commit{}, why
		}
		return actor.Commit{}, &actor.Error{
			Kind:    actor.Navigation,
			Message: fmt.Sprintf("%s could not be loaded (%s): check the address and that the server is running", url, res.ErrorText),
			Detail:  map[string]string{"url": url, "net_error": res.ErrorText},
		}
	case res.LoaderID == "":
		return actor.Commit{Document: p.document(), Same: true}, nil
	}
	p.receive(time.Now())
	return p.awaitCommit(ctx, before, "")
}

// downloaded is the answer of a navigation that turned out to be a download.
func (p *Page) downloaded(ctx context.Context, url string, before place) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d actor.Download
	err := p.await(bounded, func() bool {
		d = p.newest
		return p.begun != before.begun
	})
	if err != nil { // it is told of when it begins
		d = actor.Download{}
	}
	return &actor.Error{
		Kind: actor.IsDownload,
		Message: fmt.Sprintf("%.200s is a download (%s), not a page: the tab stays where it was; "+
			"ListDownloads and WatchTabs tell how it goes (domtap downloads)", url, d.Filename),
		Detail: map[string]string{"guid": d.GUID, "filename": d.Filename},
	}
}

// aborted is what the browser says of a navigation that something else ended, such as the page that was to be left.
const aborted = "net::ERR_ABORTED"

// errStays says that the page was not left because it asked not to be.
var errStays = actor.Errorf(actor.Navigation, "the page asked whether to leave it (beforeunload), and the answer was to stay: "+
	"the tab stays where it was; accept dialogs to leave such pages, or close the tab")

// document is the main frame's current document.
func (p *Page) document() string {
	return p.place().document
}

// place is where a page was before a navigation.
type place struct {
	document              string
	unloads, stays, begun int
}

func (p *Page) place() place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return place{document: p.frames[cdp.FrameID(p.id)].document, unloads: p.asked.unloads, stays: p.asked.stays, begun: p.begun}
}

// stayed reports whether a beforeunload dialog has kept the page since.
func (p *Page) stayed(ctx context.Context, before place) bool {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if p.barrier(bounded) != nil || p.place().unloads == before.unloads {
		return false
	}
	return p.await(bounded, func() bool { return p.asked.stays != before.stays }) == nil
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
	return p.depart(ctx, func(ctx context.Context) (actor.Commit, error) {
		before := p.place()
		_, err := cdp.Call(ctx, p.main, cdppage.NavigateToHistoryEntry, cdppage.NavigateToHistoryEntryParams{EntryID: h.Entries[at].ID})
		if err != nil {
			return actor.Commit{}, p.failed(err)
		}
		return p.awaitCommit(ctx, before, h.Entries[at].URL)
	})
}

// Reload implements actor.Navigator.
func (p *Page) Reload(ctx context.Context) (actor.Commit, error) {
	return p.depart(ctx, func(ctx context.Context) (actor.Commit, error) {
		before := p.place()
		if _, err := cdp.Call(ctx, p.main, cdppage.Reload, cdppage.ReloadParams{}); err != nil {
			return actor.Commit{}, p.failed(err)
		}
		return p.awaitCommit(ctx, before, "")
	})
}

// awaitCommit waits until the main frame shows another document than before, or the same one at url, or until it is
// known that the page stays.
func (p *Page) awaitCommit(ctx context.Context, before place, url string) (c actor.Commit, err error) {
	stays := false
	err = p.await(ctx, func() bool {
		f := p.frames[cdp.FrameID(p.id)]
		c = actor.Commit{Document: f.document, Same: f.document == before.document}
		stays = p.asked.stays != before.stays
		return !c.Same || stays || (url != "" && f.url == url)
	})
	if err == nil && stays && c.Same {
		return actor.Commit{}, errStays
	}
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
