package actor

import (
	"context"
	"time"

	"github.com/domtap/domtap/actor/driver"
)

const (
	// loadingLimit bounds how long a navigation waits while the page says that it is loading, and blankLimit while it shows nothing. Neither
	// takes more than half of the caller's time.
	loadingLimit = 3 * time.Second
	blankLimit   = 1500 * time.Millisecond
	// buildingEvery is the interval between two questions to the page, and buildingBound how long it may take to answer one.
	buildingEvery = 100 * time.Millisecond
	buildingBound = 500 * time.Millisecond
)

// awaitBuilt waits until a page that was loaded is there as a person sees it: not the empty shell or the "Loading…" of an application that draws
// itself when its scripts and data have come. It follows the page to another document meanwhile. Most pages are there at the first
// question; one that was not must be there at two in a row. The wait ending early is no error: the page is what it is.
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

// building asks the page. One that does not answer is not waited for.
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
