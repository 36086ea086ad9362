package tabpool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

const (
	// reopenLimit limits how long a browser may take to open a page for a restored tab.
	reopenLimit = 15 * time.Second
	// reopenWait is the delay before another attempt. It doubles up to maxReopenWait.
	reopenWait    = 100 * time.Millisecond
	maxReopenWait = 5 * time.Second
	// reopenTries limits how often a running browser may fail to open a page.
	reopenTries = 5
)

// pageOpener opens pages for the tabs of a pool. The field pool is the pool's context.
type pageOpener struct {
	browser driver.Browser
	pool    context.Context
}

// open opens a page in a reserved slot. If that fails, it releases the slot.
func (p pageOpener) open(ctx context.Context, reserved slot, o driver.PageOptions) (driver.Page, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.pool, cancel)()
	page, err := p.browser.NewPage(inner, o)
	if err == nil {
		return page, nil
	}
	reserved.giveBack(p.pool, err)
	switch {
	case p.pool.Err() != nil:
		return nil, context.Cause(p.pool)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the browser did not open a page in time: try again with a longer timeout: %w", ctx.Err())
	}
	return nil, fmt.Errorf("open a page: %w", err)
}

// reopen opens a page once the browser of the page's session runs again, however long that takes. After a failure it waits until nothing of
// the failed page remains, or the pool ends, because the tab has one slot, not one per attempt.
func (p pageOpener) reopen(ctx context.Context, o driver.PageOptions) (driver.Page, error) {
	failures := 0
	for wait := reopenWait; ; wait = min(2*wait, maxReopenWait) {
		if err := p.browser.Ready(ctx, o.Session); err != nil {
			return nil, err
		}
		bounded, cancel := context.WithTimeout(ctx, reopenLimit)
		page, err := p.browser.NewPage(bounded, o)
		cancel()
		if left := driver.Removed(err); left != nil {
			select {
			case <-left:
			case <-p.pool.Done():
			}
		}
		var e *apierr.Error
		switch {
		case err == nil || ctx.Err() != nil:
			return page, err
		case errors.As(err, &e) && e.Kind == apierr.Lost: // the browser died again
		case errors.As(err, &e):
			return nil, err
		default:
			if failures++; failures == reopenTries {
				return nil, err
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
