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

// Restore brings back a tab from the Record of another process, under its id. It does not wait: the tab is there at once, with
// StatusRestoring. Tabs that are opened later have other ids. It fails with an *Error of kind Exists when there is a tab of
// that id, Exhausted when there are too many tabs or this one ended too many processes, and Invalid for what cannot have been a tab.
func (p *Pool) Restore(k restore.Record) error {
	n, ok := tabNumber(k.ID)
	if !ok || k.URL == "" || !k.Place.Valid() {
		return apierr.Errorf(apierr.Invalid, "%.100q is not a tab that was kept", k.ID)
	}
	if k.Restarts >= restore.Times {
		return apierr.Errorf(apierr.Exhausted, "tab %s was brought back %d times, and the daemon died each time soon after", k.ID, k.Restarts)
	}
	if _, err := p.Tab(k.ID); err == nil {
		return apierr.Errorf(apierr.Exists, "there is a tab %s already", k.ID)
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

// Recorded makes a tab of a recording, under the id that it had. It fails with an *Error of kind Exists when there is a tab of that id, and
// Exhausted when there are too many tabs.
func Recorded(p *Pool, first actor.Published, past actor.Past) (*actor.Control, error) {
	if _, err := p.Tab(first.Info.ID); err == nil {
		return nil, apierr.Errorf(apierr.Exists, "there is a tab %s already", first.Info.ID)
	}
	reserved, err := p.acquireSlot(first.Info.Session)
	if err != nil {
		return nil, err
	}
	return p.start(reserved, func() *actor.Control {
		return actor.NewRecorded(p.ctx, first, past, p.cfg.options(actor.Options{}), owner{p})
	}).Control, nil
}

// tabID makes the id of a tab of a browser. To clients the id is opaque; it names the tab's browser, so that calls can be
// routed by it, and the number of the tab, unless the id must not be guessed.
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

// tabName is the form of what tabID makes: the browser, if it is not the only one, and a number or letters that tell nothing.
var tabName = lazyregexp.New(`^(?:[a-z0-9]{1,32}-)?t(?:-[a-z2-7]{12}|([1-9][0-9]{0,11}))$`)

// tabNumber is the number in a tab's id; 0 when it has none.
func tabNumber(id string) (n int, ok bool) {
	parts := tabName().FindStringSubmatch(id)
	if parts == nil {
		return 0, false
	}
	n, _ = strconv.Atoi(parts[1]) // what is not a number is empty
	return n, true
}
