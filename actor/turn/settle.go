package turn

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

const (
	// settleRounds limits how many documents an action may lead to, one after the other, before it is answered.
	settleRounds = 4
	// settleLimit limits how long the elements of the page may take to settle after an action, because some pages never settle.
	settleLimit = time.Second
	// parseLimit limits how long a document that an action led to may take to be parsed.
	parseLimit = 10 * time.Second
)

// settle waits until the page has settled after an action and reads it. It follows the page to another document. A page that is blocked by
// a dialog counts as settled.
func (t *run) settle(ctx context.Context, start actor.State, frame dom.FrameID) error {
	commits := start.Commits
	for range settleRounds {
		err := t.x.Call(ctx, func() error {
			if now := t.x.State(); now.Commits != commits || now.Halts != start.Halts || now.Tabs != start.Tabs {
				return errStopped
			}
			return nil
		}, func(ctx context.Context, page driver.Page) error { return page.Settle(ctx, frame, settleLimit, t.last) })
		if fatal(ctx, err) || apierr.Is(err, apierr.Unresponsive) {
			return err
		}
		if t.x.State().Dialog != nil {
			return nil
		}
		if t.x.State().Commits != commits {
			commits = t.x.State().Commits
			if err := t.parsed(ctx); err != nil {
				return err
			}
			continue
		}
		if err := t.awaitWindows(ctx, start); err != nil {
			return err
		}
		_, err = t.x.Read(ctx, actor.ReadOptions{})
		if fatal(ctx, err) || apierr.Is(err, apierr.Unresponsive) || err == nil && t.x.State().Commits == commits {
			return err
		}
	}
	return nil
}

// awaitWindows waits until all windows that an action opened are known, if there is at least one, because the page may be opening more. It
// returns an error that ends the turn, or nil.
func (t *run) awaitWindows(ctx context.Context, start actor.State) error {
	if t.x.State().Tabs == start.Tabs {
		return nil
	}
	err := t.x.Call(ctx, func() error {
		if now := t.x.State(); now.Commits != start.Commits || now.Halts != start.Halts {
			return errStopped
		}
		return nil
	}, func(ctx context.Context, page driver.Page) error { return page.AwaitWindows(ctx) })
	if fatal(ctx, err) || apierr.Is(err, apierr.Unresponsive) {
		return err
	}
	return nil
}

// parsed waits until the document that an action led to is parsed and shows its content. A slow document continues to load after the wait.
func (t *run) parsed(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, parseLimit)
	defer cancel()
	err := t.x.AwaitParsed(bounded)
	if fatal(ctx, err) {
		return err
	}
	if err == nil {
		t.x.AwaitBuilt(ctx)
	}
	return nil
}
