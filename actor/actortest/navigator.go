package actortest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// navigator implements driver.Navigator and driver.Scroller. It keeps the history and the scroll position.
type navigator struct {
	*Page
	history []string
	at      int
	place   driver.ScrollPosition
}

// SetTitle changes the main document's title and reports it.
func (p *navigator) SetTitle(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.main.Title = title
	p.emit(driver.TitleChanged{Title: title})
	p.flush()
}

// PushState changes the URL within the document.
func (p *navigator) PushState(url string) { p.locked(func() { p.within(url) }) }

func (p *navigator) within(url string) {
	p.main.URL = url
	p.visit(url)
	p.emit(driver.Committed{Document: p.main.document, URL: url, Same: true})
	p.flush()
}

// Go makes the page navigate itself, as by script.
func (p *navigator) Go(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visit(url)
	p.commit(url, p.browser.screen(url))
}

// Navigate shows the screen that is served under the URL.
func (p *navigator) Navigate(ctx context.Context, url string) (driver.Commit, error) {
	p.count("Navigate")
	p.mu.Lock()
	base, _, _ := strings.Cut(p.main.URL, "#")
	if target, _, fragment := strings.Cut(url, "#"); fragment && target == base && !p.crashed {
		defer p.mu.Unlock()
		p.within(url)
		return driver.Commit{Document: p.main.document, Same: true}, nil
	}
	p.mu.Unlock()
	return p.load(ctx, url, func() { p.visit(url) })
}

// Step moves in the history.
func (p *navigator) Step(ctx context.Context, by int) (driver.Commit, error) {
	p.count("Step")
	p.mu.Lock()
	to := p.at + by
	if to < 0 || to >= len(p.history) {
		p.mu.Unlock()
		return driver.Commit{}, apierr.Errorf(apierr.NoHistory, "there is no page to go to")
	}
	url := p.history[to]
	p.mu.Unlock()
	return p.load(ctx, url, func() { p.at = to })
}

// Reload reloads the document.
func (p *navigator) Reload(ctx context.Context) (driver.Commit, error) {
	p.count("Reload")
	p.mu.Lock()
	url := p.main.URL
	p.mu.Unlock()
	return p.load(ctx, url, func() {})
}

func (p *navigator) load(ctx context.Context, url string, enter func()) (driver.Commit, error) {
	s := p.browser.screen(url)
	if s.Hold {
		select {
		case <-ctx.Done():
			return driver.Commit{}, ctx.Err()
		case <-p.gone:
		}
	}
	if err := ctx.Err(); err != nil {
		return driver.Commit{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return driver.Commit{}, errors.New("the page is closed")
	}
	enter()
	commit := p.commit(url, s)
	if s.Error != "" {
		return driver.Commit{}, apierr.Errorf(apierr.Navigation, "%s could not be loaded: %s", url, s.Error)
	}
	return commit, nil
}

// visit adds a history entry. The caller holds the lock.
func (p *navigator) visit(url string) {
	if len(p.history) > 0 {
		p.history = p.history[:p.at+1]
	}
	p.history = append(p.history, url)
	p.at = len(p.history) - 1
}

// Interrupt ends a hang.
func (p *navigator) Interrupt(ctx context.Context) error {
	p.count("Interrupt")
	p.Resume()
	return ctx.Err()
}

// ScrollPosition returns the page's scroll position.
func (p *navigator) ScrollPosition(ctx context.Context) (at driver.ScrollPosition, err error) {
	err = p.call(ctx, "ScrollPosition", func() { at = p.place })
	return at, err
}

// ScrollTo scrolls the page.
func (p *navigator) ScrollTo(ctx context.Context, to driver.ScrollPosition, _ time.Duration) error {
	return p.call(ctx, "ScrollTo", func() { p.place = to })
}

// Scroll scrolls the page as a user does.
func (p *navigator) Scroll(to driver.ScrollPosition) { p.locked(func() { p.place = to }) }
