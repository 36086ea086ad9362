package actor

import (
	"context"
	"slices"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// show lets those go on who wait for the tab to have something to read. It is called once by the pool, or by the tab's
// goroutine.
func (t *Tab) show() {
	select {
	case <-t.shown:
	default:
		close(t.shown)
	}
}

// greet notes whether reading the tab makes sense: its first document that is not the blank one it began with is
// parsed, or there will be none for now.
func (t *Tab) greet() {
	if t.announced && (t.loadError != "" || t.past(driver.PhaseDOMContentLoaded)) || t.info.Dialog != nil || t.crashed || t.left {
		t.show()
	}
}

// welcome waits, for limit in all, until the tabs that were opened since there were so many have something to read, so that who reads
// them next does not find a blank page.
func (t *Tab) welcome(ctx context.Context, since int, limit time.Duration) error {
	opened := t.newTabs[min(since, len(t.newTabs)):]
	if len(opened) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := t.call(bounded, nil, func(ctx context.Context) error {
		for _, id := range opened {
			popup, err := t.owner.Tab(id)
			if err != nil {
				continue // it is closed again
			}
			select {
			case <-popup.shown:
			case <-popup.done:
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	if err != nil && (ctx.Err() != nil || apierr.LostPage(err)) {
		return err
	}
	return nil
}

// settlePopups learns of the tabs that the browser has reported so far.
func (t *Tab) settlePopups(ctx context.Context) {
	t.owner.settlePopups(ctx)
	for {
		select {
		case id := <-t.popups:
			t.opened(id)
		default:
			t.newTabs = slices.DeleteFunc(t.newTabs, t.vanished)
			return
		}
	}
}

// vanished reports whether a tab is gone again, as the window of a download is.
func (t *Tab) vanished(id string) bool {
	_, err := t.owner.Tab(id)
	return err != nil
}

// opened notes a tab that the page has opened; a turn hears of so many and no more.
func (t *Tab) opened(id string) {
	if len(t.newTabs) < cap(t.popups) {
		t.newTabs = append(t.newTabs, id)
	}
}
