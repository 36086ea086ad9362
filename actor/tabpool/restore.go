package tabpool

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// Restore restores a tab from the Record of another process, under its ID. It does not wait: the tab exists immediately, with
// StatusRestoring. Tabs that are opened later have other IDs. It fails with an *Error of kind Exists if there is a tab with that ID,
// Exhausted if there are too many tabs or restoring this tab has ended too many processes, and Invalid if the Record cannot belong to a
// tab.
func (p *Pool) Restore(k restore.Record) error {
	n, ok := tabNumber(k.ID)
	if !ok || k.URL == "" || !k.Place.Valid() {
		return apierr.Errorf(apierr.Invalid, "%.100q is not a stored tab", k.ID)
	}
	if k.Restarts >= restore.Times {
		return apierr.Errorf(apierr.Exhausted, "tab %s was restored %d times, and each time the daemon died soon after", k.ID, k.Restarts)
	}
	if _, err := p.Tab(k.ID); err == nil {
		return apierr.Errorf(apierr.Exists, "tab %s exists already", k.ID)
	}
	reserved, err := p.acquireSlot(k.Session)
	if err != nil {
		return err
	}
	p.start(reserved, func() *actor.Control {
		p.opened = max(p.opened, n)
		return actor.Resume(p.ctx, k, p.cfg.options(actor.Options{Session: k.Session}), owner{p})
	})
	return nil
}

// NewRecorded creates a tab from a recording, under its original ID. It fails with an *Error of kind Exists if there is a tab with that ID,
// and Exhausted if there are too many tabs.
func NewRecorded(p *Pool, first actor.Published, past actor.RecordedStates) (*actor.Control, error) {
	if _, err := p.Tab(first.Info.ID); err == nil {
		return nil, apierr.Errorf(apierr.Exists, "tab %s exists already", first.Info.ID)
	}
	reserved, err := p.acquireSlot(first.Info.Session)
	if err != nil {
		return nil, err
	}
	return p.start(reserved, func() *actor.Control {
		return actor.NewRecorded(p.ctx, first, past, p.cfg.options(actor.Options{}), owner{p})
	}).Control, nil
}

// tabID returns the ID of a tab. The ID is opaque to clients. It contains the name of the tab's browser, so that calls can be routed by it,
// and the number of the tab, or random characters if secret is set.
func tabID(browser string, number int, secret bool) string {
	id := "t" + strconv.Itoa(number)
	if secret {
		id = "t-" + strings.ToLower(rand.Text()[:12]) // 60 random bits
	}
	if browser == "" {
		return id
	}
	return browser + "-" + id
}

// tabName matches the IDs from tabID: the name of the browser, unless it is the only one, and a number or random characters.
var tabName = lazyregexp.New(`^(?:[a-z0-9]{1,32}-)?t(?:-[a-z2-7]{12}|([1-9][0-9]{0,11}))$`)

// tabNumber returns the number in a tab's ID, or 0 if the ID has none.
func tabNumber(id string) (n int, ok bool) {
	parts := tabName().FindStringSubmatch(id)
	if parts == nil {
		return 0, false
	}
	n, _ = strconv.Atoi(parts[1]) // a missing number is empty and gives 0
	return n, true
}
