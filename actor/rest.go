package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
)

const (
	// settleLimit is how long the elements of the page may take to come to rest after an action: there are pages that
	// never do.
	settleLimit = time.Second
	// parseLimit is how long a document that an action led to may take to be parsed.
	parseLimit = 10 * time.Second
)

// rest waits until the page has come to rest after an action and reads it. It follows the page to
// another document. A page that a dialog blocks is at rest.
func (t *Tab) rest(ctx context.Context, start marks, frame dom.FrameID) error {
	commits := start.commits
	for range readRounds {
		err := t.call(ctx, func() error {
			if now := t.mark(); now.commits != commits || now.halts != start.halts || now.tabs != start.tabs {
				return errStopped
			}
			return nil
		}, func(ctx context.Context) error { return t.page().Settle(ctx, frame, settleLimit) })
		if t.fatal(ctx, err) || isHung(err) {
			return err
		}
		if t.info.Dialog != nil {
			return nil
		}
		if t.commits != commits {
			commits = t.commits
			if err := t.parsed(ctx); err != nil {
				return err
			}
			continue
		}
		_, err = t.read(ctx, ReadOptions{})
		if t.fatal(ctx, err) || isHung(err) || err == nil && t.commits == commits {
			return err
		}
	}
	return nil
}

// parsed waits until the document that an action led to is parsed. One that takes long is left to load.
func (t *Tab) parsed(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, parseLimit)
	defer cancel()
	err := t.load(bounded, t.main, driver.PhaseDOMContentLoaded)
	if t.fatal(ctx, err) {
		return err
	}
	return nil
}
