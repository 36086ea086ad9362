package documents

import (
	"context"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/observer"
)

// Building reports whether the main document is still being built; see driver.Query.
func (q *Query) Building(ctx context.Context, report bool) (driver.Building, error) {
	main, err := q.m.Agent(ctx, "")
	if err != nil {
		return driver.Built, err
	}
	var answer observer.BuildingAnswer
	if err := main.Call(ctx, "building", observer.BuildingRequest{Report: report}, &answer); err != nil {
		return driver.Built, q.m.Failed(err)
	}
	switch {
	case !answer.Building:
		return driver.Built, nil
	case answer.Empty:
		return driver.Blank, nil
	}
	return driver.Loading, nil
}
