// Package actortest provides a fake browser for tests. Its pages have documents that are scripted in Go. They report changes as the real
// observer does, as patches that have to be acknowledged.
//
// A test serves screens under URLs, opens tabs with a tabpool.Pool, changes a page's nodes inside Page.Update, and makes a page hang,
// crash, or open a dialog or a popup. Everything is safe for concurrent use, works inside a testing/synctest bubble, starts no goroutines
// and uses no network.
//
//	b := actortest.NewBrowser()
//	b.Serve("https://shop.example/", func() actortest.Screen {
//		return actortest.Screen{Title: "Shop", Body: []*actortest.Node{actortest.Button("Pay")}}
//	})
//	pool := tabpool.New(b, tabpool.Config{})
//	tab, err := pool.Open(ctx, tabpool.OpenOptions{URL: "https://shop.example/"})
//	b.Page(0).Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("New")) })
package actortest

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

// Screen is the result of a navigation to a URL.
type Screen struct {
	Title string
	// Status is the HTTP status. The default is 200.
	Status int
	Body   []*Node
	// HTML is the document's content in Page.Markup.
	HTML string
	// Error makes the navigation fail with an error of the browser, such as "net::ERR_FAILED".
	Error string
	// Cause is the detailed cause when a document fails to load; see driver.Committed.
	Cause *apierr.Error
	// Hold makes Navigate wait until its context ends, as with a server that never answers.
	Hold bool
	// Stall keeps the document at PhaseCommit, as with a page that never finishes loading.
	Stall bool
	// Redirect is a URL that the page's script navigates to once the page is parsed.
	Redirect string
	// Opens is a dialog that the page opens while it loads.
	Opens *driver.Dialog
}

// Browser is a fake driver.Browser.
type Browser struct {
	mu      sync.Mutex
	screens map[string]func() Screen
	pages   []*Page
	popups  chan driver.Popup
	// contexts holds the sessions by name.
	contexts map[string]*Context
	dead     bool
	// restarted is closed when a broken browser runs again. It is nil while the browser runs.
	restarted chan struct{}
	openErr   error
}

// NewBrowser creates a browser that serves only about:blank.
func NewBrowser() *Browser {
	b := &Browser{screens: map[string]func() Screen{}, popups: make(chan driver.Popup, 64), contexts: map[string]*Context{}}
	b.contexts[driver.DefaultSession] = &Context{browser: b, name: driver.DefaultSession}
	return b
}

// Serve sets the screen for a URL. Build is called for each navigation, so that each navigation gets its own nodes. URLs without a screen
// fail with net::ERR_NAME_NOT_RESOLVED.
func (b *Browser) Serve(url string, build func() Screen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.screens[url] = build
}

// FailOpen makes NewPage fail with err from now on. Nil ends that.
func (b *Browser) FailOpen(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.openErr = err
}

// NewPage opens a blank page. Its default size is 1280 by 800 CSS pixels.
func (b *Browser) NewPage(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Viewport.Width <= 0 || o.Viewport.Height <= 0 {
		o.Viewport = dom.Box{Width: 1280, Height: 800}
	}
	b.mu.Lock()
	err := b.openErr
	if b.dead || b.restarted != nil {
		err = apierr.Errorf(apierr.Lost, "the browser is gone")
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if !b.has(o.Session) {
		return nil, apierr.Unknown("session", "unknown session %q", o.Session)
	}
	return b.newPage(o), nil
}

func (b *Browser) newPage(o driver.PageOptions) *Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := newPage(b, "page-"+strconv.Itoa(len(b.pages)+1), o.Session, o.Viewport)
	p.takenOver = o.TakeOver != ""
	b.pages = append(b.pages, p)
	return p
}

// OtherPages lists no pages. NewPage takes over any ID nevertheless.
func (b *Browser) OtherPages(context.Context) ([]driver.OtherPage, error) { return nil, nil }

// Pages delivers popups.
func (b *Browser) Pages() <-chan driver.Popup { return b.popups }

// Ready fails if the browser has died, and waits while the browser is broken.
func (b *Browser) Ready(ctx context.Context, _ string) error {
	b.mu.Lock()
	dead, mended := b.dead, b.restarted
	b.mu.Unlock()
	if dead {
		return apierr.Errorf(apierr.Lost, "the browser is gone")
	}
	if mended != nil {
		select {
		case <-mended:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// Break ends the browser process like Die, but Restart can start it again.
func (b *Browser) Break() {
	b.mu.Lock()
	pages := b.pages
	if b.restarted == nil {
		b.restarted = make(chan struct{})
	}
	b.mu.Unlock()
	for _, p := range pages {
		p.end(errors.New("the browser process exited"))
	}
}

// Restart starts the browser again.
func (b *Browser) Restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.restarted != nil {
		close(b.restarted)
		b.restarted = nil
	}
}

// Owner returns an empty string, because there is only one browser.
func (b *Browser) Owner(string) string { return "" }

// Page returns the n-th opened page, from 0, including closed ones. It returns nil if there is none.
func (b *Browser) Page(n int) *Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n >= len(b.pages) {
		return nil
	}
	return b.pages[n]
}

// Die ends the browser process with all pages. No more pages can be opened.
func (b *Browser) Die() {
	b.mu.Lock()
	pages := b.pages
	dead := b.dead
	b.dead = true
	b.mu.Unlock()
	if dead {
		return
	}
	close(b.popups)
	for _, p := range pages {
		p.end(errors.New("the browser process exited"))
	}
}

// screen builds the screen for a URL.
func (b *Browser) screen(url string) Screen {
	b.mu.Lock()
	build := b.screens[url]
	b.mu.Unlock()
	switch {
	case build != nil:
		return build()
	case url == "about:blank":
		return Screen{}
	}
	return Screen{Error: "net::ERR_NAME_NOT_RESOLVED"}
}
