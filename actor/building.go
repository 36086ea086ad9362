package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

const (
	// loadingLimit bounds how long a navigation waits while the page shows a loading message, and blankLimit while it shows nothing.
	// Neither uses more than half of the caller's remaining time.
	loadingLimit = 3 * time.Second
	blankLimit   = 1500 * time.Millisecond
	// buildingEvery is the interval between two checks of the page. buildingBound limits how long the page may take to answer one.
	buildingEvery = 100 * time.Millisecond
	buildingBound = 500 * time.Millisecond
)

// awaitBuilt waits until a loaded page shows its content, and not the empty shell or the "Loading…" message of an application that renders
// when its scripts and data have arrived. It follows the page to a new document. Most pages are built at the first check; a page that was
// not must pass two checks in a row. Running out of time is not an error.
func (t navigator) awaitBuilt(ctx context.Context, phase driver.Phase) {
	begun := time.Now()
	limit := loadingLimit
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	bounded, cancel := context.WithDeadline(ctx, begun.Add(limit))
	defer cancel()
	for built := 0; t.readyErr() == nil; {
		commits := t.commits()
		last := bounded.Err() != nil
		state := t.building(ctx, last)
		if state == driver.Built {
			built++
		} else {
			built = 0
		}
		waited := time.Since(begun)
		if last || built == 2 || built == 1 && waited < buildingEvery || state == driver.Blank && waited > blankLimit {
			return
		}
		round, stop := context.WithTimeout(bounded, buildingEvery)
		for t.step(round, nil, false) {
			t.publisher.publish()
		}
		stop()
		if t.commits() != commits && t.load(bounded, t.nav.Main(), phase) != nil {
			return
		}
	}
}

// building asks the page whether it is built. A page that does not answer in time counts as built.
func (t navigator) building(ctx context.Context, last bool) (b driver.Building) {
	bounded, cancel := context.WithTimeout(ctx, buildingBound)
	defer cancel()
	err := t.pump.call(bounded, t.readyErr, func(ctx context.Context) (err error) {
		b, err = t.page().Building(ctx, last)
		return err
	})
	if err != nil {
		t.log.Debug("the page did not say whether it is built", "err", err)
		return driver.Built
	}
	return b
}
