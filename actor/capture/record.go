package capture

import (
	"context"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// Record records the page until ctx ends and passes each frame to a function, which may return an error to end the recording. Other calls
// can use the tab during the recording. Record fails with the errors of Screenshot if it cannot start, and with the errors of
// driver.Capturer. It always records the page that it started with.
func Record(ctx context.Context, tab *actor.Tab, r driver.Recording, frame func(driver.Frame) error) error {
	page, err := actor.Do(ctx, tab, command("record"), func(_ context.Context, x *actor.Exclusive) (driver.Page, error) {
		return x.Page(), x.Ready()
	})
	if err != nil {
		return err
	}
	return page.Record(ctx, r, frame)
}
