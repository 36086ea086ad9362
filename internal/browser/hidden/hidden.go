// Package hidden opens invisible pages and serves them an empty document at any address, so none of their requests leave the browser.
// Through such a page, the daemon accesses data that the browser stores per origin, and features that are limited to secure pages.
//
// Callers must call Close. A Page must be used by one goroutine at a time.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// Page is a hidden page.
type Page struct {
	// Session is the page's own session.
	Session devtools.Session

	root devtools.Session
	id   target.ID
	// asked holds requests that wait for their empty document. A goroutine answers them until stop is called.
	asked    chan fetch.RequestID
	stop     context.CancelFunc
	answered sync.WaitGroup
}

// Open opens a page in a context and runs further preparation steps. The page's requests are answered until ctx ends.
func Open(ctx context.Context, root devtools.Session, in cdp.BrowserContextID, more ...devtools.Step) (*Page, error) {
	yes := true
	undo := func(ctx context.Context, late target.CreateTargetResult) { _ = root.CloseTarget(ctx, late.TargetID) }
	made, _, err := devtools.Create(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: in, Hidden: &yes}, undo)
	if _, ok := errors.AsType[*cdproto.Error](err); ok { // older browsers do not support hidden pages
		made, _, err = devtools.Create(ctx, root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: in, Background: &yes}, undo)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a hidden page: %w", err)
	}
	p := &Page{root: root, id: made.TargetID, asked: make(chan fetch.RequestID, 64)}
	answering, stop := context.WithCancel(ctx)
	p.stop = stop
	p.answered.Go(func() { p.answer(answering) })
	if p.Session, err = root.Attach(ctx, p.id); err == nil {
		root.Conn.Listen(p.Session.ID, p.paused)
		err = p.Session.Run(ctx, append([]devtools.Step{
			{Method: network.CommandSetBypassServiceWorker, Params: network.SetBypassServiceWorkerParams{Bypass: true}, Optional: true},
			{Method: fetch.CommandEnable, Params: fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}},
		}, more...)...)
	}
	if err != nil {
		p.Close(ctx)
		return nil, fmt.Errorf("preparing a hidden page: %w", err)
	}
	return p, nil
}

// paused queues a request of the page. It runs on the connection's goroutine and does not wait.
func (p *Page) paused(msg *cdproto.Message) {
	if string(msg.Method) != fetch.RequestPaused.Method {
		return
	}
	var e struct {
		RequestID fetch.RequestID `json:"requestId"`
	}
	if err := jsonv2.Unmarshal(msg.Params, &e, chromedp.DefaultUnmarshalOptions); err != nil {
		return
	}
	select {
	case p.asked <- e.RequestID:
	default: // an empty document makes no requests, so the queue never fills
	}
}

// answer serves an empty document for every request.
func (p *Page) answer(ctx context.Context) {
	for {
		select {
		case id := <-p.asked:
			p.Session.Post(ctx, fetch.CommandFulfillRequest, fetch.FulfillRequestParams{RequestID: id, ResponseCode: 200,
				ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/html"}}})
		case <-ctx.Done():
			return
		}
	}
}

// Visit navigates to an address. If the browser refuses, it returns the browser's error text.
func (p *Page) Visit(ctx context.Context, url string) (refused string, err error) {
	gone, err := cdp.Call(ctx, p.Session, page.Navigate, page.NavigateParams{URL: url})
	if err != nil {
		return "", err
	}
	return gone.ErrorText, nil
}

// Close closes the page. If ctx ends first, this continues in the background.
func (p *Page) Close(ctx context.Context) {
	closed := make(chan struct{})
	p.root.Conn.Go(func() {
		defer close(closed)
		_ = p.root.CloseTarget(context.WithoutCancel(ctx), p.id) // fails only with the connection
	})
	select {
	case <-closed:
	case <-ctx.Done():
	}
	if p.Session.ID != "" {
		p.root.Conn.Listen(p.Session.ID, nil)
	}
	p.stop()
	p.answered.Wait()
}
