package capture

import (
	"context"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// Record records the page until ctx ends, and gives each frame to a function, which may fail to end the recording. The tab is free meanwhile: others act on
// it. It fails with the errors of Screenshot when it cannot begin, and with those of driver.Capturer; it ends with the page that it began with.
func Record(ctx context.Context, tab *actor.Tab, r driver.Recording, frame func(driver.Frame) error) error {
	page, err := actor.Do(ctx, tab, command("record"), func(_ context.Context, x *actor.Exclusive) (driver.Page, error) {
		return x.Page(), x.Ready()
	})
	if err != nil {
		return err
	}
	return page.Record(ctx, r, frame)
}
