package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

// popupLimit is how long an action waits for the documents of the windows that it opened.
const popupLimit = 3 * time.Second

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

// welcome waits, for popupLimit in all, until the tabs that an action opened have something to read, so that who reads
// them next does not find a blank page.
func (t *Tab) welcome(ctx context.Context, start marks) error {
	opened := t.newTabs[min(start.tabs, len(t.newTabs)):]
	if len(opened) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, popupLimit)
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
	if t.fatal(ctx, err) {
		return err
	}
	return nil
}
